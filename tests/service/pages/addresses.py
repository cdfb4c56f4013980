"""The pages of the table as addresses that one can open."""

from __future__ import annotations

from typing import Final

from adhere.service.pages.page_request import PageRoute
from adhere.service.pages.routes import PAGES
from service.serving import Service, path_of

from .populated import BLINDED, OPEN, SECOND

READ: Final = [route for route in PAGES if route.method == "GET" and not route.public]
SENT: Final = [route for route in PAGES if route.method == "POST" and not route.public]
TRIALS: Final = (OPEN, BLINDED)


def name_of(route: PageRoute) -> str:
    return f"{route.method} {route.path}"


def address(service: Service, route: PageRoute, trial: str = OPEN) -> str:
    """Where a page of a service is whose trials have at least two recommendations."""
    return path_of(route, trial, service.ids(trial)[SECOND], 1)


def addresses(service: Service, route: PageRoute) -> list[str]:
    """A page of one trial for each kind of trial, another once."""
    return [address(service, route, trial) for trial in (TRIALS if "{trial}" in route.path else (OPEN,))]
