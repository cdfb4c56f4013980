"""Parameters after the question mark of an address."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl

from adhere.errors import InputError, short

_MAX_DIGITS = 15


def check_query(query: bytes, known: Sequence[str]) -> None:
    """Refuse a parameter that a path does not take: it may be a misspelt one that it does."""
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            takes = f"this path takes {', '.join(known) or 'none'}"
            raise InputError(name, None, takes, f"unknown parameter {short(name)} after the question mark; {takes}")


def query_value(query: bytes, name: str, default: str, expected: str) -> str:
    """The value of a parameter, which may be given once."""
    try:
        given = [value for known, value in parse_qsl(query.decode(), keep_blank_values=True) if known == name]
    except ValueError:
        raise InputError(name, repr(query), expected) from None
    if len(given) > 1:
        raise InputError(name, given[-1], expected, f"{name} is given {len(given)} times; send it once")
    return given[0] if given else default


def query_number(query: bytes, name: str, default: int = 0) -> int:
    """The value of a parameter that is a whole number."""
    expected = f"a whole number of at most {_MAX_DIGITS} digits"
    text = query_value(query, name, str(default), expected)
    if text == str(default):
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise InputError(name, text, expected)
    return int(text)
