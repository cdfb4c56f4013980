"""Types of the OpenAPI document in HTML: what a field takes, in words, and tables of fields."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_WORDS = {"integer": "whole number", "string": "text", "boolean": "true or false", "null": "null", "object": "object"}


def link(name: str) -> str:
    """A link to an object's table on the same page."""
    return f'<a href="#object-{escape(name)}">{escape(name)}</a>'


def object_section(name: str, schema: dict[str, Any]) -> str:
    """An object: what it is, and its fields."""
    what = escape(schema.get("description", "").replace("`", ""))  # names of fields, in the docstrings of code
    summary = f"<summary><b>{escape(name)}</b> <span>{what}</span></summary>"
    return f'<details id="object-{escape(name)}">{summary}{fields_table(schema)}</details>'


def fields_table(schema: dict[str, Any]) -> str:
    """The fields of an object: name, type, whether it is needed, what it means."""
    required = schema.get("required", ())
    rows = []
    for name, field in schema.get("properties", {}).items():
        kinds = [part for part in field.get("anyOf", [field]) if part.get("type") != "null"]
        told = [part["description"] for part in (field, *kinds) if "description" in part]
        meaning = " ".join(dict.fromkeys(told))
        need = "required" if name in required else _default(field)
        rows.append(
            f"<tr><td><code>{escape(name)}</code></td><td>{' or '.join(type_words(part) for part in kinds)}</td>"
            f"<td>{need}</td><td>{escape(meaning)}</td></tr>"
        )
    head = "<tr><th>field</th><th>type</th><th></th><th>meaning</th></tr>"
    return f'<div class="wide"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>'


def type_words(schema: dict[str, Any]) -> str:
    """A type in words, with its bounds.

    >>> type_words({"type": "string", "maxLength": 200, "minLength": 1}), type_words({"type": "number", "minimum": 0})
    ('text (1 to 200 characters)', 'number (at least 0)')
    """
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        if "prefixItems" in schema:  # of a fixed length
            return f"list of {len(schema['prefixItems'])}: {', '.join(map(type_words, schema['prefixItems']))}"
        return f"list of {type_words(schema['items'])}" if "items" in schema else "list"
    if "anyOf" in schema:
        return " or ".join(type_words(part) for part in schema["anyOf"])
    kind = str(schema.get("type", "anything"))
    low, high = schema.get("minimum", schema.get("minLength")), schema.get("maximum", schema.get("maxLength"))
    unit = " characters" if kind == "string" else ""
    if low is not None and high is not None:
        bounds = f" ({_plain(low)} to {_plain(high)}{unit})"
    elif low is not None:
        bounds = f" (at least {_plain(low)}{unit})"
    else:
        bounds = "" if high is None else f" (at most {_plain(high)}{unit})"
    return _WORDS.get(kind, kind) + bounds


def _plain(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


def _default(field: dict[str, Any]) -> str:
    default = field.get("default")
    if default is None:
        return "optional"
    return f"default <code>{escape(json.dumps(default, ensure_ascii=False))}</code>"
