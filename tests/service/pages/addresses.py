"""The pages of the table as addresses that one can open."""

from __future__ import annotations

from typing import Final

from adhere.service.pages.page_route import PageRoute
from adhere.service.pages.routes import PAGES

from .populated import BLINDED, OPEN, SUBJECT

READ: Final = [route for route in PAGES if route.method == "GET" and not route.public]
SENT: Final = [route for route in PAGES if route.method == "POST" and not route.public]
TRIALS: Final = (OPEN, BLINDED)


def name_of(route: PageRoute) -> str:
    return f"{route.method} {route.path}"


def address(route: PageRoute, trial: str = OPEN) -> str:
    """Where a page of a populated service is."""
    return route.path.replace("{trial}", trial).replace("{id}", str(SUBJECT))


def addresses(route: PageRoute) -> list[str]:
    """A page of one trial for each kind of trial, another once."""
    return [address(route, trial) for trial in TRIALS] if "{trial}" in route.path else [address(route)]
