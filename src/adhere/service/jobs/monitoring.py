"""The process for monitors: it keeps what it has read of the trials that are watched, and reads on from there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from adhere.policies import import_policies
from adhere.store import open_store
from adhere.trial.monitoring.monitor import Monitor
from adhere.trial.monitoring.running_monitor import RunningMonitor
from adhere.trial.writing.processor import CommandProcessor

_MAX_TRIALS = 8  # of which what was read is kept: some 50 MB for 100,000 patients


class RunningMonitors:
    """The monitors of the trials asked for last."""

    def __init__(self, processor: CommandProcessor) -> None:
        self._processor = processor
        self._kept: OrderedDict[int, RunningMonitor] = OrderedDict()

    def monitor(self, trial: str) -> Monitor:
        """A trial's monitor at the head of its log."""
        live = self._processor.trial(trial)
        running = self._kept.pop(live.number, None) or RunningMonitor(live)
        with self._processor.store.reading() as view:
            found = running.update(view)
        self._kept[live.number] = running  # one that failed is not kept
        while len(self._kept) > _MAX_TRIALS:
            self._kept.popitem(last=False)
        return found


def start(location: str, secret_file: Path | None, imports: Sequence[Path]) -> Callable[..., Any]:
    """Open the store in the process; returns what gives a trial's monitor."""
    for file in imports:
        import_policies(file)
    store = open_store(location, read_only=True, secret_file=secret_file)
    return RunningMonitors(CommandProcessor(store)).monitor
