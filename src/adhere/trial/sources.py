"""Find trials in a SQLite file, at a PostgreSQL address, or in an exported log."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from adhere.errors import DamagedStoreError, InputError, listed, nearest
from adhere.store import ReadTransaction, open_store
from adhere.store.secret_file import SecretFile
from adhere.trial.log.log_file import read_log

_SQLITE = b"SQLite format 3\x00"


class TrialInView(NamedTuple):
    """A trial in an open view."""

    view: ReadTransaction
    number: int
    name: str


@contextmanager
def one_trial(source: str, name: str | None, option: str = "--trial") -> Iterator[TrialInView]:
    """Yield the trial with a name, or the only trial there is. `option` is the option that error messages suggest."""
    with each_trial(source, name, alone=True, option=option) as (found,):
        yield found


@contextmanager
def each_trial(
    source: str,
    name: str | None,
    *,
    alone: bool = False,
    option: str = "--trial",
    secret_file: str | None = None,
) -> Iterator[list[TrialInView]]:
    """Yield the trial that was asked for, or all trials. If `alone` is true, raise an error unless exactly one is
    meant.
    """
    with every_trial(source, secret_file) as view:
        numbers = view.trials()
        if not numbers:
            raise InputError("trial", name or source, "a trial; there is none yet")
        if name is None and alone and len(numbers) > 1:
            names = listed(numbers)
            sentence = f"several trials here; choose one with {option}: {names}"
            raise InputError(option, None, f"one of {names}", sentence)
        if name is not None and name not in numbers:
            raise InputError(option, name, nearest(name, numbers))
        yield [TrialInView(view, numbers[known], known) for known in (numbers if name is None else [name])]


@contextmanager
def every_trial(source: str, secret_file: str | None = None) -> Iterator[ReadTransaction]:
    """Open a view of everything in a source. Raise `DamagedStoreError` for a damaged log or database."""
    if not is_log_file(source):
        store = open_store(source, read_only=True, secret_file=secret_file)
        with closing(store), store.reading() as view:
            yield view
        return
    with tempfile.TemporaryDirectory() as folder, closing(open_store(Path(folder) / "log.db")) as copy:
        _, fault = read_log(Path(source), copy)
        if fault:
            raise DamagedStoreError(str(fault))
        copy.secret_file = None if secret_file is None else SecretFile(secret_file)
        with copy.reading() as view:
            yield view


def is_log_file(source: str) -> bool:
    """Return whether a source is an exported log, not a database file or an address."""
    return "://" not in source and not _begins(source, _SQLITE)


def is_table_file(source: str) -> bool:
    """Return whether a source is a table, not a log, a database file or an address. The first bytes of the file
    decide.
    """
    return "://" not in source and not _begins(source, _SQLITE) and not _begins(source, b"{")


def is_log(path: Path) -> bool:
    """Return whether a file is a log, not a table. Its first line decides, not its name."""
    return _begins(str(path), b"{")


def _begins(source: str, start: bytes) -> bool:
    path = Path(source)
    if not path.is_file():
        why = "does not exist"
        if path.exists():  # a pipe can be read only once, so its content cannot be inspected first
            is_folder = "is a folder: give the name of a file in it"
            why = is_folder if path.is_dir() else "is a pipe or a device: save its content as a file"
        raise InputError("source", source, "a file, or postgresql://…", f"{source} {why}" if source else "")
    with path.open("rb") as file:
        return file.read(len(start)) == start
