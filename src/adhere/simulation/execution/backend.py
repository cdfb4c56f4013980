"""Who runs the tasks of a plan, and the one loop that hands them out and adds up what they found."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, Protocol

from adhere.simulation.execution.cluster import n_threads_of
from adhere.simulation.execution.progress import Announcing, Progress, Silent, progress_on
from adhere.simulation.execution.task_plan import AnyPlan, F, F_co, T
from adhere.simulation.plan import Integers

_POLL_SECONDS = 0.1
_log = logging.getLogger("adhere")
_WORKERS_IF_UNKNOWN = 32


@dataclass
class PendingTask(Generic[T]):
    """A task that was handed out, and how many of its patients are known to be done."""

    task: T
    future: Future[Any]
    done: Integers


class Backend(Protocol[T, F_co]):
    """Runs tasks, in any order and several at once."""

    blocks_per_task: int

    def prepare(self, announce: Callable[[str], None]) -> None:
        """Do what must be done once, before the first task."""

    def n_at_once(self) -> int:
        """How many tasks should be handed out at a time."""

    def submit(self, task: T) -> PendingTask[T]:
        """Hand out a task."""

    def result(self, pending: Sequence[PendingTask[T]], on_wait: Callable[[], None]) -> F_co:
        """Wait for the result of the first of these tasks, and look after all of them."""

    def stop(self) -> None:
        """Leave what is running."""


def run_plan(
    plan: AnyPlan[T], backend: Backend[T, F], wanted: Progress | bool | None, add: Callable[[F], None], say: str = ""
) -> None:
    """Run all tasks, few at a time, and `add` what they found in their order; something to `say` comes first."""
    finished = 0
    tasks = plan.tasks(backend.blocks_per_task)
    pending: deque[PendingTask[T]] = deque()
    with progress_on(plan.total_patients, wanted) as progress:

        def show() -> None:
            progress.advance_to(finished + sum(int(one.done[0]) for one in pending))

        try:
            if say:
                _log.info(say)
                # Whoever did not ask for silence hears it without a bar too.
                (Announcing() if wanted is None and isinstance(progress, Silent) else progress).announce(say)
            backend.prepare(progress.announce)
            while True:
                room = backend.n_at_once() - len(pending)
                pending.extend(backend.submit(task) for _, task in zip(range(room), tasks, strict=False))
                if not pending:
                    return
                add(backend.result(pending, show))
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
