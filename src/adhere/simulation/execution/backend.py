"""Backends that run the tasks of a plan, and the one loop that hands tasks out and accumulates their results."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from adhere.simulation.execution.accumulate import Key, Measured, TaskResult, add_result
from adhere.simulation.execution.cluster import explain_lost_workers, n_threads_of
from adhere.simulation.execution.plan import Integers, Task
from adhere.simulation.execution.progress import Announcing, Progress, Silent, progress_on
from adhere.simulation.execution.task_runner import TaskRunner

_POLL_SECONDS = 0.1
_log = logging.getLogger("adhere")
_WORKERS_IF_UNKNOWN = 32


@dataclass
class PendingTask:
    """A task that was handed out, and how many of its patients are known to be done."""

    task: Task
    future: Future[Any]
    done: Integers


class Backend(Protocol):
    """Runs tasks, in any order and several at once."""

    blocks_per_task: int

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first task."""

    def n_at_once(self) -> int:
        """How many tasks should be handed out at a time."""

    def submit(self, task: Task) -> PendingTask:
        """Hand out a task."""

    def result(self, pending: Sequence[PendingTask], on_wait: Callable[[], None]) -> TaskResult:
        """Wait for the result of the first of these tasks, and look after all of them."""

    def stop(self) -> None:
        """Leave what is running."""


def run_plan(
    runner: TaskRunner[Any], backend: Backend, wanted: Progress | bool | None, note: str = ""
) -> dict[Key, Measured]:
    """Run all tasks, few at a time, and return their accumulated results; a note is announced first."""
    finished, plan = 0, runner.plan
    totals, tasks = dict[Key, Measured](), plan.tasks(backend.blocks_per_task)
    pending: deque[PendingTask] = deque()
    with explain_lost_workers(), progress_on(plan.total_patients, wanted) as progress:

        def show() -> None:
            progress.advance_to(finished + sum(int(one.done[0]) for one in pending))

        try:
            if note:
                _log.info(note)
                # Whoever did not ask for silence hears it without a bar too.
                (Announcing() if wanted is None and isinstance(progress, Silent) else progress).announce(note)
            backend.prepare(progress.announce)
            while True:
                n_more = backend.n_at_once() - len(pending)
                pending.extend(backend.submit(task) for _, task in zip(range(n_more), tasks, strict=False))
                if not pending:
                    return totals
                add_result(totals, backend.result(pending, show), plan)
                finished += int(pending.popleft().done[0])
                show()
        finally:
            # After an error or Ctrl-C nothing new is started, and nobody waits for what is running.
            backend.stop()
            for one in pending:
                one.future.cancel()


def n_workers(executor: Executor) -> int:
    """How many tasks an executor works on at once, as far as it tells."""
    told = (n_threads_of(executor), getattr(executor, "num_workers", None), getattr(executor, "_max_workers", None))
    return next((n for n in told if isinstance(n, int)), _WORKERS_IF_UNKNOWN)


def wait_for(future: Future[Any], on_wait: Callable[[], None]) -> Any:
    """Wait in short steps, so that progress shows and Ctrl-C is heard."""
    # An executor that is shut down cancels futures without waking those who wait for them.
    while not wait([future], timeout=_POLL_SECONDS).done and not future.done():
        on_wait()
    return future.result()


class ThreadBackend:
    """Threads share our memory: they count patients as they go, and stop within a thousand of them."""

    def __init__(self, runner: TaskRunner[Any], pool: Executor | None, n_threads: int) -> None:
        self._runner, self._is_ours = runner, pool is None
        self._pool = pool or ThreadPoolExecutor(n_threads)
        self.blocks_per_task = runner.blocks_at_once(n_workers(self._pool))
        self._stop = np.zeros(1, np.int64)

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile in a thread, so that Ctrl-C is heard meanwhile; announcements are made in this one."""
        said: SimpleQueue[str] = SimpleQueue()

        def pass_on() -> None:
            while not said.empty():
                announce(said.get())

        wait_for(self._pool.submit(self._runner.prepare, said.put), pass_on)
        pass_on()

    def n_at_once(self) -> int:
        """Each thread finds its next task waiting."""
        return 2 * n_workers(self._pool)

    def submit(self, task: Task) -> PendingTask:
        """Hand out a task."""
        done = np.zeros(1, np.int64)
        return PendingTask(task, self._pool.submit(self._runner.run, task, done, self._stop), done)

    def result(self, pending: Sequence[PendingTask], on_wait: Callable[[], None]) -> TaskResult:
        """Wait for the result of the first task."""
        result: TaskResult = wait_for(pending[0].future, on_wait)
        return result

    def stop(self) -> None:
        """Let the threads leave their loops. A user's own pool can be used again afterwards."""
        self._stop[0] = 1
        if self._is_ours:
            self._pool.shutdown(wait=False)
