"""Parameters of an address that are numbers or free text: what they may be, and how they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adhere.errors import InputError
from adhere.service.api.queries import query_value


@dataclass(frozen=True)
class Number:
    """A number in a range, whole or not."""

    least: float
    most: float
    whole: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """Of the OpenAPI document."""
        return {"type": "integer" if self.whole else "number", "minimum": self.least, "maximum": self.most}

    def read(self, query: bytes, name: str, default: float) -> float:
        """The number in an address; the default if it is not given."""
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
    """A text of some length."""

    meaning: str
    max_length: int = 200

    @property
    def schema(self) -> dict[str, Any]:
        """Of the OpenAPI document."""
        return {"type": "string", "maxLength": self.max_length, "description": self.meaning}
