"""Every error as a problem of RFC 9457: what went wrong, in which field, with which value, and what was expected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from adhere.errors import ConflictError, InputError, UnknownError

MEDIA_TYPE: Final = "application/problem+json"
_LONGEST_VALUE, _LONGEST_DETAIL = 120, 1000
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
}
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")

# Each kind of problem: its status and title. The kind is the end of the problem's type.
KINDS: Final[Mapping[str, tuple[int, str]]] = {
    "malformed": (400, "The request cannot be read"),
    "unauthenticated": (401, "A valid token is needed"),
    "forbidden": (403, "This token may not do that"),
    "unknown": (404, "There is no such thing"),
    "method": (405, "This address takes other methods"),
    "conflict": (409, "What happened before forbids it"),
    "too-large": (413, "The body is too large"),
    "media-type": (415, "The body must be JSON"),
    "invalid": (422, "A value cannot be used"),
    "too-many": (429, "Too many requests"),
    "internal": (500, "Something went wrong here"),
    "unavailable": (503, "Nothing can be written now"),
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem as it is sent (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    value: str | None = None
    expected: str | None = None


class ProblemError(Exception):
    """An error on its way to the client."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        field: str | None = None,
        value: str | None = None,
        expected: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.kind, self.headers = kind, headers or {}
        self.status, title = KINDS[kind]
        self.body = Problem(
            f"urn:adhere:problem:{kind}", title, self.status, _short(detail, _LONGEST_DETAIL), field, value, expected
        )
        super().__init__(detail)

    def encoded(self) -> bytes:
        """The body in JSON."""
        return msgspec.json.encode(self.body)


def problem_of(error: InputError) -> ProblemError:
    """What a trial refused, as a problem."""
    kind = (
        "unknown"
        if isinstance(error, UnknownError)
        else "conflict"
        if isinstance(error, ConflictError)
        else "invalid"
    )
    value, expected = shown(error.value), _short(error.expected, _LONGEST_DETAIL)
    detail = f"{error.field}: got {value}, expected {expected}"
    return ProblemError(kind, detail, field=error.field, value=value, expected=expected)


def problem_of_body(error: msgspec.DecodeError, raw: bytes) -> ProblemError:
    """A body that is no JSON, or not of the shape expected; msgspec says where (``… - at `$.reward```)."""
    said = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return ProblemError("malformed", f"the body is no JSON that can be read: {said}", field="body")
    found = _PLACE.search(said)
    field = found.group(1).lstrip(".") if found else ""
    what = said[: found.start()] if found else said
    value = _value_at(raw, found.group(1)) if found else None
    named = re.search(r" (missing required|unknown) field `(.*)`$", what)
    if named:
        field, value = f"{field}.{named.group(2)}".lstrip("."), None
        expected = "a value, which is missing" if named.group(1) == "missing required" else "no such field"
    else:
        expected = _in_words(what.removeprefix("Expected ").partition(", got")[0])
    field = field or "body"
    got = f"got {value}, " if value is not None else ""
    return ProblemError("invalid", f"{field}: {got}expected {expected}", field=field, value=value, expected=expected)


def _in_words(expected: str) -> str:
    """What msgspec expects, for people.

    >>> _in_words("`float` <= 1.0")
    'a number at most 1'
    """
    for code, words in _WORDS.items():
        expected = expected.replace(code, words)
    return _WHOLE.sub(r"\1", expected.replace("`", ""))


def shown(value: object) -> str:
    """A value as text, shortened, on one line and without what cannot be sent."""
    if isinstance(value, str):
        return _short(value, _LONGEST_VALUE)
    try:
        return _short(repr(value), _LONGEST_VALUE)
    except ValueError:  # a whole number of more digits than Python prints
        return "a very large number"


def _short(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short.encode("utf-8", "backslashreplace").decode()


def _value_at(raw: bytes, place: str) -> str | None:
    try:
        value: Any = msgspec.json.decode(raw)
        for name, number in _STEP.findall(place):
            value = value[int(number)] if number else value[name]
    except (msgspec.DecodeError, LookupError, RecursionError, TypeError, ValueError):
        return None
    return None if isinstance(value, (dict, list)) else shown(value)
