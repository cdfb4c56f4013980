"""What is wrong with a body that cannot be decoded: not JSON, or not what the route takes, in one sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from adhere.decoding import misfit, without_null
from adhere.service.http.problems import ProblemError, shown


def body_problem(error: Exception, raw: bytes, body: type) -> ProblemError:
    """A body that is not JSON, or not of the expected type."""
    value = _parsed(raw)
    if isinstance(value, ProblemError):
        return value
    if not isinstance(error, msgspec.ValidationError):
        at = re.search(r"\(byte (\d+)\)$", str(error))
        return _not("JSON", raw.decode(errors="replace"), int(at.group(1)) if at else len(raw))
    wrong = misfit(error, value, body, shown)  # a value of None: it is too deep for Python's parser
    return ProblemError(
        "invalid",
        wrong.sentence,
        field=wrong.field,
        value=None if wrong.value is None else str(wrong.value),
        expected=wrong.expected,
    )


def repeated_field(raw: bytes) -> ProblemError | None:
    """The problem of a body in which a name occurs twice in one object, if there is one."""
    found = _parsed(raw)
    return found if isinstance(found, ProblemError) else None


def field_names(body: type) -> tuple[bytes, ...]:
    """Every name that may occur in a body, as it is written in JSON."""
    return tuple(f'"{name}"'.encode() for name in _names(msgspec.inspect.type_info(body)))


def _parsed(raw: bytes) -> Any:
    """The body in Python's own parser, which says where it is wrong; a problem if it is no JSON, None if too deep."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return _not("UTF-8", raw[: error.start].decode(), error.start)
    if not text.strip():
        return ProblemError("malformed", "the body is empty; send a JSON object", field="body")
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_float=_number)
    except json.JSONDecodeError as error:
        return _not("JSON", text, error.pos)
    except ProblemError as problem:
        return problem
    except (RecursionError, ValueError):  # too deep, or a whole number of too many digits
        return None


def _not(what: str, text: str, at: int) -> ProblemError:
    before = text[:at]
    place = f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"
    return ProblemError("malformed", f"the body is not valid {what}: {place}", field="body")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise ProblemError("invalid", f"{shown(name)!r} is given twice", field=shown(name), expected="it once")
    return found


def _number(text: str) -> float | str:
    """A number, or its text if it is too large for one."""
    value = float(text)
    return value if abs(value) < float("inf") else text


def _names(kind: Any) -> set[str]:
    kind = without_null(kind)
    fields = getattr(kind, "fields", ())
    return {item.encode_name for item in fields}.union(*(_names(item.type) for item in fields))
