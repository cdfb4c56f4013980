"""Executors that the tests make, and policies that travel to their workers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

import numpy as np


def processes(n: int) -> ProcessPoolExecutor:
    """Fresh processes, as on any system."""
    return ProcessPoolExecutor(n, mp_context=multiprocessing.get_context("spawn"))


class LastFirst(Executor):
    """One thread that always takes the task that came last, once so many wait or no more are coming.

    What it is given and gives back is pickled, and weighed.
    """

    num_workers = 3

    def __init__(self) -> None:
        self.most_waiting, self.sent, self.returned = 0, list[int](), list[int]()
        self._tasks: list[tuple[Future[Any], bytes]] = []
        self._news = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self._news:
            self._tasks.append((future, pickle.dumps((fn, args, kwargs))))
            self.sent.append(len(self._tasks[-1][1]))
            self.most_waiting = max(self.most_waiting, len(self._tasks))
            self._news.notify()
        return future

    def _work(self) -> None:
        while True:
            with self._news:
                while not self._tasks and not self._closed:
                    self._news.wait()
                self._news.wait_for(lambda: len(self._tasks) >= 2 * self.num_workers, timeout=0.2)
                if not self._tasks:
                    return
                future, task = self._tasks.pop()
            if not future.set_running_or_notify_cancel():
                continue
            fn, args, kwargs = pickle.loads(task)
            try:
                result = pickle.dumps(fn(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)
            else:
                self.returned.append(len(result))
                future.set_result(pickle.loads(result))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._news:
            self._closed = True
            self._news.notify()
        if wait:
            self._thread.join()


class Chance:
    """Draws an arm from the generator it is handed; may carry much."""

    name = "chance"

    def __init__(self, n_bytes: int = 0) -> None:
        self.ballast = np.zeros(n_bytes, np.uint8)

    def __deepcopy__(self, memo: object) -> Chance:
        return self

    def choose(self, rng: np.random.Generator) -> int:
        return int(rng.integers(2))

    def update(self, chosen: int, actual: int, reward: float) -> None:
        """Learn nothing."""


class Faulty(Chance):
    """Does something wrong at its first patient."""

    name = "faulty"

    def __init__(self, fault: Callable[[], int]) -> None:
        super().__init__()
        self.fault = fault

    def choose(self, rng: np.random.Generator) -> int:
        return self.fault()


class Particular(Exception):  # noqa: N818 (it is none of ours)
    """An exception that pickles, but cannot be unpickled."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def arm_seven() -> int:
    return 7


def divide() -> int:
    return 1 // 0


def raise_particular() -> int:
    raise Particular("this", "that")


def die() -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0
