"""Lists that a caller gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adhere_client.errors import InputError


def list_of(field: str, values: Iterable[Any], of: str) -> list[Any]:
    """Several values; a text is one, and its letters would be taken for many."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(field, values, f"a list of {of}")
    return list(values)
