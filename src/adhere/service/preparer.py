"""Preparing commands that would hold up all others: in a thread, before they are executed among the others."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from adhere.trial.commands import AnyCommand
from adhere.trial.processor import CommandProcessor

WaitingCommand: TypeAlias = tuple[AnyCommand, asyncio.Future[Any]]

_AT_ONCE = 256

log = logging.getLogger("adhere.service")


class Preparer:
    """Prepares what waits, some commands at a time, and hands them on; the next ones once these are answered.

    Not earlier: a correction changes what the next one must learn from.
    """

    def __init__(self, processor: CommandProcessor, hand_on: Callable[[Sequence[WaitingCommand]], None]) -> None:
        self._processor, self._hand_on = processor, hand_on
        self._queue: deque[WaitingCommand] = deque()
        self._under_way: list[WaitingCommand] = []
        self._unanswered = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="preparer")
        self._closed = False

    def put(self, waiting: WaitingCommand) -> None:
        """Prepare a command, in its turn."""
        self._queue.append(waiting)
        if not self._under_way and not self._unanswered:
            self._next()

    def _next(self) -> None:
        if not self._queue or self._closed:
            return
        self._under_way = [self._queue.popleft() for _ in range(min(len(self._queue), _AT_ONCE))]
        commands = [command for command, _ in self._under_way]
        prepared = asyncio.get_running_loop().run_in_executor(self._thread, self._processor.prepare, commands)
        prepared.add_done_callback(self._after)

    def _after(self, prepared: asyncio.Future[None]) -> None:
        if self._closed:
            return
        if (error := prepared.exception()) is not None:  # they are executed all the same, and tell why they cannot be
            log.warning("commands could not be prepared: %s", type(error).__name__)
        ready, self._under_way = self._under_way, []
        self._unanswered = len(ready)
        for _, future in ready:
            future.add_done_callback(self._answered)
        self._hand_on(ready)

    def _answered(self, _future: asyncio.Future[Any]) -> None:
        self._unanswered -= 1
        if not self._unanswered:
            self._next()

    def close(self) -> list[WaitingCommand]:
        """Stop; returns what was not handed on."""
        self._closed = True
        self._thread.shutdown()
        return [*self._under_way, *self._queue]
