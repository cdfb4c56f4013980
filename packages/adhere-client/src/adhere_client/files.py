"""Read files of designs, and write exports completely or not at all."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from adhere_client.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that is renamed to `path` when the block ends, and deleted if the block raises.

    Only the owner can read a new file. A file that is replaced keeps its permissions, and links to it stay valid.
    Devices and pipes are written to directly.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


class HasJson(Protocol):
    """The protocol of `adhere.Design`, which can be converted to JSON."""

    def to_json(self) -> str:
        """Return the fields of the design in JSON."""


AnyDesign: TypeAlias = str | PathLike[str] | Mapping[str, Any] | HasJson


def fields_of(design: AnyDesign) -> dict[str, Any]:
    """Return the given fields of a design, without the scenarios that a design's file may also contain."""
    found = _document(design).items()
    return {name: value for name, value in found if name != "scenarios" and value is not None}


def scenarios_of(design: AnyDesign) -> Any:
    """Return the scenarios in a design's file or mapping, or None if it has none."""
    return _document(design).get("scenarios")


def _document(design: AnyDesign) -> Mapping[str, Any]:
    if isinstance(design, (str, PathLike)):
        fields: Any = _read(Path(design))
    else:
        fields = design if isinstance(design, Mapping) else json.loads(design.to_json())
    if not isinstance(fields, Mapping):
        raise InputError("design", type(fields).__name__, "the fields of a design")
    return fields


def _read(path: Path) -> Any:
    read = {".toml": tomllib.loads, ".json": json.loads}.get(path.suffix.lower())
    if read is None:
        raise InputError("design", str(path), "a file that ends in .toml or .json")
    try:
        return read(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError("design", str(path), f"a file that can be read ({error.strerror})") from None
    except ValueError as error:
        raise InputError("design", str(path), f"valid {path.suffix[1:].upper()} ({error})") from None
