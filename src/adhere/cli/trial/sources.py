"""Options of the commands on live trials, and functions that open their files, databases and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adhere.cli.options import BrokenLogError, counting
from adhere.errors import DamagedStoreError, StoreError

if TYPE_CHECKING:
    from adhere.store import ReadTransaction, Store
    from adhere.trial.sources import TrialInView

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|URL",
        help="A file of trials, a log that 'adhere trial export' wrote, or postgresql://…",
    ),
]
StoreSource = Annotated[str, typer.Argument(metavar="FILE|URL", help="A file of trials, or postgresql://…")]
StoreFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file of trials.")]
Into = Annotated[str, typer.Option("--into", metavar="FILE|URL", help="A file of trials, or postgresql://…")]
SecretFileOption = Annotated[
    str | None,
    typer.Option(
        "--secret-file",
        metavar="FILE",
        envvar="ADHERE_SECRET_FILE",
        help="The separate file of secrets, if the service uses one.",
    ),
]
TrialName = Annotated[
    str | None, typer.Option("--trial", metavar="NAME", help="The trial; needed if there are several.")
]


@contextmanager
def one_trial(source: str, name: str | None, secret_file: str | None = None) -> Iterator[TrialInView]:
    """Yield the trial that a command is about."""
    with each_trial(source, name, alone=True, secret_file=secret_file) as (found,):
        yield found


@contextmanager
def each_trial(
    source: str, name: str | None, *, alone: bool = False, secret_file: str | None = None
) -> Iterator[list[TrialInView]]:
    """Yield the named trial or, without a name, all trials. If `alone` is true, there must be exactly one trial."""
    from adhere.trial import sources

    with damage_as_broken_log(), sources.each_trial(source, name, alone=alone, secret_file=secret_file) as found:
        yield found


@contextmanager
def every_trial(source: str) -> Iterator[ReadTransaction]:
    """Open a view of all trials in a source."""
    from adhere.trial import sources

    with damage_as_broken_log(), sources.every_trial(source) as view:
        yield view


@contextmanager
def damage_as_broken_log() -> Iterator[None]:
    """Report damage of a log or database like a broken log."""
    try:
        yield
    except DamagedStoreError as error:
        raise BrokenLogError(str(error)) from None


def progress(what: str, unit: str = "records") -> AbstractContextManager[Callable[[int], None]]:
    """Show a progress count on the terminal, if there is one. Call the result with the number of new items."""
    return counting(lambda n: f"{what} {n:,} {unit}")


@contextmanager
def writing_into(into: str, secret_file: str | None = None, *, exists: bool = False) -> Iterator[Store]:
    """Open the store to write into. If the command fails, no new file is left. If `exists`, the store must exist."""
    from adhere.store import open_store

    if exists and "://" not in into and not Path(into).exists():
        raise StoreError(f"{into} does not exist")
    store = open_store(into, secret_file=secret_file)
    try:
        yield store
    except BaseException:
        store.discard()
        raise
    store.close()


def store_name(into: str) -> str:
    """Return a name of a store that is safe to print: an address may contain a password."""
    return "PostgreSQL" if "://" in into else into
