"""Errors as problem documents (RFC 9457), with the field, its value and what was expected."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from adhere.errors import ConflictError, InputError, UnknownError

MEDIA_TYPE: Final = "application/problem+json"
_MAX_VALUE_LENGTH, _MAX_DETAIL_LENGTH = 120, 1000
_PLACE = re.compile(r" - at (?:key in )?`\$?(.*)`$")
_WHOLE = re.compile(r"(\d)\.0\b")
_WORDS: Final = {
    "`float": "`a number",
    "`int": "`a whole number",
    "`str": "`text",
    "`bool": "`true or false",
    "`array": "`a list",
    "`object": "`an object",
    "`datetime": "`a time",
    " | null": ", or nothing",
    ">=": "at least",
    "<=": "at most",
    " > ": " greater than ",
}
# What msgspec says without naming what it expects.
_EXPECTED: Final = {
    "`bool | float`": "a number from 0 to 1, true or false",  # a reward
    "`bool | float | null`": "a number from 0 to 1, true or false",
    "Number out of range": "a number from -1.8e308 to 1.8e308",
    "Integer value out of range": "a whole number of fewer digits",
    "Invalid RFC3339 encoded datetime": "a time such as 2026-03-01T09:30:00Z",
}
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")

# Each kind of problem: its status and title. The kind is the end of the problem's type.
KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "malformed": (400, "Malformed request"),
    "unauthenticated": (401, "Unauthenticated"),
    "forbidden": (403, "Forbidden"),
    "unknown": (404, "Not found"),
    "method": (405, "Method not allowed"),
    "timeout": (408, "Request timeout"),
    "conflict": (409, "Conflict"),
    "too-large": (413, "Request body too large"),
    "media-type": (415, "Unsupported media type"),
    "invalid": (422, "Invalid value"),
    "too-many": (429, "Too many requests"),
    "internal": (500, "Internal server error"),
    "unavailable": (503, "Service unavailable"),
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    value: str | None = None
    expected: str | None = None


class ProblemError(Exception):
    """An error that is sent to the client as a problem document; `more` are its field, value and expected."""

    def __init__(
        self, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **more: str | None
    ) -> None:
        self.kind, self.headers = kind, headers or {}
        self.status, title = KINDS[kind]
        short = _short(detail, _MAX_DETAIL_LENGTH)
        self.body = Problem(f"urn:adhere:problem:{kind}", title, self.status, short, **more)
        super().__init__(detail)

    def encoded(self) -> bytes:
        """The body in JSON."""
        return msgspec.json.encode(self.body)


def input_problem(error: InputError) -> ProblemError:
    """A refused value, as a problem."""
    kind = {UnknownError: "unknown", ConflictError: "conflict"}.get(type(error), "invalid")
    value, expected = shown(error.value), _short(error.expected, _MAX_DETAIL_LENGTH)
    detail = f"{error.field}: got {value}, expected {expected}"
    return ProblemError(kind, detail, field=error.field, value=value, expected=expected)


def body_problem(error: msgspec.DecodeError, raw: bytes) -> ProblemError:
    """A body that is not JSON, or not of the expected type; msgspec says where (``… - at `$.reward```)."""
    message = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return ProblemError("malformed", f"the body is no JSON that can be read: {message}", field="body")
    at = _PLACE.search(message)
    field = at.group(1).lstrip(".") if at else ""
    what = message[: at.start()] if at else message
    value = _value_at(raw, at.group(1)) if at else None
    named = re.search(r" (missing required|unknown) field `(.*)`$", what)
    if named:
        field, value = f"{field}.{named.group(2)}".lstrip("."), None
        expected = "a value, which is missing" if named.group(1) == "missing required" else "no such field"
    elif what.startswith("Invalid enum value"):
        expected = "one of those in /openapi.json"
    else:
        expected = in_words(what.removeprefix("Expected ").partition(", got")[0])
    field = field or "body"
    got = f"got {value}, " if value is not None else ""
    return ProblemError("invalid", f"{field}: {got}expected {expected}", field=field, value=value, expected=expected)


def in_words(expected: str) -> str:
    """What msgspec expects, in words.

    >>> in_words("`float` <= 1.0")
    'a number at most 1'
    """
    if expected in _EXPECTED:
        return _EXPECTED[expected]
    for code, words in _WORDS.items():
        expected = expected.replace(code, words)
    return _WHOLE.sub(r"\1", expected.replace("`", ""))


def shown(value: object) -> str:
    """A value as short text that can be sent."""
    if isinstance(value, str):
        return _short(value, _MAX_VALUE_LENGTH)
    try:
        return _short(repr(value), _MAX_VALUE_LENGTH)
    except ValueError:  # a whole number of more digits than Python prints
        return "a very large number"


def _short(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short.encode("utf-8", "backslashreplace").decode()


def _number(text: str) -> float | str:
    """A number, or its text if it is too large for one."""
    value = float(text)
    return value if math.isfinite(value) else text


_decoder = msgspec.json.Decoder(float_hook=_number)


def _value_at(raw: bytes, place: str) -> str | None:
    try:
        value: Any = _decoder.decode(raw)
        for name, number in _STEP.findall(place):
            value = value[int(number)] if number else value[name]
    except (msgspec.DecodeError, LookupError, RecursionError, TypeError, ValueError):
        return None
    return None if isinstance(value, (dict, list)) else shown(value)
