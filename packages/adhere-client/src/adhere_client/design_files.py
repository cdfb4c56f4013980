"""The fields of a design, from a file or a value."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from adhere_client.errors import InputError


class HasJson(Protocol):
    """A design as adhere has it."""

    def to_json(self) -> str:
        """Its fields in JSON."""


AnyDesign: TypeAlias = str | PathLike[str] | Mapping[str, Any] | HasJson


def fields_of(design: AnyDesign) -> dict[str, Any]:
    """The fields of a design; what to simulate it with, which may stand beside them in a file, is not sent."""
    return {name: value for name, value in _document(design).items() if name != "scenarios"}


def scenarios_of(design: AnyDesign) -> Any:
    """What to simulate it with, where that stands beside its fields."""
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
