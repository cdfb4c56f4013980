"""Call a route of the API for the holder of a token: may they, is the trial theirs, is the read to be logged?

Requests over HTTP and pages both come through here, so that a page can show nothing that the API would not.
"""

from __future__ import annotations

from typing import Any

from adhere.errors import UnknownError
from adhere.service.api.accesses import UNBLINDING, answer
from adhere.service.api.queries import check_query
from adhere.service.api.route import BLIND_ROLES, Route
from adhere.service.context import RequestContext
from adhere.service.http.problems import ProblemError


def check_role(route: Route, role: str) -> None:
    """Refuse a role that the route is not for."""
    if role not in route.roles:
        allowed = " or ".join(sorted(route.roles))
        raise ProblemError(
            "forbidden", f"this request needs the role {allowed}; the token has the role {role}", field="role"
        )


def check_trial(context: RequestContext) -> None:
    """To a token for one trial, all others are unknown."""
    only = context.holder.trial
    if only is not None and context.trial != only:
        raise UnknownError("trial", context.trial, "the trial this token is for")


async def call(route: Route, context: RequestContext) -> Any:
    """The handler's answer to a request whose holder may use the route."""
    if context.query:
        check_query(context.query, [name for name, _ in route.query])
    if route.reveals and (context.holder.role not in BLIND_ROLES or route.reveals == UNBLINDING):
        return await answer(route.handler, context, route.reveals)
    return await route.handler(context)
