"""Workers of an executor that are no more, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import contextmanager

from adhere.errors import InputError
from adhere.simulation.execution.cluster import loss_explained


class WorkersLostError(ConnectionError):
    """The workers of an executor are gone, or die again and again."""


@contextmanager
def explain_lost_workers() -> Iterator[None]:
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
