"""The backend of any executor whose workers do not share our memory: processes, or machines of a cluster."""

from __future__ import annotations

import pickle
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Generic

import numpy as np

from adhere.simulation.execution.backend import PendingTask, n_workers, wait_for
from adhere.simulation.execution.remote import RemoteCall, pack
from adhere.simulation.execution.task_plan import AnyRunner, F, T

_ASK_AGAIN_SECONDS = 2.0
_LARGE_PLAN = 1 << 16  # bytes, too many to send with every task


class ExecutorBackend(Generic[T, F]):
    """Workers elsewhere: they compile for themselves, and count their patients when a task is finished.

    The plan is pickled once. A small one goes with every task. A large one goes only to workers that say they have
    not had it yet, and those keep it.
    """

    def __init__(self, runner: AnyRunner[T, F], executor: Executor) -> None:
        self._plan, self._executor = runner.plan, executor
        self._id, self._packed = uuid.uuid4().hex, pack(runner)
        self._is_large = len(self._packed) > _LARGE_PLAN
        self._n_workers, self._asked = 0, -_ASK_AGAIN_SECONDS
        self.blocks_per_task = self._plan.blocks_per_task

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Each worker does so for itself."""
        self._announce = announce

    def n_at_once(self) -> int:
        """Each worker finds its next task waiting; workers may come and go."""
        if time.monotonic() - self._asked >= _ASK_AGAIN_SECONDS:
            had_some, self._n_workers = self._n_workers > 0, n_workers(self._executor)
            self._asked = time.monotonic()
            if had_some and not self._n_workers:
                self._announce("all workers are gone; waiting for others")
        return 2 * max(1, self._n_workers)

    def submit(self, task: T) -> PendingTask[T]:
        """Send a task."""
        return PendingTask(task, self._send(task, with_plan=not self._is_large), np.zeros(1, np.int64))

    def result(self, pending: Sequence[PendingTask[T]], on_wait: Callable[[], None]) -> F:
        """Wait for the result of the first task."""

        def look() -> None:
            for one in pending:
                self._look_after(one)
            self.n_at_once()
            on_wait()

        result: F | None = None
        while result is None:
            result = wait_for(pending[0].future, look)
            self._look_after(pending[0])
        return result

    def _look_after(self, one: PendingTask[T]) -> None:
        """Note that a task is finished; send it once more if its worker lacked the plan."""
        future = one.future
        if one.done[0] or not future.done() or future.cancelled() or future.exception() is not None:
            return
        if future.result() is None:
            one.future = self._send(one.task, with_plan=True)
        else:
            one.done[0] = self._plan.patients_in(one.task)

    def _send(self, task: T, with_plan: bool) -> Future[F | None]:
        call = RemoteCall(self._id, self._packed if with_plan else None, task)
        return self._executor.submit(pickle.loads, pickle.dumps(call))

    def stop(self) -> None:
        """Workers finish the tasks they are at; nothing reaches them there."""
