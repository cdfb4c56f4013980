"""Backends that run the tasks of a plan, and the loop that hands out tasks and accumulates their results."""

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
    """A task that was handed out, and the number of its patients known to be done."""

    task: Task
    future: Future[Any]
    done: Integers


class Backend(Protocol):
    """Interface of a backend, which runs tasks in any order, several at once."""

    blocks_per_task: int

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first task."""

    def n_at_once(self) -> int:
        """Return how many tasks should be handed out at a time."""

    def submit(self, task: Task) -> PendingTask:
        """Hand out a task."""

    def result(self, pending: Sequence[PendingTask], on_wait: Callable[[], None]) -> TaskResult:
        """Wait for the result of the first of these tasks, and check on all of them."""

    def stop(self) -> None:
        """Stop the running tasks, without waiting for them."""


def run_plan(
    runner: TaskRunner[Any], backend: Backend, wanted: Progress | bool | None, note: str = ""
) -> dict[Key, Measured]:
    """Run all tasks, a few at a time, and return their accumulated results. Announce `note` first, if given."""
    finished, plan = 0, runner.plan
    totals, tasks = dict[Key, Measured](), plan.tasks(backend.blocks_per_task)
    pending: deque[PendingTask] = deque()
    with explain_lost_workers(), progress_on(plan.total_patients, wanted) as progress:

        def show() -> None:
            progress.advance_to(finished + sum(int(one.done[0]) for one in pending))

        try:
            if note:
                _log.info(note)
                # Unless silence was requested, the note is shown even if there is no progress bar.
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
            # After an error or Ctrl-C, no new task is started, and running tasks are not waited for.
            backend.stop()
            for one in pending:
                one.future.cancel()


def n_workers(executor: Executor) -> int:
    """Return how many tasks an executor works on at once, or a default if it does not tell."""
    told = (n_threads_of(executor), getattr(executor, "num_workers", None), getattr(executor, "_max_workers", None))
    return next((n for n in told if isinstance(n, int)), _WORKERS_IF_UNKNOWN)


def wait_for(future: Future[Any], on_wait: Callable[[], None]) -> Any:
    """Wait in short steps, so that progress is shown and Ctrl-C works."""
    # An executor that is shut down cancels futures without waking up the code that waits for them.
    while not wait([future], timeout=_POLL_SECONDS).done and not future.done():
        on_wait()
    return future.result()


class ThreadBackend:
    """Backend of threads of this process. They share its memory, count patients as they go and can be stopped."""

    def __init__(self, runner: TaskRunner[Any], pool: Executor | None, n_threads: int) -> None:
        self._runner, self._is_ours = runner, pool is None
        self._pool = pool or ThreadPoolExecutor(n_threads)
        self.blocks_per_task = runner.blocks_at_once(n_workers(self._pool))
        self._stop = np.zeros(1, np.int64)

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile in a thread, so that Ctrl-C works meanwhile. Announcements are made in the calling thread."""
        said: SimpleQueue[str] = SimpleQueue()

        def pass_on() -> None:
            while not said.empty():
                announce(said.get())

        wait_for(self._pool.submit(self._runner.prepare, said.put), pass_on)
        pass_on()

    def n_at_once(self) -> int:
        """Return two tasks per thread, so that each thread finds its next task waiting."""
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
        """Tell the threads to leave their loops. A user's own pool can be used again afterwards."""
        self._stop[0] = 1
        if self._is_ours:
            self._pool.shutdown(wait=False)
