"""Routes: a method and a path, with permissions, a request and a response."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from msgspec import Struct

from adhere.service.api.queries import Parameter
from adhere.service.context import RequestContext
from adhere_client.responses.service import IssuedToken

JSON: Final = "application/json"
HTML: Final = "text/html"
PUBLIC: Final[frozenset[str]] = frozenset()
SITE, COORDINATOR, STATISTICIAN, ADMIN, METRICS = "site", "coordinator", "statistician", "admin", "metrics"
TRIAL_ROLES: Final = frozenset({SITE, COORDINATOR, STATISTICIAN, ADMIN})
RECOMMENDATION_ROLES: Final = frozenset({SITE, STATISTICIAN, ADMIN})
SITE_ROLES: Final = frozenset({SITE, ADMIN})
ANALYST_ROLES: Final = frozenset({STATISTICIAN, ADMIN})
ENROLMENT_ROLES: Final = frozenset({COORDINATOR, STATISTICIAN, ADMIN})
ADMIN_ROLES: Final = frozenset({ADMIN})
METRICS_ROLES: Final = frozenset({METRICS, ADMIN})
ALL_ROLES: Final = TRIAL_ROLES | METRICS_ROLES
BLIND_ROLES: Final = frozenset({SITE, COORDINATOR})  # see no arms of a blinded trial, and no results of any trial


@dataclass(frozen=True)
class Route:
    """A route: a method, a path, the roles that may use it (none: public), its request and its response.

    - `group` is the route's heading in the OpenAPI document and in `/docs`.
    - A handler may return a domain value with the fields of `response`, which is sent as that type.
    - `idempotent` routes write to a trial's log and need the header Idempotency-Key.
    - `problems` are the kinds of problem that do not follow from the other fields.
    - `reveals` is the kind of read for the access log, if the answer shows an arm of a blinded trial or a
      probability. It is logged before the answer is sent.
    """

    method: str
    path: str
    roles: frozenset[str]
    handler: Callable[[RequestContext], Awaitable[Any]]
    response: type | None
    status: int = 200
    body: type[Struct] | None = None
    idempotent: bool = False
    media: tuple[str, ...] = (JSON,)
    problems: tuple[str, ...] = ()
    query: tuple[tuple[str, Parameter], ...] = ()
    reveals: str = ""
    group: str = "The service"

    @property
    def name(self) -> str:
        """Return the name of the handler, which is the operation's ID in the OpenAPI document and for pages."""
        return self.handler.__name__

    @property
    def summary(self) -> str:
        """Return a sentence about the operation, from the handler's docstring."""
        return (self.handler.__doc__ or "").removesuffix(".")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return all kinds of problem that the route can respond with."""
        kinds = {"unavailable", *self.problems}
        if self.roles:
            kinds |= {"unauthenticated", "forbidden", "too-many"} | {"malformed"}
        if self.body is not None:
            kinds |= {"malformed", "media-type", "too-large", "invalid"}
        if self.idempotent:
            kinds |= {"conflict"}
        if self.query:
            kinds |= {"invalid"}
        if "{" in self.path:
            kinds |= {"unknown"}
        return tuple(sorted(kinds))

    @property
    def if_unknown(self) -> str:
        """Return advice for a client that does not know whether its request was executed."""
        if self.method == "GET":  # the request would have written to the access log only
            return "send the same request again"
        if self.idempotent:
            return "send the same request again with the same Idempotency-Key"
        if self.response is IssuedToken:
            return "list the tokens (GET /tokens) and, if a new one is there, revoke it: its text is lost"
        return "send the same request again: if it was written, that changes nothing"
