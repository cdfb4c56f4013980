"""Errors as problem documents (RFC 9457), with the field, its value and what was expected."""

import math
from collections.abc import Mapping
from typing import Final

import msgspec

from adhere.errors import ConflictError, InputError, SourceError, UnknownError

MEDIA_TYPE: Final = "application/problem+json"
_MAX_VALUE_LENGTH, _MAX_DETAIL_LENGTH = 120, 1000

# The status and title of each kind of problem. The kind is the last part of the problem's type.
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
    recommendation_id: str | None = None


class ProblemError(Exception):
    """An error that is sent to the client as a problem document. `more` contains optional fields of `Problem`.

    `retry_after` is the number of seconds after which the same request may succeed, sent in the header Retry-After.
    """

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        retry_after: float | None = None,
        headers: Mapping[str, str] | None = None,
        **more: str | None,
    ) -> None:
        self.kind, self.headers = kind, dict(headers or {})
        if retry_after is not None:
            self.headers["retry-after"] = str(max(1, math.ceil(retry_after)))
        self.status, title = KINDS[kind]
        short = _short(detail, _MAX_DETAIL_LENGTH)
        self.body = Problem(f"urn:adhere:problem:{kind}", title, self.status, short, **more)
        super().__init__(detail)

    def encoded(self) -> bytes:
        """Return the body in JSON."""
        return msgspec.json.encode(self.body)


def input_problem(error: InputError) -> ProblemError:
    """Return the problem for a refused value."""
    if isinstance(error, SourceError):
        return ProblemError("invalid", str(error), field="policy")
    kind = {UnknownError: "unknown", ConflictError: "conflict"}.get(type(error), "invalid")
    value, expected = shown(error.value), _short(error.expected, _MAX_DETAIL_LENGTH)
    about = error.recommendation_id if isinstance(error, ConflictError) else None
    return ProblemError(
        kind, error.sentence, field=error.field, value=value, expected=expected, recommendation_id=about
    )


def shown(value: object) -> str:
    """Return a value as short text that can be sent."""
    if isinstance(value, str):
        return _short(value if value.isprintable() else ascii(value), _MAX_VALUE_LENGTH)
    try:
        return _short(repr(value), _MAX_VALUE_LENGTH)
    except ValueError:  # an integer with more digits than Python prints
        return "a very large number"


def _short(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short.encode("utf-8", "backslashreplace").decode()
