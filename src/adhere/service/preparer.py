"""Preparing commands that would hold up all others: in threads, before they are executed among the others."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from adhere.errors import UnavailableError
from adhere.service.threads import Threads
from adhere.trial.domain.commands import AnyCommand
from adhere.trial.writing.processor import CommandProcessor

WaitingCommand: TypeAlias = tuple[AnyCommand, asyncio.Future[Any]]

_AT_ONCE = 256
_LEARNERS = 2  # threads for what takes some milliseconds, or seconds after a correction in a very long trial
_LOADERS = 8  # threads for policies that must be compiled, which takes seconds

log = logging.getLogger("adhere.service")


class Preparer:
    """Prepares the commands of each trial, some at a time, and hands them on; the next ones once these are answered.

    Not earlier: a correction changes what the next one must learn from. Trials do not wait for each other, and none
    that is loaded waits for a policy that must be compiled.
    """

    def __init__(self, processor: CommandProcessor, hand_on: Callable[[Sequence[WaitingCommand]], None]) -> None:
        self._processor, self._hand_on = processor, hand_on
        self._queues: dict[str, _Queue] = {}  # of the trials with commands that are not answered
        self._learners = Threads(_LEARNERS, "preparer")
        self._loaders = Threads(_LOADERS, "preparer-loader")
        self._closed = False

    def put(self, waiting: WaitingCommand) -> None:
        """Prepare a command, in its turn."""
        trial = waiting[0].trial
        if trial in self._queues:
            self._queues[trial].waiting.append(waiting)
        else:
            queue = self._queues[trial] = _Queue(trial, deque([waiting]))
            self._next(queue)

    def _next(self, queue: _Queue) -> None:
        if self._closed:
            return
        if not queue.waiting:
            del self._queues[queue.trial]
            return
        queue.under_way = [queue.waiting.popleft() for _ in range(min(len(queue.waiting), _AT_ONCE))]
        commands = [command for command, _ in queue.under_way]
        threads = self._learners if self._processor.is_ready(queue.trial) else self._loaders
        try:
            prepared = asyncio.get_running_loop().run_in_executor(threads, self._processor.prepare, commands)
        except UnavailableError as error:
            self._after(queue, error)
        else:
            prepared.add_done_callback(lambda done: self._prepared(queue, done))

    def _prepared(self, queue: _Queue, done: asyncio.Future[None]) -> None:
        if not done.cancelled():  # as at the end of the service
            self._after(queue, done.exception())

    def _after(self, queue: _Queue, error: BaseException | None) -> None:
        if self._closed:
            return
        if error is not None:  # they are executed all the same, and tell why they cannot be
            log.warning("commands could not be prepared: %s", type(error).__name__)
        ready, queue.under_way = queue.under_way, []
        queue.n_unanswered = len(ready)
        for _, future in ready:
            future.add_done_callback(lambda _: self._answered(queue))
        self._hand_on(ready)

    def _answered(self, queue: _Queue) -> None:
        queue.n_unanswered -= 1
        if not queue.n_unanswered:
            self._next(queue)

    def close(self) -> list[WaitingCommand]:
        """Stop; returns the commands that were not handed on."""
        self._closed = True
        for threads in (self._learners, self._loaders):
            threads.shutdown(cancel_futures=True)
        return [one for queue in self._queues.values() for one in (*queue.under_way, *queue.waiting)]


class _Queue:
    """The commands of one trial."""

    def __init__(self, trial: str, waiting: deque[WaitingCommand]) -> None:
        self.trial, self.waiting = trial, waiting
        self.under_way: list[WaitingCommand] = []
        self.n_unanswered = 0  # of those handed on
