"""Parse a request: path parameters, headers and the body. The body's size is limited while it is read."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from starlette.types import Receive

from adhere.decode_errors import misfit, unique_names, without_null
from adhere.errors import InputError, UnknownError
from adhere.service.http.http_protocol import USED_HEADERS
from adhere.service.http.problems import ProblemError, shown
from adhere.trial.secret.recommendation_ids import parse_id
from adhere.trial.verbs.context import unknown_recommendation

_KEY = re.compile(rb"[\x21-\x7e]{1,200}")
_JSON = b"application/json"
_MAX_DIGITS = 15
_EXAMPLE = "3f0c9a52-6d1e-4f7b-9c58-2f1d7a40b6e1"
_NO_KEY = (
    "the header Idempotency-Key is missing: a request sent twice under one key is executed once; "
    f"send a new one with each request and the same again with its repetition, e.g. Idempotency-Key: {_EXAMPLE}"
)


class BodyDecoder:
    """The decoder of a route's request bodies, which raises a `ProblemError` for an invalid body."""

    def __init__(self, body: type) -> None:
        self._body = body
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(body).decode
        # Every name that may occur in a body, in JSON's quotes.
        self._names = tuple(f'"{name}"'.encode() for name in _names(msgspec.inspect.type_info(body)))

    def decode(self, raw: bytes) -> Any:
        """Return the decoded and validated body."""
        try:
            found = self._decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _body_problem(error, raw, self._body) from None
        # If a name occurs twice, msgspec uses the last value. Parsing again is slow, so check first if it is needed.
        if raw.count(b":") > 1 and self._may_repeat(raw):
            problem = _parsed(raw)
            if isinstance(problem, ProblemError):
                raise problem
        return found

    def _may_repeat(self, raw: bytes) -> bool:
        for name in self._names:
            if raw.count(name) > 1:
                return True
        return b"\\" in raw  # a name may contain escapes


class DisconnectedError(Exception):
    """The error for a client that disconnected before its request was complete."""


def parse_trial(parameters: dict[str, str]) -> str:
    """Return the trial's name, normalised in the form in which names are stored."""
    name = parameters["trial"]
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def parse_number(parameters: dict[str, str]) -> int:
    """Return the number of the token or simulation that the path names, or -1 if it names neither."""
    for what in ("token", "simulation"):
        if (text := parameters.get(what)) is not None:
            if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS:
                return int(text)
            raise UnknownError(what, text, f"the number of a {what}")
    return -1


def parse_recommendation(parameters: dict[str, str]) -> str:
    """Return the ID of a recommendation in the form in which IDs are stored."""
    text = parameters["recommendation_id"]
    found = parse_id(text)
    if found is None:
        raise unknown_recommendation(text)
    return found


def parse_headers(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Return the headers that the service uses. Each may occur only once."""
    found: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in USED_HEADERS:
            if name in found:
                text = name.decode()
                detail = f"{text} came twice; send this header once"
                raise ProblemError("malformed", detail, field=text, expected=f"one {text}")
            found[name] = value
    return found


def parse_key(headers: dict[bytes, bytes]) -> str:
    """Return the idempotency key, with which a client may send the same request again."""
    key = headers.get(b"idempotency-key", b"")
    if is_key(key):
        return key.decode("ascii")
    expected = "1 to 200 visible ASCII characters"
    if not key:
        raise ProblemError("malformed", _NO_KEY, field="Idempotency-Key", expected=expected)
    got = shown(key.decode("latin-1"))
    detail = f"Idempotency-Key: got {got!r}, expected {expected}, e.g. {_EXAMPLE}"
    raise ProblemError("malformed", detail, field="Idempotency-Key", value=got, expected=expected)


def is_key(key: bytes) -> bool:
    """Return whether a text can be an idempotency key."""
    return _KEY.fullmatch(key) is not None


async def parse_body(receive: Receive, headers: dict[bytes, bytes], decoder: BodyDecoder, max_bytes: int) -> Any:
    """Read the body, and return it decoded and validated."""
    media = headers.get(b"content-type", b"")
    if media != _JSON and media.partition(b";")[0].strip().lower() != _JSON:
        got = shown(media.decode("latin-1"))
        found = f"got {got!r}" if got else "it is missing"
        detail = f"the body must be application/json, and Content-Type must say so; {found}"
        raise ProblemError("media-type", detail, field="Content-Type", value=got, expected="application/json")
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        got = shown(headers[b"content-encoding"].decode("latin-1"))
        detail = f"the body must be sent as it is, not encoded as {got}"
        raise ProblemError("media-type", detail, field="Content-Encoding", value=got, expected="none")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 18 or int(length) > max_bytes):
        raise _too_large(max_bytes)
    return decoder.decode(await read_body(receive, max_bytes))


async def read_body(receive: Receive, max_bytes: int) -> bytes:
    """Return the raw body, of limited size."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise DisconnectedError
        part = message.get("body", b"")
        size += len(part)
        if size > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body"):
            return b"".join((*parts, part)) if parts else part
        parts.append(part)


def _too_large(max_bytes: int) -> ProblemError:
    # The rest of the body is not read, so the connection cannot be reused.
    return ProblemError(
        "too-large",
        f"the body is larger than {max_bytes} bytes",
        field="body",
        expected=f"at most {max_bytes} bytes",
        headers={"connection": "close"},
    )


def _body_problem(error: Exception, raw: bytes, body: type) -> ProblemError:
    """Describe the problem of a body that is not JSON or not of the expected type."""
    value = _parsed(raw)
    if isinstance(value, ProblemError):
        return value
    if not isinstance(error, msgspec.ValidationError):
        at = re.search(r"\(byte (\d+)\)$", str(error))
        return _not("JSON", raw.decode(errors="replace"), int(at.group(1)) if at else len(raw))
    wrong = misfit(error, value, body, shown)  # None: nested too deeply for Python's parser
    return ProblemError(
        "invalid",
        wrong.sentence,
        field=wrong.field,
        value=None if wrong.value is None else str(wrong.value),
        expected=wrong.expected,
    )


def _parsed(raw: bytes) -> Any:
    """Parse a body with Python's parser.

    If the body is not valid JSON, return a problem with the position of the error. If it is nested too deeply, return
    None.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return _not("UTF-8", raw[: error.start].decode(), error.start)
    if not text.strip():
        return ProblemError("malformed", "the body is empty; send a JSON object", field="body")
    try:
        return json.loads(text, object_pairs_hook=unique_names, parse_float=_number)
    except json.JSONDecodeError as error:
        return _not("JSON", text, error.pos)
    except InputError as error:
        return ProblemError("invalid", error.sentence, field=shown(error.field), expected=error.expected)
    except (RecursionError, ValueError):  # nested too deeply, or an integer with too many digits
        return None


def _not(what: str, text: str, at: int) -> ProblemError:
    before = text[:at]
    place = f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
    return ProblemError("malformed", f"the body is not valid {what}: {place}", field="body")


def _number(text: str) -> float | str:
    """Return the number in a text, or the text itself if the number is infinite as a float."""
    value = float(text)
    return value if abs(value) < float("inf") else text


def _names(kind: Any) -> set[str]:
    kind = without_null(kind)
    fields = getattr(kind, "fields", ())
    return {item.encode_name for item in fields}.union(*(_names(item.type) for item in fields))
