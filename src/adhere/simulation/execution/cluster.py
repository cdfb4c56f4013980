"""Connection to a Dask cluster, and explanations of lost workers.

`distributed` is loaded only when a cluster is requested.
"""

import logging
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from functools import partial
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import urlsplit

from adhere.errors import InputError
from adhere.simulation.execution.identity import differences, identity

_SECONDS_TO_CONNECT, _SECONDS_TO_ANSWER = 5, 60  # a worker's first answer may have to wait for its imports
_SCHEMES = ("tcp", "tls")
T = TypeVar("T")


@contextmanager
def connected(address: str) -> Iterator[Executor]:
    """Connect to the Dask cluster with this scheduler address, check its workers, and yield an executor."""
    _check_address(address)
    try:
        from distributed import Client, Security
    except ImportError:
        raise InputError(
            "cluster", address, "Dask to reach it: pip install 'adhere[cluster]' (in a checkout: '.[cluster]')"
        ) from None

    security: Any = Security()  # type: ignore[no-untyped-call]
    if address.startswith("tls:") and security.get_connection_args("client")["ssl_context"] is None:
        raise InputError("cluster", address, "certificates for it in Dask's configuration (distributed.comm.tls)")
    # Each logger has its own level. tornado reports Dask's connections, which also end when Ctrl-C ends the cluster.
    for name in ("distributed", "distributed.client", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # we report errors in our own messages

    connect: Any = partial(Client, address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    try:
        client: Any = _within(_SECONDS_TO_CONNECT + 1, connect)
    except OSError:
        expected = f"a Dask scheduler there, but none answered within {_SECONDS_TO_CONNECT} seconds"
        raise InputError("cluster", address, expected) from None
    with client:
        _check_workers(client, address)
        yield client.get_executor()


def _within(seconds: float, function: Callable[[], T]) -> T:
    """Return the result of a function, or raise TimeoutError if it takes too long, e.g. at a wrong address."""
    answer: Future[T] = Future()

    def ask() -> None:
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=ask, daemon=True).start()
    return answer.result(seconds)


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        well_formed = parts.scheme in _SCHEMES and parts.hostname and parts.port and parts.path in ("", "/")
    except ValueError:  # the port is not a number
        well_formed = False
    if not well_formed:
        raise InputError("cluster", address, "the address of a Dask scheduler, e.g. tcp://127.0.0.1:8786")


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster that could not run the simulation, or that would give other numbers than this process."""
    if not client.nthreads():
        raise InputError("cluster", address, "a scheduler with at least one worker (dask worker ADDRESS)")
    try:
        answers = _within(_SECONDS_TO_ANSWER, lambda: client.run(identity, on_error="return"))
    except TimeoutError:
        expected = f"workers that answer, but some did not within {_SECONDS_TO_ANSWER} seconds"
        raise InputError("cluster", address, expected) from None
    for worker, theirs in answers.items():
        differing = f"none ({theirs})" if isinstance(theirs, Exception) else differences(theirs, identity())
        if differing:
            raise InputError(
                "cluster", address, f"workers with the same adhere as here, but {worker} has {differing}"
            )


def n_threads_of(executor: Executor) -> int | None:
    """Return how many tasks a Dask cluster runs at once, or None if the executor is not Dask's."""
    dask: Any = sys.modules.get("distributed.cfexecutor")
    if dask is None or not isinstance(executor, dask.ClientExecutor):
        return None
    if executor._client.status != "running":
        raise InputError("executor", "one of a Dask client that is closed", "one of a client that is connected")
    threads: dict[str, int] = executor._client.nthreads()
    return sum(threads.values())


def _loss_explained(error: Exception) -> str:
    """Return what an error of Dask says about its workers or scheduler, or "" if it is about something else."""
    dask: Any = sys.modules.get("distributed")
    if dask is None:
        return ""
    if isinstance(error, dask.scheduler.KilledWorker):
        n_killed = error.allowed_failures + 1
        return (
            f"{n_killed} workers of the cluster died at one task, the last at {error.last_worker.address}: killed,"
            " or out of memory? Their logs say more"
        )
    if isinstance(error, dask.comm.CommClosedError):
        return "the connection to the cluster's scheduler is lost"
    return ""


class WorkersLostError(ConnectionError):
    """The workers of an executor are gone, or die again and again."""


@contextmanager
def explain_lost_workers() -> Iterator[None]:
    """Replace errors about lost workers by errors that explain the cause."""
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
        if explained := _loss_explained(error):
            raise WorkersLostError(explained) from error
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == "adhere":
            raise InputError(
                "executor", f"a worker that says: {error}", "workers with the same adhere as here"
            ) from error
        raise
