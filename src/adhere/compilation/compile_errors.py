"""Explain a mistake that Numba finds in a user's policy, in a one-line message with file and line.

Numba's own explanation fills a page. It lists what Numba tried, nested like the calls, with the line of the user's
file somewhere in the middle. The first line of a user's file that it names is the innermost one. The complaint that
belongs to it is the first line of its own nesting level.
"""

import ast
import inspect
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.core.ir import Loc

from adhere.compilation.dispatch import implementations_of
from adhere.compilation.user_code import Place, is_users
from adhere.errors import CompileError

_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)|\bat (?P<at>/?[^()\n]+?) \((?P<number>\d+)\)')
_FAILED = "Failed in nopython mode pipeline"
_CHOSEN = re.compile(r"chosen|choose\(rule")
_QUOTED = re.compile(r"'([A-Za-z_]\w*)'")


def as_compile_error(error: Exception, classes: set[type]) -> CompileError | None:
    """Return the mistake in the code of these rules, or None if the code did not cause the error."""
    own = {file for module in users_modules(classes) if (file := getattr(module, "__file__", None))}
    text = re.sub(r"\x1b\[\d*m", "", str(error))
    place, complaint = _place_in(text, own)
    if place is None:
        complaint = _innermost(text)
        place = _place_in_frames(error, own) or _named_place(complaint, classes)
    if place is None and not isinstance(error, NumbaError | UnsupportedBytecodeError):
        return None
    reason = in_plain_words(complaint, classes)
    if place is None and _CHOSEN.search(text):
        kind = kind_in_plain_words(text)
        place = return_place(classes, of_none=kind == NONE_SOMETIMES)
        reason = f"choose must return an arm, a whole number ({kind or reason})"
    names = ", ".join(sorted(cls.__name__.removesuffix("Rule") for cls in classes))
    return CompileError(str(place) if place else f"policy {names}", reason)


def users_modules(classes: set[type]) -> list[ModuleType]:
    """Return the modules of these rules that are not adhere's own."""
    found = {sys.modules.get(cls.__module__) for cls in classes if not cls.__module__.startswith("adhere.")}
    return [module for module in found if module is not None]


def _place_in(text: str, own: set[str]) -> tuple[Place | None, str]:
    """Return the innermost line of a user's file that an explanation names, and the complaint about it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = _PLACE.search(line)
        if found is None:
            continue
        file = str(Path.cwd().joinpath(found["file"] or found["at"]).resolve())
        if is_users(file, own) and Path(file).is_file():
            return Place(file, int(found["line"] or found["number"])), _complaint_above(lines, number)
    return None, ""


def _complaint_above(lines: list[str], number: int) -> str:
    depth = _depth(lines[number])
    for above in range(number - 1, -1, -1):
        if _FAILED in lines[above] and _depth(lines[above + 1]) == depth:
            return "\n".join(line.strip() for line in lines[above + 1 : number + 1])
    return "\n".join(line.strip() for line in lines[: number + 1])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _innermost(text: str) -> str:
    return (text.rpartition(_FAILED)[2] or text).partition("\n")[2].strip() if _FAILED in text else text


def _place_in_frames(error: Exception, own: set[str]) -> Place | None:
    """Return the line of user code that Numba was processing when it raised something other than an explanation."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for found in frame.f_locals.values():
            loc = found if isinstance(found, Loc) else getattr(found, "loc", None)
            if isinstance(loc, Loc) and is_users(loc.filename, own) and Path(loc.filename).is_file():
                return Place(loc.filename, loc.line)
    return None


def _named_place(complaint: str, classes: set[type]) -> Place | None:
    """Return where a name that a complaint quotes occurs in the functions of these rules."""
    quoted = set(_QUOTED.findall(complaint))
    for file, node in _nodes(classes):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name in quoted:
            return Place(file, node.lineno)
    return None


def return_place(classes: set[type], of_none: bool = False) -> Place | None:
    """Return the line that returns the invalid arm, if it can be found; otherwise the line of the function."""
    functions, returns = list[Place](), list[Place]()
    for file, node in _nodes(classes, "choose"):
        if isinstance(node, ast.FunctionDef):
            functions.append(Place(file, node.lineno))
        elif isinstance(node, ast.Return):
            is_none = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
            if is_none or not of_none:
                returns.append(Place(file, node.lineno))
    return max(returns, default=min(functions, default=None))


def _nodes(classes: set[type], *names: str) -> Iterator[tuple[str, Any]]:
    """Yield the syntax nodes of the users' functions of these rules, with line numbers of the file."""
    for cls in classes:
        for name, function in implementations_of(cls).items():
            file = function.__code__.co_filename
            if (not names or name in names) and is_users(file):
                yield from ((file, node) for node in ast.walk(syntax_of(function)))


def syntax_of(function: Any) -> ast.Module:
    """Return the syntax tree of a function, with line numbers of its file."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(inspect.cleandoc("\n" + "".join(lines)))
    ast.increment_lineno(tree, first - 1)
    return tree


_ARM = re.compile(r"Unsupported array index type (.+?) in |>>> lt\((.+), Literal\[int\]\(0\)\)")
_NO_RECURSION = "{} calls itself, which compiled code cannot do; write it as a loop"
NONE_SOMETIMES = "it returns None in one branch"


def in_plain_words(complaint: str, classes: set[type]) -> str:
    """Return Numba's complaint in one line, without Numba's names for types, paths and addresses."""
    for pattern, words in _WORDS:
        found = re.search(pattern, complaint)
        if found is not None:
            return str(words(found, classes))
    first = next((line for line in complaint.splitlines() if line.strip()), "Numba cannot compile this")
    return _short(_types_in_short(re.sub(r"\s*\.?\s*Raised from .*", "", first.strip())))


def kind_in_plain_words(complaint: str) -> str:
    """Return what `choose` returns instead of a whole number, or "" if the complaint does not show it."""
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
            # Lengths (see `lengths`) have defaults.
            own = ", ".join(name for name in rule._fields if name not in rule._field_defaults)
            return f"the rule has no {name}; it has {own}"
        for layout in (rule.State, rule.Memo):
            if f"{layout.__module__}.{layout.__qualname__}." in owner:
                names = ", ".join(layout.fields) or "none"
                return f"{layout.__name__} has no field {name}; it has {names}"
    return f"{_types_in_short(owner)} has no attribute {name}"


def _recurses(name: str, classes: set[type]) -> bool:
    """Return whether the functions of these rules can call a function of this name that calls itself."""
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


_WORDS: tuple[tuple[str, Any], ...] = (
    (r"Unknown attribute '(\w+)' of type (.+)", _attribute),
    (r"Cannot resolve setattr: \((.+?)\)\.(\w+) = ", lambda found, classes: _no_field(found[2], found[1], classes)),
    (r"(?s)Untyped global name '(\w+)':.*?<class '([\w.]+)'>", _of_global),
    (r"NameError: (name '\w+' is not defined)", lambda found, _: found[1]),
    (
        r"Cannot cast .* to Vector\.",
        lambda *_: "a field of several numbers is set entry by entry: state.name[arm] = …",
    ),
    (r"(?i)NRT required but not enabled|require NRT|(?<!note_)allocat", lambda *_: "this makes an array"),
    (r"[Cc]annot unify (.+?) and (.+?) for '([\w.$]+)'", _unify),
    (r"No implementation of function Function\((.*?)\) found for signature:\s*>>> (.*)", _call),
)


def _types_in_short(text: str) -> str:
    """Replace Numba's names of types by names that users know.

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
