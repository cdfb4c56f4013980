"""Query parameters, after the question mark of an address: their allowed values, and functions that read them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl

from adhere.errors import InputError, short

_MAX_DIGITS = 15


def check_query(query: bytes, known: Sequence[str]) -> None:
    """Refuse parameters that a path does not take, because they may be misspelt."""
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            takes = f"this path takes {', '.join(known) or 'none'}"
            raise InputError(name, None, takes, f"unknown parameter {short(name)} after the question mark; {takes}")


def query_value(query: bytes, name: str, default: str, expected: str) -> str:
    """Return the value of a parameter, which may be given only once."""
    try:
        given = [value for known, value in parse_qsl(query.decode(), keep_blank_values=True) if known == name]
    except ValueError:
        raise InputError(name, repr(query), expected) from None
    if len(given) > 1:
        raise InputError(name, given[-1], expected, f"{name} is given {len(given)} times; send it once")
    return given[0] if given else default


def query_number(query: bytes, name: str, default: int = 0) -> int:
    """Return the value of a parameter that is a whole number."""
    expected = f"a whole number of at most {_MAX_DIGITS} digits"
    text = query_value(query, name, str(default), expected)
    if text == str(default):
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise InputError(name, text, expected)
    return int(text)


@dataclass(frozen=True)
class Choice:
    """A parameter with a fixed set of words, the default first."""

    values: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """Return the schema for the OpenAPI document."""
        return {"enum": list(self.values), "default": self.values[0]}

    def read(self, query: bytes, name: str) -> str:
        """Return the word in an address, or the default if the parameter is missing."""
        expected = f"one of {', '.join(self.values)}"
        word = query_value(query, name, self.values[0], expected)
        if word not in self.values:
            raise InputError(name, word, expected)
        return word


@dataclass(frozen=True)
class Number:
    """A parameter that is a number in a range, either a whole number or any number."""

    least: float
    most: float
    whole: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """Return the schema for the OpenAPI document."""
        return {"type": "integer" if self.whole else "number", "minimum": self.least, "maximum": self.most}

    def read(self, query: bytes, name: str, default: float) -> float:
        """Return the number in an address, or the default if the parameter is missing."""
        expected = f"a {'whole ' if self.whole else ''}number from {self.least:,} to {self.most:,}"
        text = query_value(query, name, "", expected)
        if not text:
            return default
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            raise InputError(name, text, expected) from None
        if "_" in text or not self.least <= value <= self.most:  # the comparison also refuses NaN
            raise InputError(name, text, expected)
        return value


@dataclass(frozen=True)
class Text:
    """A parameter that is a text of limited length."""

    meaning: str
    max_length: int = 200

    @property
    def schema(self) -> dict[str, Any]:
        """Return the schema for the OpenAPI document."""
        return {"type": "string", "maxLength": self.max_length, "description": self.meaning}


Parameter: TypeAlias = Choice | Number | Text
WHOLE_NUMBER: Final = Number(0, 10**_MAX_DIGITS - 1, whole=True)
