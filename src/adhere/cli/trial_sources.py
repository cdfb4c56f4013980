"""Where the commands on live trials find them: a SQLite file, a PostgreSQL address, or a log that was exported."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from adhere.cli.endings import BrokenLogError
from adhere.errors import DamagedStoreError, InputError, listed, nearest

if TYPE_CHECKING:
    from adhere.store import ReadTransaction

_SQLITE = b"SQLite format 3\x00"

Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|URL",
        help="A file of trials, a log that 'adhere trial export' wrote, or postgresql://…",
    ),
]
TrialName = Annotated[
    str | None, typer.Option("--trial", metavar="NAME", help="Which trial; needed if there are several.")
]


class TrialInView(NamedTuple):
    """A trial in an open view."""

    view: ReadTransaction
    number: int
    name: str


@contextmanager
def one_trial(source: str, name: str | None) -> Iterator[TrialInView]:
    """The trial a command is about."""
    with each_trial(source, name, alone=True) as (found,):
        yield found


@contextmanager
def each_trial(source: str, name: str | None, *, alone: bool = False) -> Iterator[list[TrialInView]]:
    """The trial that was asked for, or all there are; with `alone` it must be clear which one is meant."""
    with every_trial(source) as view:
        numbers = view.trials()
        if not numbers:
            raise InputError("trial", name or source, "a trial; there is none yet")
        if name is None and alone and len(numbers) > 1:
            names = listed(numbers)
            sentence = f"several trials here; choose one with --trial: {names}"
            raise InputError("--trial", None, f"one of {names}", sentence)
        if name is not None and name not in numbers:
            raise InputError("--trial", name, nearest(name, numbers))
        yield [TrialInView(view, numbers[known], known) for known in (numbers if name is None else [name])]


@contextmanager
def every_trial(source: str) -> Iterator[ReadTransaction]:
    """A view of everything in a source; raises a `BrokenLogError` for a log or a database that is not whole."""
    from adhere.store import open_store
    from adhere.trial.log.log_file import read_log

    if not is_log_file(source):
        try:
            with closing(open_store(source, read_only=True)) as store, store.reading() as view:
                yield view
        except DamagedStoreError as error:
            raise BrokenLogError(str(error)) from None
        return
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "log.db")) as copy:
        _, fault = read_log(Path(source), copy)
        if fault:
            raise BrokenLogError(str(fault))
        with copy.reading() as view:
            yield view


def is_log_file(source: str) -> bool:
    """Whether a source is a log that was exported rather than a file of trials or an address."""
    if "://" in source:
        return False
    path = Path(source)
    if not path.is_file():
        sentence = (
            f"{source} is a folder: give the name of a file in it" if path.is_dir() else f"{source} does not exist"
        )
        raise InputError("source", source, "a file, or postgresql://…", sentence if source else "")
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) != _SQLITE


def is_log(path: Path) -> bool:
    """Whether a file is a log rather than a table: by its first line, whatever it is called."""
    with path.open("rb") as file:
        return file.read(1) == b"{"


@contextmanager
def bar(what: str, unit: str = "records") -> Iterator[Callable[[int], None]]:
    """A progress count on the terminal, if there is one; call it with the number of further items."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(f"{what} {{task.completed:,.0f}} {unit}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda n: shown.advance(task, n)
