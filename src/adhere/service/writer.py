"""Group commit: one thread writes everything that waits in one transaction, and answers all of it at once."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from adhere.service.metrics import Metrics
from adhere.store import StoreError
from adhere.trial.desk import Desk
from adhere.trial.requests import Answer, AnyRequest

MOST_AT_ONCE = 256
_AFTER_FAILURE = 10.0  # seconds for which a commit that failed makes the service unready

Result = TypeVar("Result")
Work: TypeAlias = AnyRequest | Callable[[], Any]

log = logging.getLogger("adhere.service")


class ClosingError(Exception):
    """The service is shutting down and takes nothing more."""


class Writer:
    """The only thread that writes to the store.

    Each call into the event loop and each commit costs much more than one more request, so both are shared by all
    requests that wait.
    """

    def __init__(self, desk: Desk, metrics: Metrics) -> None:
        self._desk, self._metrics = desk, metrics
        self._waiting: queue.SimpleQueue[tuple[Work, asyncio.Future[Any]] | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="writer")
        self._failed_at: float | None = None
        self._closing = False

    def start(self) -> None:
        """Begin, within the event loop whose requests it will answer."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def ask(self, request: AnyRequest) -> asyncio.Future[Answer]:
        """The answer to a request once it is durable; raises an `InputError` if it is refused."""
        return self._put(request)

    def run(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Do something else that writes, between two batches."""
        return self._put(work)

    def _put(self, work: Work) -> asyncio.Future[Any]:
        if self._loop is None or self._closing:
            raise ClosingError
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.put((work, future))
        return future

    def close(self) -> None:
        """Finish what waits, and end. Blocks until that is done."""
        self._closing = True
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()

    @property
    def failed_lately(self) -> bool:
        """Whether the last commit failed, and that not long ago: after a while the next one shows."""
        return self._failed_at is not None and time.monotonic() - self._failed_at < _AFTER_FAILURE

    def _work(self) -> None:
        assert self._loop is not None
        while (first := self._waiting.get()) is not None:
            batch, closing = [first], False
            for _ in range(min(self._waiting.qsize(), MOST_AT_ONCE - 1)):
                if (item := self._waiting.get()) is None:
                    closing = True
                    break
                batch.append(item)
            asked = [(work, future) for work, future in batch if not callable(work)]
            answers = self._handle([work for work, _ in asked]) if asked else []
            futures = [future for _, future in asked]
            for work, future in batch:
                if callable(work):
                    answers.append(self._run(work))
                    futures.append(future)
            self._loop.call_soon_threadsafe(_answer, futures, answers)
            if closing:
                return

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


def _answer(futures: list[asyncio.Future[Any]], answers: list[Any]) -> None:
    for future, answer in zip(futures, answers, strict=True):
        if future.done():  # whoever asked has gone
            continue
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
