"""Explain in one sentence a value that does not fit its type; msgspec reports where (``at `$.reward```)."""

import json
import re
from collections import Counter
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from adhere.errors import InputError, joined, short

_PLACE = re.compile(r" - at (?:key in )?`\$?(.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
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
# Features that do not exist, by the names that people may try (without separators), and what to use instead.
_NOT_SUPPORTED: Final = {
    "noninferiority noninferioritymargin": "non-inferiority tests; equivalence and futility have a margin, but test "
    "something else",
    "prior priors": "priors of your own; probabilities start from uniform ones, and adhere design calibrate sets "
    "thresholds",
    "ratio ratios allocationratio": "unequal blocks; floor(uniform, share=0.33, control=0.67) draws two of three "
    "patients to the first arm",
    "timetoevent survival": "outcomes that are times; an outcome is a number from 0 to 1, such as alive after "
    "30 days",
    "minimisation": "minimisation; strata balance the permuted blocks of a burn-in within each group of patients",
    "cluster clusters clusterrandomisation": "clusters; every patient is randomised alone",
    "reestimation samplesizereestimation": "re-estimation of its size; n_patients is fixed (adhere design size finds "
    "it), and looks may stop",
    "spending alphaspending spendingfunction": 'spending functions; boundary = "obrien-fleming" or "pocock" spreads '
    "alpha over the planned looks",
}
_LIMITS: Final = "docs/what-adhere-does-not-do.md"  # the page with all limits
# Features that exist under another name: a field that must be known in this place, and the message.
_CALLED: Final = {
    "samplesize": ("n_patients", "it is called n_patients here"),
    "allocation": ("policy", 'the policy allocates arms: policy = "uniform", "thompson", …'),
    "alpha": ("stopping", 'it is a field of stopping: stopping.alpha, with by = "z-test" or "wealth"'),
}
_OF_REWARD: Final = ("Expected `float` >= 0.0", "Expected `float` <= 1.0")
_BOUNDS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
# Expectations that msgspec's messages do not put into words.
_EXPECTED: Final = {
    "`bool | float`": "a number from 0 to 1, true or false",  # a reward
    "`bool | float | null`": "a number from 0 to 1, true or false",
    "Number out of range": "a number from -1.8e308 to 1.8e308",
    "Integer value out of range": "a whole number of fewer digits",
    "Invalid RFC3339 encoded datetime": "a time such as 2026-03-01T09:30:00Z",
}


def misfit(
    error: msgspec.ValidationError, value: Any, kind: type, shown: Callable[[object], str], whole: str = "body"
) -> InputError:
    """Return the error about a value that does not fit a type, with the path of the field and the value there.

    `value` is None if it is not known. `shown` turns a part into short text. `whole` is the name of the whole value.

    >>> class Visit(msgspec.Struct, forbid_unknown_fields=True):
    ...     day: int
    >>> try:
    ...     msgspec.convert({"day": "one"}, Visit)
    ... except msgspec.ValidationError as error:
    ...     print(misfit(error, {"day": "one"}, Visit, str))
    day: got 'one', expected a whole number
    """
    message = str(error)
    found = _PLACE.search(message)
    what, place = (message[: found.start()], found.group(1)) if found else (message, "")
    if named := _NAMED.search(what):
        return _wrong_field(place.lstrip("."), named.group(2), _type_at(kind, place), named.group(1), shown)
    steps = _STEP.findall(place)
    known = value is not None and bool(steps)
    try:
        for name, number in steps:
            value = value[int(number)] if number else value[name]
    except (LookupError, TypeError, ValueError):  # or the name of an entry, which msgspec does not report
        known = False
    of_reward = place.startswith((".reward", ".impute.reward"))
    if what in _OF_REWARD or (of_reward and what == "Number out of range"):
        expected = "a number from 0 to 1"
    elif what.startswith("Invalid enum value"):
        expected = joined(map(str, getattr(_type_at(kind, place), "values", ())), "or")
    else:
        expected = in_words(what.removeprefix("Expected ").partition(", got")[0], value)
    field = place.replace("[...]", "").lstrip(".") or whole
    got = f"got {_quoted(value, shown)}, " if known else ""
    given = _plain(value, shown) if known else None
    return InputError(field, given, expected, f"{field}: {got}expected {expected}")


def read_json(text: str) -> Any:
    """Parse JSON; refuse an object that contains a name twice.

    >>> read_json('{"day": 1, "day": 2}')
    Traceback (most recent call last):
    adhere.errors.InputError: 'day' is given twice
    """
    return json.loads(text, object_pairs_hook=unique_names)


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse one that contains a name twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(name, None, "each name once", f"{short(name)} is given twice")
    return found


def in_words(expected: str, value: object = None) -> str:
    """Return in words what msgspec expects.

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
    if length and isinstance(value, str):
        return "text that is not empty" if not value else f"{_BOUNDS[sign]} {bound} characters (got {len(value)})"
    return f"{words} of {_BOUNDS[sign]} {bound}"


def without_null(kind: Any) -> Any:
    """Return the inspected type of an optional value, without None."""
    if isinstance(kind, msgspec.inspect.Metadata):  # a description
        return without_null(kind.type)
    if isinstance(kind, msgspec.inspect.UnionType):
        return without_null(next(part for part in kind.types if not isinstance(part, msgspec.inspect.NoneType)))
    return kind


def not_supported(field: str, name: str) -> str | None:
    """Return the message about a field that names a feature adhere does not have, or None.

    >>> not_supported("cluster", "cluster")
    'cluster is not supported: adhere has no clusters; every patient is randomised alone (see “What adhere does not \
do” in docs/what-adhere-does-not-do.md)'
    >>> not_supported("stoping", "stoping")
    """
    instead = next((instead for names, instead in _NOT_SUPPORTED.items() if _letters(name) in names.split()), None)
    where = "see “What adhere does not do” in docs/what-adhere-does-not-do.md"
    return None if instead is None else f"{field} is not supported: adhere has no {instead} ({where})"


def _letters(name: str) -> str:
    """Return a name in lower case without separators, in British spelling."""
    return re.sub(r"[^a-z]", "", name.lower()).replace("ization", "isation")


def _wrong_field(place: str, name: str, kind: Any, why: str, shown: Callable[[object], str]) -> InputError:
    field = shown(f"{place}.{name}".lstrip("."))
    if why != "unknown":
        return InputError(field, None, "a value", f"the field {field!r} is missing")
    known = [item.encode_name for item in kind.fields] if isinstance(kind, msgspec.inspect.StructType) else []
    if sentence := not_supported(field, name):
        return InputError(field, None, f"one of {', '.join(known)}", sentence)
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    beside, instead = _CALLED.get(_letters(name), ("", ""))
    hint = instead if beside in known else hint
    return InputError(field, None, f"one of {', '.join(known)}", f"unknown field {field!r}; {hint}")


def _type_at(body: type, place: str) -> Any:
    """Return the type at a path in a body."""
    kind: Any = msgspec.inspect.type_info(body)
    for name, _ in _STEP.findall(place):
        kind = without_null(kind)
        if name:
            kind = next((item.type for item in getattr(kind, "fields", ()) if item.encode_name == name), None)
        else:
            kind = getattr(kind, "item_type", None)
    return without_null(kind)


def _quoted(value: object, shown: Callable[[object], str]) -> str:
    return repr(shown(value)) if isinstance(value, str) else _plain(value, shown)


def _plain(value: object, shown: Callable[[object], str]) -> str:
    """Return a value as its sender wrote it, or the kind of value if it is a list or an object."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return json.dumps(value) if value is None or isinstance(value, bool) else shown(value)
