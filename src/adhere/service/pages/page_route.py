"""What a page is in the table of pages: a method and a path, its handler, and the routes of the API that it calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from adhere.service.api.route import ALL_ROLES, METRICS, Route
from adhere.service.api.routes import ROUTES

if TYPE_CHECKING:
    from adhere.service.pages.page_request import PageRequest

OPERATIONS: Final[Mapping[str, Route]] = {route.name: route for route in ROUTES}
PEOPLE: Final = ALL_ROLES - {METRICS}  # who can sign in


@dataclass(frozen=True)
class PageRoute:
    """A page, or what a form of it sends. `calls` are the API's operations without which it is nothing.

    Whoever may use all of these may open the page; there is no other rule. `tab` is its name in the navigation of a
    trial, or of the whole service where the path names no trial. A `public` page needs no session.
    """

    method: str
    path: str
    handler: Callable[[PageRequest], Awaitable[Response]]
    calls: tuple[str, ...] = ()
    tab: str = ""
    public: bool = False
    signs_in: bool = False  # from whatever page it was sent: of no session, or of one that ended since

    if_unknown = "load the page again to see whether it was"

    @property
    def roles(self) -> frozenset[str]:
        """The roles that may open it."""
        return reduce(lambda roles, name: roles & OPERATIONS[name].roles, self.calls, PEOPLE)
