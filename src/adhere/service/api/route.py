"""Routes: a method and a path, who may use it, its request and its response."""

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
BLIND_ROLES: Final = frozenset({SITE, COORDINATOR})  # are told no arm of a blinded trial, and of no trial its results


@dataclass(frozen=True)
class Route:
    """A method and path, the roles that may use it (none: public), its request and its response.

    `group` is its heading in the OpenAPI document and in `/docs`. A handler may return a value of the domain that has
    the fields of the `response`; over HTTP it is sent as one.
    `idempotent` routes write to a trial's log and need the header Idempotency-Key. `problems` are kinds of problem
    that do not follow from the other fields. `reveals` is the kind of read that is written to the access log before
    the answer is sent, if it shows an arm of a blinded trial, or a probability.
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
        """The ID of the operation in the OpenAPI document, by which pages call it: the name of its handler."""
        return self.handler.__name__

    @property
    def summary(self) -> str:
        """A sentence about the operation, in the words of its handler."""
        return (self.handler.__doc__ or "").removesuffix(".")

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of problem that it can respond with."""
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
        """The advice for a client if it is not known whether a request was executed."""
        if self.method == "GET":  # only the row of the access log was to be written
            return "send the same request again"
        if self.idempotent:
            return "send the same request again with the same Idempotency-Key"
        if self.response is IssuedToken:
            return "list the tokens (GET /tokens) and, if a new one is there, revoke it: its text is lost"
        return "send the same request again: if it was written, that changes nothing"
