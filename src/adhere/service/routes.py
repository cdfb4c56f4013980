"""The table of routes, from which the application, the OpenAPI document and the tests of permissions are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from adhere.service import accesses, health, recommendations, requests, responses, tokens, trials
from adhere.service.context import RequestContext
from adhere.service.exports import export
from adhere.service.metrics import MEDIA_TYPE as METRICS_TYPE
from adhere.service.pages.api import docs
from adhere.service.pages.page import MEDIA_TYPE as HTML
from adhere.service.pages.start import start
from adhere.trial.commands import Receipt, RecommendationResponse
from adhere.trial.results import Results

JSON: Final = "application/json"
PUBLIC: Final[frozenset[str]] = frozenset()
SITE, STATISTICIAN, ADMIN, METRICS = "site", "statistician", "admin", "metrics"
TRIAL_ROLES: Final = frozenset({SITE, STATISTICIAN, ADMIN})
SITE_ROLES: Final = frozenset({SITE, ADMIN})
ANALYST_ROLES: Final = frozenset({STATISTICIAN, ADMIN})
ADMIN_ROLES: Final = frozenset({ADMIN})
METRICS_ROLES: Final = frozenset({METRICS, ADMIN})
ALL_ROLES: Final = TRIAL_ROLES | METRICS_ROLES


@dataclass(frozen=True)
class Route:
    """A method and path, the roles that may use it (none: public), its request and its response.

    `idempotent` routes write to a trial's log and need the header Idempotency-Key. `problems` are kinds of problem
    that do not follow from the other fields. `reveals` is the kind of read that is written to the access log before
    the answer is sent, if it shows an arm of a blinded trial, or a probability, to whoever is not a site.
    """

    method: str
    path: str
    roles: frozenset[str]
    handler: Callable[[RequestContext], Awaitable[Any]]
    response: type | None
    status: int = 200
    body: type[requests.Body] | None = None
    idempotent: bool = False
    media: tuple[str, ...] = (JSON,)
    problems: tuple[str, ...] = ()
    query: tuple[tuple[str, tuple[str, ...]], ...] = ()  # their values, the default first; none: a whole number
    reveals: str = ""

    @property
    def summary(self) -> str:
        """What it does, in the words of its handler."""
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
        """What to do if it is not known whether a request was executed."""
        if self.method == "GET":  # only the row of the access log was to be written
            return "send the same request again"
        if self.idempotent:
            return "send the same request again with the same Idempotency-Key"
        if self.response is responses.TokenCreated:
            return "list the tokens (GET /tokens) and, if a new one is there, revoke it: its text is lost"
        return "send the same request again: if it was written, that changes nothing"


def _write(path: str, roles: frozenset[str], handler: Any, response: type, body: Any, reveals: str = "") -> Route:
    return Route("POST", path, roles, handler, response, status=201, body=body, idempotent=True, reveals=reveals)


_TRIAL = "/trials/{trial}"
_RECOMMENDATION = "/trials/{trial}/recommendations/{id}"

ROUTES: Final = (
    Route(
        "POST",
        "/trials",
        ADMIN_ROLES,
        trials.create_trial,
        responses.TrialCreated,
        status=201,
        body=requests.NewTrial,
        problems=("conflict",),
        reveals=accesses.TRIAL,
    ),
    Route("GET", "/trials", TRIAL_ROLES, trials.list_trials, responses.TrialList),
    Route("GET", _TRIAL, TRIAL_ROLES, trials.show_trial, responses.TrialView, reveals=accesses.TRIAL),
    _write(
        f"{_TRIAL}/recommendations",
        SITE_ROLES,
        recommendations.recommend,
        RecommendationResponse,
        requests.NewRecommendation,
    ),
    Route(
        "GET",
        _RECOMMENDATION,
        TRIAL_ROLES,
        recommendations.show_recommendation,
        responses.RecommendationView,
        reveals=accesses.RECOMMENDATION,
    ),
    _write(
        f"{_RECOMMENDATION}/reports",
        SITE_ROLES,
        recommendations.report,
        Receipt,
        requests.NewReport,
        accesses.REPORT,
    ),
    _write(f"{_RECOMMENDATION}/corrections", SITE_ROLES, recommendations.correct, Receipt, requests.NewCorrection),
    _write(f"{_RECOMMENDATION}/withdrawal", SITE_ROLES, recommendations.withdraw, Receipt, requests.Withdrawal),
    _write(f"{_TRIAL}/pause", ADMIN_ROLES, trials.pause, Receipt, requests.Reason),
    _write(f"{_TRIAL}/resume", ADMIN_ROLES, trials.resume, Receipt, requests.Reason),
    _write(f"{_TRIAL}/close", ADMIN_ROLES, trials.close, Receipt, requests.Ending),
    _write(
        f"{_TRIAL}/unblindings",
        ANALYST_ROLES,
        trials.unblind,
        RecommendationResponse,
        requests.NewUnblinding,
        accesses.UNBLINDING,
    ),
    _write(f"{_TRIAL}/erasures", ADMIN_ROLES, trials.erase, Receipt, requests.NewErasure),
    Route("GET", f"{_TRIAL}/results", ANALYST_ROLES, trials.results, Results, reveals=accesses.RESULTS),
    Route("GET", f"{_TRIAL}/looks", ANALYST_ROLES, trials.list_looks, responses.LookList, reveals=accesses.LOOKS),
    Route(
        "GET",
        f"{_TRIAL}/export",
        ANALYST_ROLES,
        export,
        bytes,
        media=("text/csv", "application/vnd.apache.parquet", "application/x-ndjson"),
        query=(("format", ("csv", "parquet", "log")),),
        reveals=accesses.EXPORT,
    ),
    Route(
        "GET",
        f"{_TRIAL}/accesses",
        ADMIN_ROLES,
        accesses.list_accesses,
        responses.AccessList,
        query=(("after", ()),),
    ),
    Route(
        "POST",
        "/tokens",
        ADMIN_ROLES,
        tokens.make_token,
        responses.TokenCreated,
        status=201,
        body=requests.NewToken,
        problems=("unknown",),
    ),
    Route(
        "POST",
        "/tokens/{id}/rotation",
        ADMIN_ROLES,
        tokens.rotate_token,
        responses.TokenCreated,
        status=201,
        body=requests.Rotation,
        problems=("conflict",),
    ),
    Route("GET", "/tokens", ADMIN_ROLES, tokens.list_tokens, responses.TokenList),
    Route("DELETE", "/tokens/{id}", ADMIN_ROLES, tokens.revoke_token, None, status=204, problems=("conflict",)),
    Route("GET", "/healthz", PUBLIC, health.alive, responses.Healthy),
    Route("GET", "/readyz", PUBLIC, health.ready, responses.Healthy),
    Route("GET", "/metrics", METRICS_ROLES, health.metrics, bytes, media=(METRICS_TYPE,)),
    Route("GET", "/openapi.json", PUBLIC, health.openapi, dict),
    Route("GET", "/", PUBLIC, start, responses.Start, media=(JSON, HTML)),
    Route("GET", "/docs", PUBLIC, docs, bytes, media=(HTML,)),
)


def routes(*, metrics_open: bool) -> tuple[Route, ...]:
    """The table; with open metrics, these need no token."""
    if not metrics_open:
        return ROUTES
    return tuple(replace(route, roles=PUBLIC) if route.roles == METRICS_ROLES else route for route in ROUTES)
