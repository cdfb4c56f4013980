"""Run several worker processes on one socket: start them together, replace ended ones, and end them together."""

from __future__ import annotations

import logging
import multiprocessing
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

from adhere.service.http.http_server import end_by

_POLL_SECONDS = 0.2
_MAX_FAILURES = 3  # consecutive workers that end before they serve
_LONGEST_PAUSE = 10.0  # seconds before another worker is started
_GRACE_SECONDS = 15.0  # in addition to the time for open requests

# The function that a worker runs. Its argument is a function that it calls once it serves.
Work: TypeAlias = Callable[[Callable[[], None]], None]

log = logging.getLogger("adhere.service")
_spawn = multiprocessing.get_context("spawn")


class Workers:
    """A group of workers that is kept running until a signal ends it."""

    def __init__(self, work: Work, n_workers: int, shutdown_seconds: float) -> None:
        self._work, self._n_workers, self._shutdown_seconds = work, n_workers, shutdown_seconds
        self._ending = threading.Event()
        self._failures = 0
        self._workers: list[_Worker] = []
        end_by(lambda _signal, _frame: self._ending.set())

    def run(self) -> bool:
        """Run until a signal ends the workers. Return False if they ended because no worker could start."""
        self._workers = [_Worker(self._work) for _ in range(self._n_workers)]
        while not self._ending.is_set() and self._failures < _MAX_FAILURES:
            wait([worker.process.sentinel for worker in self._workers], _POLL_SECONDS)
            for index, worker in enumerate(self._workers):
                self._look_after(index, worker)
        for worker in self._workers:
            worker.process.terminate()
        for worker in self._workers:
            worker.process.join(self._shutdown_seconds + _GRACE_SECONDS)
            worker.process.kill()
            worker.process.join()
        if not self._ending.is_set():
            log.error("no worker could start in %d tries; the service ends", self._failures)
        return self._ending.is_set()

    def _look_after(self, index: int, worker: _Worker) -> None:
        """Replace a worker that has ended. If it never began to serve, pause first."""
        if worker.has_begun():
            self._failures = 0
        if worker.process.is_alive() or self._ending.is_set():
            return
        worker.process.join()
        log.warning("worker %s ended with exit code %s", worker.process.pid, worker.process.exitcode)
        if not worker.serves:
            self._failures += 1
            if any(other.serves for other in self._workers):
                self._failures = min(self._failures, _MAX_FAILURES - 1)  # the others continue to serve
            self._ending.wait(min(_LONGEST_PAUSE, 0.1 * 4**self._failures))
        if not self._ending.is_set() and self._failures < _MAX_FAILURES:
            self._workers[index] = _Worker(self._work)


class _Worker:
    """One worker process."""

    def __init__(self, work: Work) -> None:
        self._reader, writer = _spawn.Pipe(duplex=False)
        self.serves = False
        self.process = _spawn.Process(target=_run, args=(work, writer))
        self.process.start()
        writer.close()

    def has_begun(self) -> bool:
        """Return whether the worker has begun to serve since the last call."""
        if self.serves or not self._reader.poll():
            return False
        with suppress(EOFError):
            self._reader.recv_bytes()
            self.serves = True
        return self.serves


def _run(work: Work, writer: Connection[Any, Any]) -> None:
    work(lambda: writer.send_bytes(b"it serves"))
