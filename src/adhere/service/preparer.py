"""Prepare slow commands in threads, so that they do not delay other commands when they are executed."""

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
_LEARNERS = 2  # threads for work of a few milliseconds, or of seconds after a correction in a very long trial
_LOADERS = 8  # threads for compiling policies, which takes seconds

log = logging.getLogger("adhere.service")


class Preparer:
    """The preparer of commands, which prepares a batch for each trial and hands it on for execution.

    A trial's next batch is prepared only after the previous one is answered, because a correction changes the data
    that later commands learn from. Trials do not wait for each other, and loaded trials do not wait for a compiler.
    """

    def __init__(self, processor: CommandProcessor, hand_on: Callable[[Sequence[WaitingCommand]], None]) -> None:
        self._processor, self._hand_on = processor, hand_on
        self._queues: dict[str, _Queue] = {}  # by trial, for trials with unanswered commands
        self._learners = Threads(_LEARNERS, "preparer")
        self._loaders = Threads(_LOADERS, "preparer-loader")
        self._closed = False

    def put(self, waiting: WaitingCommand) -> None:
        """Prepare a command when its turn comes."""
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
        if not done.cancelled():  # cancelled at shutdown
            self._after(queue, done.exception())

    def _after(self, queue: _Queue, error: BaseException | None) -> None:
        if self._closed:
            return
        if error is not None:  # the commands are executed anyway, and report the error then
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
        """Stop, and return the commands that were not handed on."""
        self._closed = True
        for threads in (self._learners, self._loaders):
            threads.shutdown(cancel_futures=True)
        return [one for queue in self._queues.values() for one in (*queue.under_way, *queue.waiting)]


class _Queue:
    """The queue of one trial's commands."""

    def __init__(self, trial: str, waiting: deque[WaitingCommand]) -> None:
        self.trial, self.waiting = trial, waiting
        self.under_way: list[WaitingCommand] = []
        self.n_unanswered = 0  # among the commands that were handed on
