"""Thread pools that continue with fewer threads if the machine lacks the memory to start more."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeAlias, TypeVar

from adhere.errors import UnavailableError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_Work: TypeAlias = tuple[Future[Any], Callable[[], Any]]


def start_thread(thread: threading.Thread) -> None:
    """Start a thread, or raise an `UnavailableError` if the machine has no room for its stack."""
    try:
        thread.start()
    except RuntimeError:  # Python's "can't start new thread"
        raise UnavailableError("the machine cannot start another thread for now") from None


class Threads(Executor):
    """A pool of up to `n_threads` threads, each started when it is first needed.

    If a thread cannot be started, the work waits for the running threads. If no thread is running, `submit` raises an
    `UnavailableError` and the work is not done. Python's own pool raises too, but it may do the work later.
    """

    def __init__(self, n_threads: int, name: str) -> None:
        self._n_threads, self._name = n_threads, name
        self._waiting: SimpleQueue[_Work | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._n_unfinished = 0
        self._is_shut = False

    def submit(
        self, fn: Callable[Parameters, Result], /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Future[Result]:
        """Call a function in a thread when its turn comes."""
        future: Future[Result] = Future()
        with self._lock:
            if self._is_shut:
                raise RuntimeError("work was submitted after shutdown")
            if self._n_unfinished >= len(self._threads) < self._n_threads:
                self._add_thread()
            self._waiting.put((future, partial(fn, *args, **kwargs)))
            self._n_unfinished += 1
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all threads after the submitted work or, with `cancel_futures`, after the work that has begun."""
        with self._lock:
            self._is_shut = True
            if cancel_futures:
                self._cancel_waiting()
            for _ in self._threads:
                self._waiting.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _cancel_waiting(self) -> None:
        with suppress(Empty):
            while True:
                if (work := self._waiting.get_nowait()) is not None:
                    work[0].cancel()

    def _add_thread(self) -> None:
        name = f"{self._name}_{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        try:
            start_thread(thread)
        except UnavailableError:
            if not self._threads:
                raise
        else:
            self._threads.append(thread)

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            _do(*work)
            del work  # otherwise it would stay in memory until the next work arrives
            with self._lock:
                self._n_unfinished -= 1


def _do(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
