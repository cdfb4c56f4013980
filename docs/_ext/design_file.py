"""The fields of a design's file, from the types that the program reads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from markdown import code, plain, table

from adhere.design import parts
from adhere.design.design import Design

_PARTS = {
    "looks": parts.Looks,
    "stopping": parts.Stopping,
    "enrolment": parts.Enrolment,
    "delay": parts.Delay,
    "missing": parts.Rate,
    "impute": parts.Imputation,
}
_TITLES = {"missing": "missing.outcome and missing.taken"}
_PREFIXES = {"missing": "missing.….", "": ""}
_HEADINGS = ("field", "type", "default", "meaning")
_WORDS = Path(__file__).with_name("design_fields.toml")


def design_fields() -> str:
    """Return a table of the design's own fields, and one for each of its parts."""
    words = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    lines = [table(_HEADINGS, _rows("", Design, words.pop("design")))]
    for name, part in _PARTS.items():
        rows = _rows(_PREFIXES.get(name, f"{name}."), part, words.pop(name))
        lines.append(f"## {_TITLES.get(name, name)}\n\n{table(_HEADINGS, rows)}")
    if words:
        raise KeyError(f"{_WORDS.name} describes parts that no design has: {', '.join(words)}")
    return "\n".join(lines)


def _rows(prefix: str, part: type[msgspec.Struct], words: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    fields = msgspec.structs.fields(part)
    unknown = set(words) - {field.name for field in fields}
    if unknown:
        raise KeyError(f"{_WORDS.name} describes fields that {part.__name__} lacks: {', '.join(sorted(unknown))}")
    for field in fields:
        meaning = words.get(field.name) or plain(_described(field.type))
        if not meaning:
            raise KeyError(f"{_WORDS.name} must describe {prefix}{field.name}")
        yield code(prefix + field.name), type_words(field.type), _default(field), meaning


def _described(kind: Any) -> str:
    metas = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((meta.description for meta in metas if getattr(meta, "description", None)), "")


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT:
        return "required"
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value in (None, (), {}) or isinstance(value, msgspec.Struct):
        return "none"
    return code(msgspec.json.encode(value).decode().replace(",", ", "))


def type_words(kind: Any) -> str:
    """Return a type in the words of TOML and JSON."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return type_words(inner[0])
    if origin is Literal:
        return " or ".join(code(f'"{value}"') for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(type_words(one) for one in inner if one is not type(None)))
    if origin is tuple:
        return f"list of {_plural(type_words(inner[0]))}"
    if origin in (dict, Mapping):
        return f"table of names and {_plural(type_words(inner[1]))}"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return "table"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}.get(kind, kind.__name__.lower())


def _plural(words: str) -> str:
    if " or " in words and not words.startswith("`"):
        return " or ".join(_plural(one) for one in words.split(" or "))
    if words.startswith("list of "):
        return words.replace("list of", "lists of")
    return f"{words}s" if words in ("text", "number", "whole number") else words
