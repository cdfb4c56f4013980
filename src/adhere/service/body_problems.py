"""What is wrong with a body that cannot be decoded: not JSON, or not what the route takes, in one sentence."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from adhere.service.problems import ProblemError, shown

_PLACE = re.compile(r" - at (?:key in )?`\$?(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_NAMED = re.compile(r" (missing required|unknown) field `(.*)`$", re.DOTALL)
_BOUND = re.compile(r"`(.*?)`(?: (of length )?(>=|<=|>|<) (\S+))?$")
_TYPES: Final = {
    "float": "a number",
    "int": "a whole number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "datetime": "a time such as 2026-03-01T09:30:00Z",
}
_OF_REWARD: Final = ("Expected `float` >= 0.0", "Expected `float` <= 1.0")
_BOUNDS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
# What msgspec says without naming what it expects.
_EXPECTED: Final = {
    "`bool | float`": "a number from 0 to 1, true or false",  # a reward
    "`bool | float | null`": "a number from 0 to 1, true or false",
    "Number out of range": "a number from -1.8e308 to 1.8e308",
    "Integer value out of range": "a whole number of fewer digits",
    "Invalid RFC3339 encoded datetime": "a time such as 2026-03-01T09:30:00Z",
}


def body_problem(error: Exception, raw: bytes, body: type) -> ProblemError:
    """A body that is not JSON, or not of the expected type; msgspec says where (``… - at `$.reward```)."""
    value = _parsed(raw)
    if isinstance(value, ProblemError):
        return value
    message = str(error)
    if not isinstance(error, msgspec.ValidationError):
        at = re.search(r"\(byte (\d+)\)$", message)
        return _not("JSON", raw.decode(errors="replace"), int(at.group(1)) if at else len(raw))
    found = _PLACE.search(message)
    what, place = (message[: found.start()], found.group(1)) if found else (message, "")
    if named := _NAMED.search(what):
        return _wrong_field(place.lstrip("."), named.group(2), _type_at(body, place), named.group(1) == "unknown")
    steps = _STEP.findall(place)
    known = value is not None and bool(steps)  # not if it is too deep for Python's parser
    try:
        for name, number in steps:
            value = value[int(number)] if number else value[name]
    except (LookupError, TypeError):
        known = False
    of_reward = place.startswith((".reward", ".impute.reward"))
    if what in _OF_REWARD or (of_reward and what == "Number out of range"):
        expected = "a number from 0 to 1"
    elif what.startswith("Invalid enum value"):
        expected = _listed(_type_at(body, place))
    else:
        expected = in_words(what.removeprefix("Expected ").partition(", got")[0], value)
    field = place.lstrip(".") or "body"
    got = f"got {_quoted(value)}, " if known else ""
    given = _plain(value) if known else None
    return ProblemError("invalid", f"{field}: {got}expected {expected}", field=field, value=given, expected=expected)


def repeated_field(raw: bytes) -> ProblemError | None:
    """The problem of a body in which a name occurs twice in one object, if there is one."""
    found = _parsed(raw)
    return found if isinstance(found, ProblemError) else None


def field_names(body: type) -> tuple[bytes, ...]:
    """Every name that may occur in a body, as it is written in JSON."""
    return tuple(f'"{name}"'.encode() for name in _names(msgspec.inspect.type_info(body)))


def in_words(expected: str, value: object = None) -> str:
    """What msgspec expects, in words.

    >>> in_words("`float` <= 1.0"), in_words("`str` of length <= 3", "abcd")
    ('a number of at most 1', 'at most 3 characters (got 4)')
    """
    found = _BOUND.search(expected)
    if expected in _EXPECTED or found is None:
        return _EXPECTED.get(expected, expected)
    types, length, sign, bound = found.groups()
    words = " or ".join(_TYPES.get(name, name) for name in types.split(" | ") if name != "null")
    if sign is None:
        return words
    bound = bound.removesuffix(".0")
    if not length:
        return f"{words} of {_BOUNDS[sign]} {bound}"
    if isinstance(value, str):
        return "text that is not empty" if not value else f"{_BOUNDS[sign]} {bound} characters (got {len(value)})"
    return f"{words} of {_BOUNDS[sign]} {bound}"


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


def _wrong_field(place: str, name: str, kind: Any, unknown: bool) -> ProblemError:
    field = shown(f"{place}.{name}".lstrip("."))
    if not unknown:
        return ProblemError("invalid", f"the field {field!r} is missing", field=field, expected="a value")
    known = [item.encode_name for item in kind.fields] if isinstance(kind, msgspec.inspect.StructType) else []
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return ProblemError(
        "invalid", f"unknown field {field!r}; {hint}", field=field, expected=f"one of {', '.join(known)}"
    )


def _type_at(body: type, place: str) -> Any:
    """The type of a place in a body."""
    kind: Any = msgspec.inspect.type_info(body)
    for name, _ in _STEP.findall(place):
        kind = _without_null(kind)
        if name:
            kind = next((item.type for item in getattr(kind, "fields", ()) if item.encode_name == name), None)
        else:
            kind = getattr(kind, "item_type", None)
    return _without_null(kind)


def _without_null(kind: Any) -> Any:
    if isinstance(kind, msgspec.inspect.Metadata):  # a description
        return _without_null(kind.type)
    if isinstance(kind, msgspec.inspect.UnionType):
        return _without_null(next(part for part in kind.types if not isinstance(part, msgspec.inspect.NoneType)))
    return kind


def _names(kind: Any) -> set[str]:
    kind = _without_null(kind)
    fields = getattr(kind, "fields", ())
    return {item.encode_name for item in fields}.union(*(_names(item.type) for item in fields))


def _listed(kind: Any) -> str:
    values = [str(value) for value in getattr(kind, "values", ())]
    return " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))


def _quoted(value: object) -> str:
    return repr(shown(value)) if isinstance(value, str) else _plain(value)


def _plain(value: object) -> str:
    """A value as its sender wrote it, or what kind of value it is."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return json.dumps(value) if value is None or isinstance(value, bool) else shown(value)
