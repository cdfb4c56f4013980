"""The OpenAPI 3.1 document, made from the table of routes and the types of their requests and responses."""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from adhere.service.api.queries import WHOLE_NUMBER
from adhere.service.api.requests import EXAMPLES
from adhere.service.api.route import HTML, JSON, Route
from adhere.service.http.problems import KINDS, MEDIA_TYPE, Problem
from adhere.trial.domain.events import SOFTWARE
from adhere.trial.secret.recommendation_ids import LETTERS

DESCRIPTION: Final = "Adaptive trials for people who do not always do as they are told."
_PARAMETERS: dict[str, dict[str, Any]] = {
    "trial": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^/]+$"},
    "token": WHOLE_NUMBER.schema,
    "simulation": WHOLE_NUMBER.schema,
    "recommendation_id": {"type": "string", "pattern": f"^[{LETTERS}]{{4}}(-[{LETTERS}]{{4}}){{3}}$"},
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "A new value for each request, the same when a request is sent again.",
    "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
}
# Links: the operation, the next operation, and the parameters of the next operation.
_NEW_TRIAL = {"trial": "$response.body#/design/name"}
_SAME_TRIAL = {"trial": "$request.path.trial"}
_SAME_RECOMMENDATION = {**_SAME_TRIAL, "recommendation_id": "$response.body#/recommendation_id"}
_LINKS: tuple[tuple[str, str, dict[str, str]], ...] = (
    *(("create_trial", to, _NEW_TRIAL) for to in ("show_trial", "recommend", "results", "export", "close")),
    *(("recommend", to, _SAME_RECOMMENDATION) for to in ("report", "correct", "withdraw", "mark_in_error")),
    ("recommend", "show_recommendation", _SAME_RECOMMENDATION),
    *(("report", to, _SAME_RECOMMENDATION) for to in ("report", "correct", "show_recommendation")),
    ("export", "list_accesses", _SAME_TRIAL),
    ("pause", "resume", _SAME_TRIAL),
    ("make_token", "revoke_token", {"token": "$response.body#/id"}),
)


def document(routes: Iterable[Route], root_path: str = "") -> bytes:
    """Return the document in JSON for a service under a root path."""
    table = tuple(routes)
    types = {kind for route in table for kind in (route.body, route.response) if kind not in (None, bytes, dict)}
    ordered = [Problem, *sorted(types, key=lambda kind: kind.__name__ if kind else "")]
    schemas, components = msgspec.json.schema_components(ordered, ref_template="#/components/schemas/{name}")
    by_type = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in table:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "adhere",
                "version": SOFTWARE,
                "description": DESCRIPTION,
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": root_path or "/"}],
            "paths": paths,
            "components": {
                "schemas": components,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _operation(route: Route, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "tags": [route.group],
        "summary": route.summary,
        "parameters": _parameters(route),
        "responses": {str(route.status): _success(route, schemas), **_problems(route, schemas)},
        "security": [{"token": []}] if route.roles else [],
    }
    if route.roles:
        operation["description"] = f"Needs a token of role {' or '.join(sorted(route.roles))}."
    if route.body is not None:
        content = {"schema": schemas[route.body], "example": EXAMPLES[route.body]}
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    return operation


def _parameters(route: Route) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": _PARAMETERS[name]}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    found += [{"name": name, "in": "query", "schema": one.schema} for name, one in route.query]
    return [*found, _IDEMPOTENCY_KEY] if route.idempotent else found


def _success(route: Route, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    response: dict[str, Any] = {"description": route.summary}
    if route.response is not None:
        schema = schemas.get(route.response, {"type": "object"} if route.response is dict else {})
        response["content"] = {media: {"schema": {} if media == HTML else schema} for media in route.media}
    if route.response is bytes and route.query:
        response["headers"] = {"X-Adhere-Head": {"schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}}
    links = {
        f"{to}_next": {"operationId": to, "parameters": parameters}
        for start, to, parameters in _LINKS
        if start == route.name
    }
    return {**response, "links": links} if links else response


def _problems(route: Route, schemas: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": schemas[Problem]}}
    return {str(KINDS[kind][0]): {"description": KINDS[kind][1], "content": content} for kind in route.kinds}
