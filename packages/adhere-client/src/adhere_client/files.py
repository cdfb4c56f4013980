"""Files: those of designs, which are read, and those of exports, which are written completely or not at all."""

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
    """A file for its owner only, renamed to `path` when the block ends and deleted when it raises.

    Permissions of a file that is replaced are kept, and a link goes on pointing to it. A device or a pipe is written
    into.
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
    """A design as adhere has it."""

    def to_json(self) -> str:
        """Its fields in JSON."""


AnyDesign: TypeAlias = str | PathLike[str] | Mapping[str, Any] | HasJson


def fields_of(design: AnyDesign) -> dict[str, Any]:
    """Return the fields of a design that are given: scenarios, which may be beside them in a file, are not sent."""
    found = _document(design).items()
    return {name: value for name, value in found if name != "scenarios" and value is not None}


def scenarios_of(design: AnyDesign) -> Any:
    """Return the scenarios beside the fields of a design, or None if it has none."""
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
