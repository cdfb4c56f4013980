"""Compute the monitors of trials in a separate process. Everyone who watches a trial shares each computation."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adhere.service.jobs.child_process import ChildProcess
from adhere.service.jobs.job_functions import open_processor
from adhere.service.jobs.jobs import child_arguments
from adhere.service.temporary_folders import turn
from adhere.trial.writing.processor import CommandProcessor
from adhere_client.responses.monitor import Monitor

if TYPE_CHECKING:
    from adhere.trial.monitoring.running_monitor import RunningMonitor

_MAX_TRIALS = 8  # trials with data in memory: about 50 MB for 100,000 patients


class RunningMonitors:
    """The monitors of the trials that were requested last."""

    def __init__(self, processor: CommandProcessor) -> None:
        from adhere.trial.monitoring.running_monitor import RunningMonitor  # slow to import

        self._processor, self._new = processor, RunningMonitor
        self._kept: OrderedDict[int, RunningMonitor] = OrderedDict()

    def monitor(self, trial: str) -> Monitor:
        """Return a trial's monitor at the head of its log."""
        live = self._processor.trial(trial)
        running = self._kept.pop(live.number, None) or self._new(live)
        with self._processor.store.reading() as view:
            found = running.update(view)
        self._kept[live.number] = running  # not reached after a failure
        while len(self._kept) > _MAX_TRIALS:
            self._kept.popitem(last=False)
        return found


def start(location: str, secret_file: Path | None, imports: Sequence[Path]) -> Callable[..., Any]:
    """Open the store in the process. Return the function that computes a trial's monitor."""
    return RunningMonitors(open_processor(location, secret_file, imports)).monitor


_MAX_CACHED = 32
_PATIENCE = 10.0  # seconds to wait for another process that hangs during a computation


class Monitors:
    """The monitors of a service. Exports use another process, so that readers do not wait for them.

    All processes of a service that share a folder run one computation at a time. A reader gets the result of any
    computation that began after the request or, after a notification, since the change was noticed. The number of
    computations therefore depends on their duration and not on the number of readers.
    """

    def __init__(
        self,
        processor: CommandProcessor,
        on_made: Callable[[float], None] = lambda seconds: None,
        shared_folder: str | None = None,
    ) -> None:
        self._processor, self._on_made = processor, on_made
        self._turns = None if shared_folder is None else Path(shared_folder) / "monitors"
        self._process = ChildProcess(__name__, lambda: child_arguments(processor.store))
        self._made: OrderedDict[str, tuple[Monitor, float]] = OrderedDict()  # with its beginning
        self._under_way: dict[str, _Computation] = {}

    def made_since(self, trial: str, since: float) -> Monitor | None:
        """Return a trial's last monitor if its computation began at `since` (`time.monotonic`) or later."""
        known = self._made.get(trial)
        return known[0] if known is not None and known[1] >= since else None

    async def get(self, trial: str, head: str, since: float | None = None) -> Monitor:
        """Return a trial's monitor at this head of its log, or a monitor computed after `since` (default: now)."""
        since = time.monotonic() if since is None else since
        known = self._made.get(trial)
        if known is not None and (known[0].head == head or known[1] >= since):
            return known[0]
        earlier = self._under_way.get(trial)
        # The earlier computation may have read the log before it had this head.
        if earlier is not None and earlier.began_at is not None and earlier.began_at < since:
            await asyncio.wait([earlier.task])
            return await self.get(trial, head, since)
        computation = self._under_way.get(trial) or self._begin(trial)
        return await asyncio.shield(computation.task)

    @cached_property
    def _work(self) -> Callable[[str], Monitor]:
        """Return the function that computes monitors. For a store in memory it runs in this process."""
        is_in_memory = self._processor.store.location is None
        return RunningMonitors(self._processor).monitor if is_in_memory else self._process.call

    def _begin(self, trial: str) -> _Computation:
        computation = self._under_way[trial] = _Computation()
        computation.task = asyncio.create_task(self._make(trial, computation))
        computation.task.add_done_callback(lambda _: self._under_way.pop(trial, None))
        return computation

    async def _make(self, trial: str, computation: _Computation) -> Monitor:
        work = self._work

        def compute() -> tuple[Monitor, float]:
            with turn(self._turns, _PATIENCE):
                begin = computation.began_at = time.monotonic()
                made = work(trial)
                self._on_made(time.monotonic() - begin)
                return made, begin

        found, began_at = await self._process.in_thread(compute)
        self._made[trial] = found, began_at
        self._made.move_to_end(trial)
        while len(self._made) > _MAX_CACHED:
            self._made.popitem(last=False)
        return found

    def close(self) -> None:
        """End the process at once."""
        self._process.close()


class _Computation:
    """A monitor that is being computed or waits for its turn."""

    task: asyncio.Task[Monitor]
    began_at: float | None = None
