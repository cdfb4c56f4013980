"""Group commit: everything that waits is written in one transaction, and answered at once.

Commits are the costly part, so all requests that wait share one. Who does the work depends on how long it may take.
Threads of Python that work at the same time hand the interpreter to and fro, which costs about as much as the work
itself; so ordinary requests to a store that nobody else writes to are handled in the event loop, for as long as one
commit takes. Whatever may take longer (corrections, which go through the log again; PostgreSQL, where others may
hold a lock; a policy that is not loaded yet) is handled in a thread, beside the event loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

from adhere.service.metrics import Metrics
from adhere.store import StoreError
from adhere.trial.desk import Desk
from adhere.trial.requests import Answer, AnyRequest

MOST_AT_ONCE = 256
_ROUNDS = 4  # of the event loop, some ten microseconds each, in which more requests may come in
_AFTER_FAILURE = 10.0  # seconds for which a commit that failed makes the service unready

Result = TypeVar("Result")
Work: TypeAlias = AnyRequest | Callable[[], Any]
Waiting: TypeAlias = tuple[Work, asyncio.Future[Any]]

log = logging.getLogger("adhere.service")


class ClosingError(Exception):
    """The service is shutting down and takes nothing more."""


class Writer:
    """The only one who writes to the store in this process."""

    def __init__(self, desk: Desk, metrics: Metrics) -> None:
        self._desk, self._metrics = desk, metrics
        self._waiting: deque[Waiting] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._busy = False  # the thread is at work, or the loop is about to be
        self._failed_at: float | None = None
        self._closing = False

    def start(self) -> None:
        """Begin, within the event loop whose requests it will answer."""
        self._loop = asyncio.get_running_loop()

    def ask(self, request: AnyRequest) -> asyncio.Future[Answer]:
        """The answer to a request once it is durable; raises an `InputError` if it is refused."""
        return self._put(request)

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Do something else that writes, in its turn."""
        return self._put(work)

    def _put(self, work: Work) -> asyncio.Future[Any]:
        if self._loop is None or self._closing:
            raise ClosingError
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append((work, future))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._gather, _ROUNDS)
        return future

    def _gather(self, rounds: int) -> None:
        """Let the loop go round a few times more: a commit for many costs little more than one for a few."""
        assert self._loop is not None
        if rounds:
            self._loop.call_soon(self._gather, rounds - 1)
        else:
            self._next()

    def _next(self) -> None:
        if not self._waiting:
            self._busy = False
            return
        assert self._loop is not None
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
        if all(not callable(work) and self._desk.is_quick(work) for work, _ in batch):
            _answer(batch, self._work(batch))
            self._loop.call_soon(self._gather, _ROUNDS)
            return
        answers = self._loop.run_in_executor(self._thread, self._work, batch)
        answers.add_done_callback(lambda done: self._after(batch, done))

    def _after(self, batch: Sequence[Waiting], done: asyncio.Future[list[Any]]) -> None:
        _answer(batch, done.result())
        self._gather(_ROUNDS)

    def close(self) -> None:
        """Finish what waits, and end. Blocks until that is done."""
        self._closing = True
        self._thread.shutdown()
        rest, self._waiting = list(self._waiting), deque()
        for first in range(0, len(rest), MOST_AT_ONCE):
            batch = rest[first : first + MOST_AT_ONCE]
            _answer(batch, self._work(batch))

    @property
    def failed_lately(self) -> bool:
        """Whether the last commit failed, and that not long ago: after a while the next one shows."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < _AFTER_FAILURE

    def _work(self, batch: Sequence[Waiting]) -> list[Any]:
        """Handle the requests together, then do the rest one by one; answers in the order of the batch."""
        asked = [work for work, _ in batch if not callable(work)]
        answers = iter(self._handle(asked) if asked else [])
        return [self._run(work) if callable(work) else next(answers) for work, _ in batch]

    def _handle(self, requests: list[AnyRequest]) -> list[Any]:
        begin = time.perf_counter()
        try:
            answers: list[Any] = list(self._desk.handle(requests))
        except StoreError as error:
            self._fail(error)
            return [error] * len(requests)
        except Exception as error:
            if len(requests) == 1:
                return [error]
            # What one request trips over must not fail those that happened to wait beside it.
            return [answer for request in requests for answer in self._handle([request])]
        self._failed_at = None
        self._metrics.committed(len(requests), time.perf_counter() - begin)
        return answers

    def _run(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except StoreError as error:
            self._fail(error)
            return error
        except Exception as error:
            return error

    def _fail(self, error: StoreError) -> None:
        self._failed_at = time.monotonic()
        self._metrics.failed_commits.inc()
        log.error("a commit failed, nothing of it was written: %s", error)


def _answer(batch: Sequence[Waiting], answers: Sequence[Any]) -> None:
    for (_, future), answer in zip(batch, answers, strict=True):
        if future.done():  # whoever asked has gone
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
