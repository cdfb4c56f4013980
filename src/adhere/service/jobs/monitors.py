"""Monitors of trials: made in a process of their own, once for each head of a log, however many ask."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

from adhere.service.jobs.child_process import ChildProcess
from adhere.service.jobs.jobs import child_arguments
from adhere.trial.monitoring.monitor import Monitor
from adhere.trial.processor import CommandProcessor

_MODULE = "adhere.service.jobs.monitoring"  # not imported here: it needs much that the service does not
_MAX_CACHED = 32


class Monitors:
    """The monitors of a service. Exports have another process, so that nobody who watches waits for them."""

    def __init__(self, processor: CommandProcessor) -> None:
        self._processor = processor
        self._work: Callable[[str], Monitor] | None = None
        self._process = ChildProcess(_MODULE, lambda: child_arguments(processor.store))
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="monitors")  # waits for the process
        self._made: OrderedDict[str, Monitor] = OrderedDict()
        self._being_made: dict[str, asyncio.Task[Monitor]] = {}

    async def get(self, trial: str, head: str) -> Monitor:
        """A trial's monitor, of this head of its log or a later one."""
        known = self._made.get(trial)
        if known is not None and known.head == head:
            return known
        # Whoever asks while one is made gets that one if it is as new as what they have seen.
        while (task := self._being_made.get(trial)) is not None:
            found = await asyncio.shield(task)
            if found.head == head:
                return found
        task = self._being_made[trial] = asyncio.create_task(self._make(trial))
        task.add_done_callback(lambda _: self._being_made.pop(trial, None))
        return await asyncio.shield(task)

    async def _make(self, trial: str) -> Monitor:
        if self._work is None:
            self._work = self._process.call if self._processor.store.location is not None else self._here()
        found: Monitor = await asyncio.get_running_loop().run_in_executor(self._thread, self._work, trial)
        self._made[trial] = found
        self._made.move_to_end(trial)
        while len(self._made) > _MAX_CACHED:
            self._made.popitem(last=False)
        return found

    def _here(self) -> Callable[[str], Monitor]:
        """What makes monitors of a store in memory, which no other process can read."""
        return import_module(_MODULE).RunningMonitors(self._processor).monitor  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._process.close()
