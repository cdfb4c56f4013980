"""Reading a request: the headers that matter, who asks, and the body, counted while it comes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.types import Receive

from adhere.service.problems import ProblemError, problem_of_body, shown

_KEY = re.compile(rb"[\x21-\x7e]{1,200}")
_WANTED = frozenset({b"authorization", b"content-type", b"content-length", b"idempotency-key"})
_JSON = b"application/json"


class GoneError(Exception):
    """The client went away before its request was whole."""


def wanted(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """The headers that matter, each of which may come once."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _WANTED:
            if name in found:
                text = name.decode()
                raise ProblemError(
                    "malformed", f"the header {text} came more than once", field=text, expected="it once"
                )
            found[name] = value
    return found


def request_id(headers: dict[bytes, bytes]) -> str:
    """The id a client gave its request, so that it may send it again."""
    key = headers.get(b"idempotency-key", b"")
    if _KEY.fullmatch(key):
        return key.decode("ascii")
    expected = "1 to 200 visible ASCII characters, a new id for each request and the same for its repetition"
    raise ProblemError(
        "malformed",
        f"the header Idempotency-Key must be {expected}",
        field="Idempotency-Key",
        value=shown(key.decode("latin-1")) if key else None,
        expected=expected,
    )


async def body_of(
    receive: Receive, headers: dict[bytes, bytes], decoder: msgspec.json.Decoder[Any], most: int
) -> Any:
    """The body, looked over and taken apart."""
    media = headers.get(b"content-type", b"")
    if media != _JSON and media.partition(b";")[0].strip().lower() != _JSON:
        got = shown(media.decode("latin-1"))
        detail = f"the body must be application/json, not {got or 'of a kind that is not said'}"
        raise ProblemError("media-type", detail, field="Content-Type", value=got, expected="application/json")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 18 or int(length) > most):
        raise _too_large(most)
    raw = await _read(receive, most)
    try:
        return decoder.decode(raw)
    except msgspec.DecodeError as error:
        raise problem_of_body(error, raw) from None
    except (UnicodeDecodeError, RecursionError):
        raise ProblemError("malformed", "the body is no JSON in UTF-8 that can be read", field="body") from None


async def _read(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        if not message.get("more_body"):
            return b"".join((*parts, part)) if parts else part
        parts.append(part)


def _too_large(most: int) -> ProblemError:
    # What is left of the body is not read, so the connection cannot be used again.
    return ProblemError(
        "too-large",
        f"the body is larger than {most} bytes",
        field="body",
        expected=f"at most {most} bytes",
        headers={"connection": "close"},
    )
