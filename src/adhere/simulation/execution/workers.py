"""Choice of workers for a plan: threads of this process, which may also drive a GPU, or workers of an executor."""

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from adhere.checks import check_integer
from adhere.errors import InputError
from adhere.processors import usable_processors
from adhere.simulation.execution.backend import Backend, ThreadBackend
from adhere.simulation.execution.cluster import n_threads_of
from adhere.simulation.execution.task_runner import TaskRunner


def check_workers(n_threads: int | None, device: object, executor: object) -> int:
    """Return how many threads to use; refuse settings that contradict each other or are not available."""
    if executor is not None:
        if not isinstance(executor, Executor):
            raise InputError("executor", executor, "a concurrent.futures.Executor (Dask: client.get_executor())")
        if n_threads_of(executor) == 0:
            expected = "one of a Dask cluster with at least one worker (dask worker ADDRESS, or cluster.scale(n))"
            raise InputError("executor", "one of a Dask cluster without workers", expected)
        if n_threads is not None:
            raise InputError("n_threads", n_threads, "none together with executor, which has workers of its own")
    check_device(device, executor)
    return check_integer("n_threads", n_threads, 1, 1024) if n_threads is not None else usable_processors()


def check_device(device: object, executor: object) -> None:
    """Refuse a device that is not available, or that an executor's workers do not have."""
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise InputError("device", device, "cpu or cuda")
    if device == "cuda":
        if executor is not None:
            raise InputError("device", device, "cpu together with executor, whose workers have no GPU of ours")
        from adhere.compilation.gpu import why_no_gpu

        if reason := why_no_gpu():
            raise InputError("device", device, f"cpu, since {reason}")


def backend_of(runner: TaskRunner[Any], executor: Executor | None, n_threads: int) -> Backend:
    """Return the backend for an executor, or a backend with threads of this process if there is no executor."""
    # A subclass of ThreadPoolExecutor may run its threads in separate interpreters, which share nothing.
    if executor is None or type(executor) is ThreadPoolExecutor:
        return ThreadBackend(runner, executor, n_threads)
    from adhere.simulation.execution.executor import (
        ExecutorBackend,  # which reads all of adhere's sources
    )

    return ExecutorBackend(runner, executor)
