"""A design as text: what differs from the defaults, and the digest of that."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import tomli_w

from adhere.errors import short


def plain(part: Any) -> Any:
    """A design, or a part of one, as dictionaries, lists, numbers and texts, without what has its default value."""
    if isinstance(part, msgspec.Struct):
        told = {
            field.name: value
            for field in msgspec.structs.fields(part)
            if (value := getattr(part, field.name)) != _default(field)
        }
        return plain(told)
    if isinstance(part, Mapping):
        return {name: plain(value) for name, value in part.items()}
    if isinstance(part, (tuple, list)):
        return [plain(value) for value in part]
    return part.item() if isinstance(part, np.generic) else part


def digest_of(design: msgspec.Struct) -> str:
    """The SHA-256 of a design in JSON with sorted names and without defaults."""
    return hashlib.sha256(msgspec.json.encode(plain(design), order="sorted")).hexdigest()


def json_of(design: msgspec.Struct) -> str:
    """A design in JSON, one line for each field."""
    return msgspec.json.format(msgspec.json.encode(plain(design)), indent=2).decode() + "\n"


def toml_of(design: msgspec.Struct) -> str:
    """A design in TOML, its own fields first."""
    return tomli_w.dumps(plain(design))


def difference(design: msgspec.Struct, other: msgspec.Struct) -> str:
    """Which field of two designs differs first, in words; nothing if none does."""
    for field in msgspec.structs.fields(design):
        mine, theirs = (plain(getattr(one, field.name)) for one in (design, other))
        if mine != theirs:
            return f"{field.name} is {short(mine)}, there {short(theirs)}"
    return ""


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
