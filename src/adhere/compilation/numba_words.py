"""Numba's complaints in plain words."""

from __future__ import annotations

import re
import sys
from typing import Any

_UNKNOWN_ATTRIBUTE = re.compile(r"Unknown attribute '(\w+)' of type (.+)")
_SETATTR = re.compile(r"Cannot resolve setattr: \((.+?)\)\.(\w+) = ")
_GLOBAL = re.compile(r"Untyped global name '(\w+)':.*?<class '([\w.]+)'>", re.DOTALL)
_NAME = re.compile(r"NameError: (name '\w+' is not defined)")
_CAST_TO_ENTRIES = re.compile(r"Cannot cast .* to Vector\.")
_UNIFY = re.compile(r"[Cc]annot unify (.+?) and (.+?) for '([\w.$]+)'")
_SIGNATURE = re.compile(r"No implementation of function Function\((.*?)\) found for signature:\s*>>> (.*)")
_MEMORY = re.compile(r"NRT required but not enabled|require NRT|(?<!note_)allocat", re.IGNORECASE)
_ARM = re.compile(r"Unsupported array index type (.+?) in |>>> lt\((.+), Literal\[int\]\(0\)\)")
_NO_RECURSION = "{} calls itself, which compiled code cannot do; write it as a loop"
NONE_SOMETIMES = "it returns None in one branch"


def in_plain_words(complaint: str, classes: set[type]) -> str:
    """One sentence without Numba's names for types, paths and addresses."""
    for pattern, words in _WORDS:
        found = pattern.search(complaint)
        if found is not None:
            return str(words(found, classes))
    first = next((line for line in complaint.splitlines() if line.strip()), "Numba cannot compile this")
    return _short(_types_in_short(re.sub(r"\s*\.?\s*Raised from .*", "", first.strip())))


def kind_in_plain_words(complaint: str) -> str:
    """Say what `choose` returns instead of a whole number; the text is empty if the complaint does not tell."""
    found = _ARM.search(complaint)
    if found is None:
        return ""
    kind = _types_in_short(found[1] or found[2])
    if kind == "None":
        return "it returns nothing"
    if kind.startswith("OptionalType"):
        return NONE_SOMETIMES
    return f"this is {'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _attribute(found: re.Match[str], classes: set[type]) -> str:
    name, owner = found.groups()
    module = re.match(r"Module\(<module '([\w.]+)'", owner)
    if module:
        return f"Numba has no {module[1]}.{name}"
    return _no_field(name, owner, classes)


def _no_field(name: str, owner: str, classes: set[type]) -> str:
    for cls in classes:
        rule: Any = cls
        if owner.startswith(f"{rule.__name__}("):
            return f"the rule has no {name}; it has {_own_names(rule)}"
        for layout in (rule.State, rule.Memo):
            if f"{layout.__module__}.{layout.__qualname__}." in owner:
                names = ", ".join(layout.fields) or "none"
                return f"{layout.__name__} has no field {name}; it has {names}"
    return f"{_types_in_short(owner)} has no attribute {name}"


def _own_names(rule: Any) -> str:
    """The fields of a rule but the lengths (see `lengths`), which have defaults."""
    return ", ".join(name for name in rule._fields if name not in rule._field_defaults)


def _recurses(name: str, classes: set[type]) -> bool:
    """Whether the functions of these rules know a function of this name that calls itself."""
    known: list[Any] = [getattr(sys.modules.get(cls.__module__), name, None) for cls in classes]
    return any(name in one.__code__.co_names for one in known if hasattr(one, "__code__"))


def _of_global(found: re.Match[str], classes: set[type]) -> str:
    name, kind = found.groups()
    if _recurses(name, classes):
        return _NO_RECURSION.format(name)
    if kind == "function":
        return f"{name} is a plain Python function; mark it with @inline (from adhere.compilation)"
    return f"{name} is a {kind}, which compiled code cannot use; make it a number, a tuple or an array"


def _call(found: re.Match[str], classes: set[type]) -> str:
    name = found[2].strip().partition("(")[0]
    if _recurses(name, classes):
        return _NO_RECURSION.format(name)
    return _short(f"Numba cannot compile {_types_in_short(found[2].strip())}")


def _unify(found: re.Match[str], _: object) -> str:
    one, other, name = found.groups()
    what = "a value" if "$" in name else name.partition(".")[0]
    return f"{what} is {_types_in_short(one)} here and {_types_in_short(other)} there; it must keep one type"


_WORDS: tuple[tuple[re.Pattern[str], Any], ...] = (
    (_UNKNOWN_ATTRIBUTE, _attribute),
    (_SETATTR, lambda found, classes: _no_field(found[2], found[1], classes)),
    (_GLOBAL, _of_global),
    (_NAME, lambda found, _: found[1]),
    (_CAST_TO_ENTRIES, lambda *_: "a field of several numbers is set entry by entry: state.name[arm] = …"),
    (_MEMORY, lambda *_: "this makes an array"),
    (_UNIFY, _unify),
    (_SIGNATURE, _call),
)


def _types_in_short(text: str) -> str:
    """Types as a user knows them.

    >>> _types_in_short("add(Literal[str](a), mine_23dcdf8d.MyState.2e95272872dc, array(float64, 1d, C))")
    'add(str, MyState, array)'
    """
    text = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[\w.]*?(\w+)\.[0-9a-f]{12}\b", r"\1", text)
    text = re.sub(r"\b(\w+)Rule\([^()]*(?:\([^()]*\)[^()]*)*\)", r"rule", text)
    text = re.sub(r"[Aa]rray\([^()]*\)|Vector\.\w+", "array", text)
    text = re.sub(r"<(?:built-in )?function (\w+)[^>]*>", r"\1", text)
    for numba, plain in (("unicode_type", "str"), ("float64", "float"), ("int64", "int"), ("none", "None")):
        text = re.sub(rf"\b{numba}\b", plain, text)
    return text


def _short(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
