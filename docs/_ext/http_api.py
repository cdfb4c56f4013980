"""The reference of the HTTP API, from the service's own OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from markdown import code, paragraph, plain, table

from adhere.service.api.openapi import document
from adhere.service.api.routes import ROUTES

Schema = Mapping[str, Any]
_PROBLEM = "application/problem+json"


def http_page() -> str:
    """Return every operation by its group, and every type that requests and responses are made of."""
    described = json.loads(document(ROUTES))
    schemas: Mapping[str, Schema] = described["components"]["schemas"]
    groups: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            lines = groups.setdefault(operation["tags"][0], [])
            lines += _operation(f"{method.upper()} {path}", operation, schemas)
    parts = [line for group, lines in groups.items() for line in (f"## {group}", "", *lines)]
    return "\n".join([*parts, *_types(schemas)])


def _operation(address: str, operation: Schema, schemas: Mapping[str, Schema]) -> Iterator[str]:
    yield from (f"### {operation['operationId']}", "", code(address), "", f"{plain(operation['summary'])}.", "")
    roles = operation.get("description", "").removeprefix("Needs a token of role ").removesuffix(".")
    who = " or ".join(map(code, roles.split(" or "))) if roles else "anybody, without a token"
    yield f"- *Who may call it*: {who}"
    if body := operation.get("requestBody"):
        content = body["content"]["application/json"]
        yield f"- *Request*: {_type(content['schema'])}, for example {code(json.dumps(content.get('example', {})))}"
    yield from _responses(operation["responses"])
    yield ""
    if parameters := operation["parameters"]:
        yield table(("parameter", "in", "type", "meaning"), map(_parameter, parameters))


def _parameter(one: Schema) -> tuple[str, str, str, str]:
    schema = one["schema"]
    meaning = one.get("description") or schema.get("description", "")
    return code(one["name"]), one["in"], _type(schema) + _default(schema), plain(meaning)


def _responses(responses: Mapping[str, Schema]) -> Iterator[str]:
    problems = []
    for status, response in responses.items():
        content = response.get("content", {})
        if _PROBLEM in content:
            problems.append(f"{status} ({response['description'].lower()})")
        elif not content:
            yield f"- *Response*: {status}, without a body"
        else:
            kinds = ", ".join(
                f"{_type(one['schema'])} as {code(media)}" if one["schema"] else code(media)
                for media, one in content.items()
            )
            yield f"- *Response*: {status}, {kinds}"
    yield f"- *Problems*: {', '.join(sorted(problems))}"


def _types(schemas: Mapping[str, Schema]) -> Iterator[str]:
    yield from ("## Types", "")
    for name, schema in sorted(schemas.items()):
        yield from (f"(type-{name.lower()})=", f"### {name}", "", paragraph(schema.get("description")), "")
        fields = schema.get("properties", {})
        if fields:
            required = schema.get("required", ())
            rows = [
                (code(field), _type(one) + _default(one, needed=field in required), plain(one.get("description", "")))
                for field, one in fields.items()
            ]
            yield table(("field", "type", "meaning"), rows)
        elif "enum" in schema:
            yield _type(schema)


def _default(schema: Schema, *, needed: bool = False) -> str:
    if needed or "default" not in schema or schema["default"] is None:
        return "; required" if needed else ", or nothing" if "default" in schema else ""
    return f", by default {code(json.dumps(schema['default'], ensure_ascii=False))}"


def _type(schema: Schema) -> str:
    """Return a JSON schema in a few words, with links to named types."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#type-{name.lower()})"
    if "enum" in schema:
        return " or ".join(code(json.dumps(value)) for value in schema["enum"])
    if kinds := schema.get("anyOf"):
        return " or ".join(_type(kind) for kind in kinds if kind.get("type") != "null")
    kind = schema.get("type")
    if kind == "array":
        inner = schema.get("items") or {}
        return f"list of {_type(inner)}" if inner else "list"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"object of {_type(inner)}" if isinstance(inner, dict) and inner else "object"
    if kind == "string" and schema.get("format") == "date-time":
        return "time"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}.get(
        str(kind), "any value"
    )
