"""Where simulations run: options, what does not go together, and the arguments that follow from them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import typer

from adhere.cli.options.options import naming_options
from adhere.errors import InputError

Device = Annotated[str, typer.Option(metavar="NAME", help="Run on the cpu, or on a GPU with cuda.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on the workers of a Dask scheduler instead of on this machine."),
]


def check_machines(threads: int | None, device: str, cluster: str | None) -> None:
    """Refuse threads or a GPU of this machine beside a cluster."""
    if cluster is not None and device != "cpu":
        raise InputError("--device", device, "cpu together with --cluster")
    if cluster is not None and threads is not None:
        raise InputError("--threads", threads, "no number together with --cluster, whose workers have their own")


@contextmanager
def machines(threads: int | None, device: str, cluster: str | None) -> Iterator[dict[str, Any]]:
    """Where trials are simulated, and who hears how far they are: arguments of `simulate`, `evaluate` and others."""
    from adhere.simulation.execution.cluster import connected
    from adhere.simulation.execution.progress import Announcing

    check_machines(threads, device, cluster)
    progress = None if sys.stderr.isatty() else Announcing()
    with naming_options(), nullcontext() if cluster is None else connected(cluster) as executor:
        yield {"n_threads": threads, "device": device, "executor": executor, "progress": progress}
