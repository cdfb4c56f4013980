"""Handle output files and folders: check them before the work, and write them completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from adhere.cli.options import STANDARD_OUTPUT
from adhere.errors import InputError, joined
from adhere.files import is_device, replacing

if TYPE_CHECKING:
    import polars

# By option: the suffixes that the file's name may have, and the libraries of the report extra that it needs.
_SUFFIXES: Mapping[str, Sequence[str]] = {
    "--out": (".toml", ".json"),
    "--plot": (".png", ".svg", ".pdf"),
    "--runs-to": (".csv", ".parquet"),
    "--table": (".csv", ".parquet"),
}
_NEEDED: Mapping[str, Sequence[str]] = {"--html": ("matplotlib", "jinja2"), "--plot": ("matplotlib",)}


def check_file(option: str, path: Path) -> None:
    """Refuse a file that cannot be written."""
    if path.is_dir():
        raise InputError(option, str(path), "a file, not a folder")
    if path.exists() and not os.access(path, os.W_OK):
        sentence = f"{option}: no permission to write {path}"
        raise InputError(option, str(path), "a writable file", sentence)
    if not is_device(path):
        _check_parent(option, path)


def check_folder(option: str, path: Path) -> None:
    """Refuse a folder that cannot be created or written to."""
    if path.exists() and not path.is_dir():
        raise InputError(option, str(path), "a folder, not a file")
    if path.is_dir() and not os.access(path, os.W_OK):
        sentence = f"{option}: no permission to write in folder {path}"
        raise InputError(option, str(path), "a writable folder", sentence)
    if not path.exists():
        _check_parent(option, path)


def table_file(table: polars.DataFrame, path: Path) -> bytes:
    """Return the content of a table's file, as CSV or Parquet by its suffix."""
    file = BytesIO()
    if path.suffix.lower() == ".csv":
        table.write_csv(file)
    else:
        table.write_parquet(file)
    return file.getvalue()


def check_outputs(
    outputs: Mapping[str, Path | str | None], inputs: Iterable[Path] = (), read_as: str | None = None
) -> None:
    """Check before the work that its results can be stored.

    Refuse an output that is also another output or an input file (called `read_as` in the error, if given).
    """
    taken: dict[Path, str] = {}
    inputs = [one for one in inputs if one.is_file()]
    for option, given in outputs.items():
        if given is None or (option == "--json" and given == STANDARD_OUTPUT):
            continue
        path = Path(given)
        _check_output(option, path)
        if (other := taken.setdefault(path.resolve(), option)) != option:
            raise InputError(option, str(path), f"another file than {other}")
        for one in inputs:
            if path.exists() and path.samefile(one):
                raise InputError(option, str(path), f"another file than {read_as or f'{one}, which is read'}")


def _check_output(option: str, path: Path) -> None:
    """Refuse a file that cannot be created or written."""
    suffixes = _SUFFIXES.get(option)
    if suffixes is not None and path.suffix.lower() not in suffixes:
        raise InputError(option, str(path), f"a file ending in {joined(suffixes, 'or')}")
    if option == "--html" and str(path) == STANDARD_OUTPUT:
        raise InputError(option, STANDARD_OUTPUT, "a file: a page is not for a terminal")
    check_file(option, path)
    try:
        for name in _NEEDED.get(option, ()):
            import_module(name)
    except ImportError:
        sentence = f"{option} needs the report extra: pip install 'adhere[report]' (in a checkout: '.[report]')"
        raise InputError(option, str(path), "the report extra", sentence) from None


def print_results(summary: str, as_json: str, json_file: str | None) -> dict[Path, bytes]:
    """Print results, as JSON if JSON goes to standard output. Return the content of the JSON file, if there is one.

    Results are printed before files are written, so that a full disk does not cost them.
    """
    typer.echo(as_json if json_file == STANDARD_OUTPUT else summary, nl=False)
    return {} if json_file in (None, STANDARD_OUTPUT) else {Path(json_file): as_json.encode()}


def _check_parent(option: str, path: Path) -> None:
    parent = path.absolute().parent
    if not parent.is_dir():
        why = f"{parent} is not a folder" if parent.exists() else f"folder {parent} does not exist"
        sentence = f"{option}: {path} cannot be written; {why}"
        raise InputError(option, str(path), "a file in an existing folder", sentence)
    if not os.access(parent, os.W_OK | os.X_OK):
        sentence = f"{option}: {path} cannot be written; no permission to write in folder {parent}"
        raise InputError(option, str(path), "a file in a writable folder", sentence)


def write_files(contents: Mapping[Path, bytes], before: Callable[[], object] = lambda: None) -> None:
    """Write every file beside its final place, call `before`, and only then move all files into place."""
    with ExitStack() as stack:
        for path, content in contents.items():
            if not is_device(path):
                _write_bytes(stack.enter_context(replacing(path)), content, path)
        before()
    for path, content in contents.items():
        if is_device(path):
            _write_bytes(path, content, path)


def _write_bytes(path: Path, content: bytes, asked_for: Path) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError("file", str(asked_for), f"a file that may be written ({error.strerror})") from None
