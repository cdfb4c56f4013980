"""All routes of the service: the API, its documentation, and the pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from adhere.service.api.responses import Start
from adhere.service.api.route import HTML, JSON, METRICS_ROLES, PUBLIC, Route
from adhere.service.api.routes import ROUTES as API_ROUTES
from adhere.service.pages.api import docs
from adhere.service.pages.start import start

ROUTES: Final = (
    *API_ROUTES,
    Route("GET", "/", PUBLIC, start, Start, media=(JSON, HTML)),
    Route("GET", "/docs", PUBLIC, docs, bytes, media=(HTML,)),
)


def routes(*, metrics_open: bool) -> tuple[Route, ...]:
    """The table; with open metrics, these need no token."""
    if not metrics_open:
        return ROUTES
    return tuple(replace(route, roles=PUBLIC) if route.roles == METRICS_ROLES else route for route in ROUTES)
