"""Read a design in TOML or JSON from a file, text or a mapping.

The fields of the file are those of `Design`. The file may also have a table `scenarios`, with the populations to
simulate the design with. That table is not part of the design.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from adhere.decode_errors import read_json
from adhere.design.design import Design
from adhere.design.make_design import checked, design_of
from adhere.errors import InputError, short
from adhere.files import unreadable

_BESIDE = "scenarios"
_EXPECTED = "a file (.toml or .json), its text in several lines, or a mapping"
_NO_SEED = "a design has no seed: it is drawn when a trial is created, or given then"


DesignLike: TypeAlias = Design | str | PathLike[str] | Mapping[str, Any]


def load_design(source: DesignLike) -> Design:
    """Read and check a design.

    Parameters
    ----------
    source : Design, mapping, path or str
        Design, mapping of its fields, path of a ``.toml`` or ``.json`` file, or the text of such a file. Import
        policies of your own first.

    Returns
    -------
    Design
        Valid design.

    Raises
    ------
    InputError
        If a field is unknown or has a wrong value. The message names the field.

    See Also
    --------
    Design : The fields of a design.
    evaluate : Simulate trials of a design.

    Examples
    --------
    >>> design = load_design('''
    ... name = "headache"
    ... policy = "thompson"
    ... arms = ["walk", "aspirin"]
    ... n_patients = 300
    ... looks.every = 100
    ... ''')
    >>> design.looks.every, load_design(design.to_toml()) == design
    (100, True)

    """
    if isinstance(source, Design):
        return checked(source)
    if isinstance(source, Mapping):
        return _design(source)
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return _design(design_document(source))
    if not isinstance(source, (str, PathLike)):
        raise InputError("design", source, _EXPECTED)
    path = Path(source)
    if path.suffix.lower() not in (".toml", ".json"):
        raise InputError("design", str(path), _EXPECTED)
    try:
        document = _document(partial(read_document, path), str(path), is_json=path.suffix.lower() == ".json")
    except OSError as error:
        raise unreadable("design", path, error) from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), error.object[error.start : error.end], "UTF-8 text") from None
    try:
        return _design(document)
    except InputError as error:
        raise InputError(error.field, error.value, error.expected, f"{path}: {error}") from None


def design_document(text: str) -> Mapping[str, Any]:
    """Return the content of a design's text in TOML or JSON: the design's fields, and `scenarios` if it is there.

    >>> design_document('name = "headache"')
    {'name': 'headache'}
    """
    is_json = text.lstrip().startswith("{")
    return _document(partial(read_json if is_json else tomllib.loads, text), "design", is_json)


def read_document(path: Path) -> Any:
    """Return the content of a .toml or .json file. A command needs it several times, so it is cached."""
    stat = path.stat()
    return _parsed(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)
def _parsed(path: Path, changed: int, size: int) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    return read_json(text) if path.suffix.lower() == ".json" else tomllib.loads(text)


def _document(read: Callable[[], Any], where: str, is_json: bool) -> Mapping[str, Any]:
    try:
        found = read()
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:  # bad syntax, a number too long, or lists nested too deeply
        raise InputError(where, str(error), f"valid {'JSON' if is_json else 'TOML'}") from None
    if not isinstance(found, dict):
        raise InputError(where, short(found), "an object with the fields of a design")
    return found


def _design(document: Mapping[str, Any]) -> Design:
    fields = {name: value for name, value in document.items() if name != _BESIDE}
    if "seed" in fields:
        raise InputError("seed", fields["seed"], "no seed", f"seed: {_NO_SEED}")
    return design_of(fields)
