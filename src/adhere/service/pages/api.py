"""Handler of `GET /docs`: the API as a page, made of the OpenAPI document, in which requests can be tried."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from typing import Any

from starlette.responses import Response

from adhere.service.context import RequestContext
from adhere.service.pages.page import Page, asset
from adhere.service.pages.schemas import fields_table, link, object_section

_INTRO = """<header><h1>adhere <small>API {version}</small></h1>
<p class="lead">{description}</p>
<p>Requests and answers are JSON; refusals are <a href="#object-Problem">problem documents</a> with one
sentence, <code>detail</code>.
A request that writes to a trial needs a new <code>Idempotency-Key</code>: sent again under the same key, it is
executed once.
The document for programs is <a href="openapi.json">openapi.json</a>; <a href="./">back to the start page</a>.</p>
<form class="token"><label>Your token, to try requests here (kept in this page only, until you leave it)
<input id="token" type="password" autocomplete="off" placeholder="adh_…"></label></form></header>"""


async def docs(context: RequestContext) -> Response:
    """The API as a page, in which requests can be tried."""
    return _page(context.service.openapi).response()


@cache
def _page(openapi: bytes) -> Page:
    document = json.loads(openapi)
    info, schemas = document["info"], document["components"]["schemas"]
    operations: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            shown = operations.setdefault(operation["tags"][0], [])
            shown.append(_operation(method.upper(), path, operation, schemas))
    groups = [f"<section><h2>{name}</h2>{''.join(found)}</section>" for name, found in operations.items()]
    objects = "".join(object_section(name, schema) for name, schema in sorted(schemas.items()))
    body = [
        _INTRO.format(version=escape(info["version"]), description=escape(info["description"])),
        *groups,
        f"<section><h2>Objects</h2>{objects}</section>",
    ]
    return Page("adhere API", f"<main>{''.join(body)}</main>", asset("api.js"))


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    name = operation["operationId"]
    note = operation.get("description", "Needs no token.")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    parameters = operation["parameters"]
    parts = [f'<p class="roles">{escape(note)}</p>']
    if body:
        kind = body["schema"]["$ref"].rpartition("/")[2]
        parts.append(f"<h4>Body: {link(kind)}</h4>{fields_table(schemas[kind])}")
    parts += [f"<h4>Answers</h4><dl>{_answers(operation['responses'])}</dl>", _form(method, path, parameters, body)]
    return (
        f'<details id="{name}"><summary><b class="method {method.lower()}">{method}</b> <code>{escape(path)}</code>'
        f" <span>{escape(operation['summary'])}</span></summary>{''.join(parts)}</details>"
    )


def _answers(responses: dict[str, Any]) -> str:
    lines = []
    for status, response in sorted(responses.items()):
        kinds = {media: content["schema"].get("$ref", "") for media, content in response.get("content", {}).items()}
        shown = ", ".join(link(ref.rpartition("/")[2]) if ref else escape(media) for media, ref in kinds.items())
        text = (shown or "nothing") if status < "300" else escape(response["description"])
        lines.append(f"<dt>{status}</dt><dd>{text}</dd>")
    return "".join(lines)


def _form(method: str, path: str, parameters: list[dict[str, Any]], body: dict[str, Any]) -> str:
    inputs = "".join(_input(parameter) for parameter in parameters)
    if body:
        example = escape(json.dumps(body["example"], indent=2, ensure_ascii=False))
        inputs += f'<label>Body<textarea name="body" rows="{example.count(chr(10)) + 1}">{example}</textarea></label>'
    return (
        f'<form data-method="{method}" data-path="{escape(path)}"><h4>Try it</h4>{inputs}'
        '<button>Send</button><pre class="answer" hidden></pre></form>'
    )


def _input(parameter: dict[str, Any]) -> str:
    name, schema = parameter["name"], parameter["schema"]
    given = f'name="{escape(name)}" data-in="{parameter["in"]}"'
    if "enum" in schema:
        options = "".join(f"<option>{escape(value)}</option>" for value in schema["enum"])
        return f"<label>{escape(name)}<select {given}>{options}</select></label>"
    hint = "empty: a new one each time" if parameter["in"] == "header" else ""
    default = escape(str(schema.get("default", "")))
    return f'<label>{escape(name)}<input {given} value="{default}" placeholder="{hint}"></label>'
