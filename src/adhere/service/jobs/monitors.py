"""Monitors of trials, made in a process of their own: those who watch a trial share each computation."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module

from adhere.service.jobs.child_process import ChildProcess
from adhere.service.jobs.jobs import child_arguments
from adhere.service.threads import Threads
from adhere.trial.monitoring.monitor import Monitor
from adhere.trial.processor import CommandProcessor

_MODULE = "adhere.service.jobs.monitoring"  # not imported here: it needs much that the service does not
_MAX_CACHED = 32


class Monitors:
    """The monitors of a service. Exports have another process, so that nobody who watches waits for them.

    A trial has one computation at a time. Whoever asks takes the result of any computation that began afterwards, so
    that their number depends on how long one takes and not on how many watch.
    """

    def __init__(self, processor: CommandProcessor, on_made: Callable[[float], None] = lambda seconds: None) -> None:
        self._processor, self._on_made = processor, on_made
        self._work: Callable[[str], Monitor] | None = None
        self._process = ChildProcess(_MODULE, lambda: child_arguments(processor.store))
        self._thread = Threads(1, "monitors")  # waits for the process
        self._made: OrderedDict[str, Monitor] = OrderedDict()
        self._under_way: dict[str, _Computation] = {}

    async def get(self, trial: str, head: str) -> Monitor:
        """Return a trial's monitor at the head given, the head of its log now, or at a later one."""
        known = self._made.get(trial)
        if known is not None and known.head == head:
            return known
        earlier = self._under_way.get(trial)
        if earlier is not None and earlier.has_begun:  # it may have read the log before it had this head
            await asyncio.wait([earlier.task])
            if earlier.has_made(head):
                return earlier.task.result()
        computation = self._under_way.get(trial) or self._begin(trial)
        return await asyncio.shield(computation.task)

    def _begin(self, trial: str) -> _Computation:
        computation = self._under_way[trial] = _Computation()
        computation.task = asyncio.create_task(self._make(trial, computation))
        computation.task.add_done_callback(lambda _: self._under_way.pop(trial, None))
        return computation

    async def _make(self, trial: str, computation: _Computation) -> Monitor:
        if self._work is None:
            self._work = self._process.call if self._processor.store.location is not None else self._here()
        work = self._work

        def compute() -> Monitor:
            computation.has_begun = True
            begin = time.perf_counter()
            made = work(trial)
            self._on_made(time.perf_counter() - begin)
            return made

        found = await asyncio.get_running_loop().run_in_executor(self._thread, compute)
        self._made[trial] = found
        self._made.move_to_end(trial)
        while len(self._made) > _MAX_CACHED:
            self._made.popitem(last=False)
        return found

    def _here(self) -> Callable[[str], Monitor]:
        """Return the function that makes monitors of a store in memory, which no other process can read."""
        return import_module(_MODULE).RunningMonitors(self._processor).monitor  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._process.close()


class _Computation:
    """A monitor that is being made, or waits for the thread's turn."""

    task: asyncio.Task[Monitor]
    has_begun = False

    def has_made(self, head: str) -> bool:
        """Whether it is done and its monitor is of this head."""
        done = self.task.done() and not self.task.cancelled() and self.task.exception() is None
        return done and self.task.result().head == head
