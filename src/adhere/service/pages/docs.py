"""Handlers of `GET /`, an overview of the service, and `GET /docs`, its API with requests to try."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from starlette.responses import Response

from adhere.service.api.openapi import DESCRIPTION
from adhere.service.context import RequestContext
from adhere.service.pages.rendering import HEADERS, render
from adhere.trial.domain.events import SOFTWARE
from adhere_client.responses.service import Start

_HTML: Final = "text/html"
_HEADERS: Final = {**HEADERS, "cache-control": "no-cache", "referrer-policy": "no-referrer"}
_NEXT: Final = (
    "send a token with each request: curl -H 'Authorization: Bearer adh_…'; whoever runs this service makes them"
)


async def start(context: RequestContext) -> Start | Response:
    """Describe this service and its addresses, as a page for browsers or JSON for other clients."""
    if prefers_html([value.decode("latin-1") for name, value in context.headers if name == b"accept"]):
        page = render("start.html", description=DESCRIPTION)
        return Response(page, 200, _HEADERS | {"vary": "Accept"}, _HTML)
    root = context.service.settings.root_path
    return Start("adhere", SOFTWARE, DESCRIPTION, f"{root}/docs", f"{root}/openapi.json", f"{root}/readyz", _NEXT)


async def docs(context: RequestContext) -> Response:
    """Show the API on a page on which requests can be tried."""
    headers = {name: value for name, value in _HEADERS.items() if name != "vary"}
    return Response(_docs_page(context.service.openapi), 200, headers, _HTML)


@cache
def _docs_page(openapi: bytes) -> str:
    document = json.loads(openapi)
    sections: dict[str, list[tuple[str, str, Any]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            sections.setdefault(operation["tags"][0], []).append((method.upper(), path, operation))
    schemas = document["components"]["schemas"]
    return render("docs.html", info=document["info"], sections=sections, schemas=schemas, fields=fields_of)


def fields_of(schema: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]], bool, str, str]]:
    """Return the fields of an object: name, types, whether it is required, default in JSON, and meaning."""
    for name, field in schema.get("properties", {}).items():
        kinds = [part for part in field.get("anyOf", [field]) if part.get("type") != "null"]
        said = dict.fromkeys(part["description"] for part in (field, *kinds) if "description" in part)
        default = "" if field.get("default") is None else json.dumps(field["default"], ensure_ascii=False)
        yield name, kinds, name in schema.get("required", ()), default, " ".join(said)


def prefers_html(accept: list[str]) -> bool:
    """Return whether a client prefers HTML to JSON, by its Accept headers. Clients that accept anything get JSON.

    >>> prefers_html(["text/html,application/xhtml+xml,*/*;q=0.8"]), prefers_html(["*/*"])
    (True, False)
    """
    quality = {_HTML: 0.0, "application/json": 0.0}
    for part in ",".join(accept).lower().split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        if media in quality:
            given = next((text[2:] for text in parameters if text.startswith("q=")), "1")
            try:
                quality[media] = float(given)
            except ValueError:
                quality[media] = 0.0
    return quality[_HTML] > quality["application/json"]
