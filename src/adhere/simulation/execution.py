"""Who runs the blocks of a simulation: threads of this process, or the workers of any executor."""

from __future__ import annotations

import pickle
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from adhere.errors import InputError
from adhere.simulation.blocks import Findings, Integers, Summary, Task, Totals, Work
from adhere.simulation.cluster import loss_explained, n_threads_of
from adhere.simulation.progress import Progress, progress_on
from adhere.simulation.sending import Call, packed

_POLL_SECONDS, _ASK_AGAIN_SECONDS = 0.1, 2.0
_WORKERS_IF_UNKNOWN = 32
_LARGE_PARCEL = 1 << 16  # bytes, too many to send with every task


class WorkersLostError(ConnectionError):
    """The workers of an executor are gone, or die again and again."""


def run_work(
    work: Work, executor: Executor | None, n_threads: int, wanted: Progress | bool | None
) -> list[list[Summary]]:
    """Let an executor run all blocks, or threads of our own; the executor can be used again afterwards."""
    if executor is None:
        pool = ThreadPoolExecutor(n_threads)
        try:
            return _run(work, _Threads(work, pool), wanted)
        finally:
            pool.shutdown(wait=False)
    # A pool derived from that of threads may run them in interpreters of their own, which share nothing.
    shares_memory = type(executor) is ThreadPoolExecutor
    return _run(work, _Threads(work, executor) if shares_memory else _Workers(work, executor), wanted)


@dataclass
class _Job:
    """A task handed out, and how many of its patients are known to be done."""

    task: Task
    future: Future[Any]
    done: Integers


class _Crew(Protocol):
    """Runs tasks, in any order and several at once."""

    blocks_per_task: int

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first task."""

    def n_at_once(self) -> int:
        """How many tasks should be handed out at a time."""

    def start(self, task: Task) -> _Job:
        """Hand out a task."""

    def findings(self, jobs: Sequence[_Job], meanwhile: Callable[[], None]) -> Findings:
        """Wait for what the first of these tasks found, and look after all of them."""

    def stop(self) -> None:
        """Leave what is running."""


def _run(work: Work, crew: _Crew, wanted: Progress | bool | None) -> list[list[Summary]]:
    """Run all tasks, few at a time, and merge what they found in their order."""
    totals, finished = Totals(work.n_summaries), 0
    tasks = work.tasks(crew.blocks_per_task)
    waiting: deque[_Job] = deque()
    with progress_on(work.total_patients, wanted) as progress, _losses_explained():

        def show() -> None:
            progress.advance_to(finished + sum(int(job.done[0]) for job in waiting))

        try:
            crew.prepare(progress.announce)
            while True:
                room = crew.n_at_once() - len(waiting)
                waiting.extend(crew.start(task) for _, task in zip(range(room), tasks, strict=False))
                if not waiting:
                    break
                totals.add(crew.findings(waiting, show))
                finished += int(waiting.popleft().done[0])
                show()
        finally:
            # After an error or Ctrl-C nothing new is started, and nobody waits for what is running.
            crew.stop()
            for job in waiting:
                job.future.cancel()
    return totals.summaries()


class _Threads:
    """Threads share our memory: they count patients as they go, and stop within a thousand of them."""

    def __init__(self, work: Work, pool: Executor) -> None:
        self._work, self._pool = work, pool
        self.blocks_per_task = work.blocks_per_launch if work.device == "cuda" else 1
        self._stop = np.zeros(1, np.int64)

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile in a thread, so that Ctrl-C is heard meanwhile."""
        _wait(self._pool.submit(self._work.prepare, announce), lambda: None)

    def n_at_once(self) -> int:
        """Each thread finds its next task waiting."""
        return 2 * _n_workers(self._pool)

    def start(self, task: Task) -> _Job:
        """Hand out a task."""
        done = np.zeros(1, np.int64)
        return _Job(task, self._pool.submit(self._work.run, task, done, self._stop), done)

    def findings(self, jobs: Sequence[_Job], meanwhile: Callable[[], None]) -> Findings:
        """Wait for what the first task found."""
        found: Findings = _wait(jobs[0].future, meanwhile)
        return found

    def stop(self) -> None:
        """Let the threads leave their loops."""
        self._stop[0] = 1


class _Workers:
    """Workers elsewhere: they compile for themselves, and count their patients when a task is finished.

    The work is pickled once. A small one goes with every task. A large one goes only to workers that say they have
    not had it yet, and those keep it.
    """

    def __init__(self, work: Work, executor: Executor) -> None:
        self._work, self._executor = work, executor
        self._name, self._parcel = uuid.uuid4().hex, packed(work)
        self._is_large = len(self._parcel) > _LARGE_PARCEL
        self._n_workers, self._asked = 0, -_ASK_AGAIN_SECONDS
        self.blocks_per_task = work.blocks_per_task

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Each worker does so for itself."""
        self._announce = announce

    def n_at_once(self) -> int:
        """Each worker finds its next task waiting; workers may come and go."""
        if time.monotonic() - self._asked >= _ASK_AGAIN_SECONDS:
            had_some, self._n_workers = self._n_workers > 0, _n_workers(self._executor)
            self._asked = time.monotonic()
            if had_some and not self._n_workers:
                self._announce("all workers are gone; waiting for others")
        return 2 * max(1, self._n_workers)

    def start(self, task: Task) -> _Job:
        """Send a task."""
        return _Job(task, self._send(task, with_work=not self._is_large), np.zeros(1, np.int64))

    def findings(self, jobs: Sequence[_Job], meanwhile: Callable[[], None]) -> Findings:
        """Wait for what the first task found."""

        def look() -> None:
            for job in jobs:
                self._look_after(job)
            self.n_at_once()
            meanwhile()

        found: Findings | None = None
        while found is None:
            found = _wait(jobs[0].future, look)
            self._look_after(jobs[0])
        return found

    def _look_after(self, job: _Job) -> None:
        """Note that a task is finished; send it once more if its worker lacked the work."""
        future = job.future
        if job.done[0] or not future.done() or future.cancelled() or future.exception() is not None:
            return
        if future.result() is None:
            job.future = self._send(job.task, with_work=True)
        else:
            job.done[0] = self._work.patients_in(job.task)

    def _send(self, task: Task, with_work: bool) -> Future[Findings | None]:
        call = Call(self._name, self._parcel if with_work else None, task)
        return self._executor.submit(pickle.loads, pickle.dumps(call))

    def stop(self) -> None:
        """Workers finish the tasks they are at; nothing reaches them there."""


def _n_workers(executor: Executor) -> int:
    """How many tasks an executor works on at once, as far as it tells."""
    told = (n_threads_of(executor), getattr(executor, "num_workers", None), getattr(executor, "_max_workers", None))
    return next((n for n in told if isinstance(n, int)), _WORKERS_IF_UNKNOWN)


def _wait(future: Future[Any], meanwhile: Callable[[], None]) -> Any:
    """Wait in short steps, so that progress shows and Ctrl-C is heard."""
    while True:
        try:
            return future.result(timeout=_POLL_SECONDS)
        except StillRunning:
            if future.done():
                raise
            meanwhile()


@contextmanager
def _losses_explained() -> Iterator[None]:
    """Say in a sentence what became of workers that are no more."""
    try:
        yield
    except BrokenExecutor as error:
        raise WorkersLostError(
            "a worker died in the middle of the simulation (killed, or out of memory?) and took its executor along:"
            " make a new executor and simulate again"
        ) from error
    except CancelledError as error:
        raise WorkersLostError(
            "the executor dropped the simulation: it was shut down, or its scheduler can no longer be reached"
        ) from error
    except Exception as error:
        if isinstance(error, RuntimeError) and "after shutdown" in str(error):
            raise WorkersLostError("the executor is shut down: make a new one and simulate again") from error
        if explained := loss_explained(error):
            raise WorkersLostError(explained) from error
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "adhere":
            raise InputError(
                "executor", f"a worker that says: {error}", "workers with the same adhere as here"
            ) from error
        raise
