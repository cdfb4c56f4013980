"""The backend of threads of this process, which also drive the GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Generic

import numpy as np

from adhere.simulation.execution.backend import PendingTask, n_workers, wait_for
from adhere.simulation.execution.task_plan import AnyRunner, F, T


class ThreadBackend(Generic[T, F]):
    """Threads share our memory: they count patients as they go, and stop within a thousand of them."""

    def __init__(self, runner: AnyRunner[T, F], pool: Executor | None, n_threads: int) -> None:
        self._runner, self._is_ours = runner, pool is None
        self._pool = pool or ThreadPoolExecutor(n_threads)
        self.blocks_per_task = runner.blocks_at_once(n_workers(self._pool))
        self._stop = np.zeros(1, np.int64)

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Compile in a thread, so that Ctrl-C is heard meanwhile; what it says is said in this one."""
        said: SimpleQueue[str] = SimpleQueue()

        def pass_on() -> None:
            while not said.empty():
                announce(said.get())

        wait_for(self._pool.submit(self._runner.prepare, said.put), pass_on)
        pass_on()

    def n_at_once(self) -> int:
        """Each thread finds its next task waiting."""
        return 2 * n_workers(self._pool)

    def submit(self, task: T) -> PendingTask[T]:
        """Hand out a task."""
        done = np.zeros(1, np.int64)
        return PendingTask(task, self._pool.submit(self._runner.run, task, done, self._stop), done)

    def result(self, pending: Sequence[PendingTask[T]], on_wait: Callable[[], None]) -> F:
        """Wait for the result of the first task."""
        result: F = wait_for(pending[0].future, on_wait)
        return result

    def stop(self) -> None:
        """Let the threads leave their loops. A user's own pool can be used again afterwards."""
        self._stop[0] = 1
        if self._is_ours:
            self._pool.shutdown(wait=False)
