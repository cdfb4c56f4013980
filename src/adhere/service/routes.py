"""The table of routes. The application, the OpenAPI document and the tests of who may do what are made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from adhere.service import answers, bodies, recommendations, token_handlers, trials, watching
from adhere.service.calls import Call
from adhere.service.exports import export
from adhere.service.metrics import MEDIA_TYPE as METRICS_TYPE
from adhere.trial.requests import Advice, Receipt
from adhere.trial.results import Results

JSON: Final = "application/json"
PUBLIC: Final[frozenset[str]] = frozenset()
SITE, STATISTICIAN, ADMIN = "site", "statistician", "admin"
EVERY_ROLE: Final = frozenset({SITE, STATISTICIAN, ADMIN})
AT_A_SITE: Final = frozenset({SITE, ADMIN})
READERS: Final = frozenset({STATISTICIAN, ADMIN})
ADMINS: Final = frozenset({ADMIN})


@dataclass(frozen=True)
class Route:
    """An address, who may use it (nobody named: everybody), what it takes and what it gives.

    `keyed` routes write to a trial's log, under the request id in the header Idempotency-Key. `problems` are kinds of
    problem that do not follow from the rest.
    """

    method: str
    path: str
    roles: frozenset[str]
    handler: Callable[[Call], Awaitable[Any]]
    summary: str
    answer: type | None
    status: int = 200
    body: type[bodies.Body] | None = None
    keyed: bool = False
    media: tuple[str, ...] = (JSON,)
    problems: tuple[str, ...] = ()
    query: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names and the values each may have, the default first

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of problem it can give."""
        kinds = {"unavailable", *self.problems}
        if self.roles:
            kinds |= {"unauthenticated", "forbidden", "too-many"} | {"malformed"}
        if self.body is not None:
            kinds |= {"malformed", "media-type", "too-large", "invalid"}
        if self.keyed:
            kinds |= {"conflict"}
        if self.query:
            kinds |= {"invalid"}
        if "{" in self.path:
            kinds |= {"unknown"}
        return tuple(sorted(kinds))


def _writes(path: str, roles: frozenset[str], handler: Any, summary: str, answer: type, body: Any) -> Route:
    return Route("POST", path, roles, handler, summary, answer, status=201, body=body, keyed=True)


_TRIAL = "/trials/{trial}"
_ONE = "/trials/{trial}/recommendations/{id}"

ROUTES: Final = (
    Route(
        "POST",
        "/trials",
        ADMINS,
        trials.create_trial,
        "Begin a trial; the same design again is acknowledged",
        answers.Made,
        status=201,
        body=bodies.NewTrial,
        problems=("conflict",),
    ),
    Route("GET", "/trials", EVERY_ROLE, trials.list_trials, "The trials and how they stand", answers.TrialList),
    Route("GET", _TRIAL, EVERY_ROLE, trials.show_trial, "A trial; a site sees less", answers.TrialView),
    _writes(
        f"{_TRIAL}/recommendations",
        AT_A_SITE,
        recommendations.recommend,
        "Recommend an arm, in a blinded trial a kit, for a subject",
        Advice,
        bodies.ForSubject,
    ),
    Route(
        "GET",
        _ONE,
        EVERY_ROLE,
        recommendations.show_recommendation,
        "A recommendation; to a site its own, without probabilities",
        answers.RecommendationView,
    ),
    _writes(
        f"{_ONE}/reports",
        AT_A_SITE,
        recommendations.report,
        "Report what was taken, what came of it, or both",
        Receipt,
        bodies.ReportBody,
    ),
    _writes(
        f"{_ONE}/corrections",
        AT_A_SITE,
        recommendations.correct,
        "Correct or retract what was reported",
        Receipt,
        bodies.CorrectionBody,
    ),
    _writes(
        f"{_ONE}/withdrawal",
        AT_A_SITE,
        recommendations.withdraw,
        "Say that nothing more will be heard",
        Receipt,
        bodies.Reason,
    ),
    _writes(f"{_TRIAL}/pause", ADMINS, trials.pause, "Recommend nothing for now", Receipt, bodies.Reason),
    _writes(f"{_TRIAL}/resume", ADMINS, trials.resume, "Recommend again", Receipt, bodies.Reason),
    _writes(f"{_TRIAL}/close", ADMINS, trials.close, "End the trial for good", Receipt, bodies.Reason),
    _writes(
        f"{_TRIAL}/unblindings",
        READERS,
        trials.unblind,
        "Say what is in a kit, and record that it was said",
        Advice,
        bodies.KitAndReason,
    ),
    _writes(f"{_TRIAL}/erasures", ADMINS, trials.erase, "Forget who a subject is", Receipt, bodies.WhomToForget),
    Route("GET", f"{_TRIAL}/results", READERS, trials.results, "What was found so far", Results),
    Route(
        "GET",
        f"{_TRIAL}/export",
        READERS,
        export,
        "The trial as a table (csv, parquet) or its log; the log's last hash is in X-Adhere-Head",
        bytes,
        media=("text/csv", "application/vnd.apache.parquet", "application/x-ndjson"),
        query=(("format", ("csv", "parquet", "log")),),
    ),
    Route(
        "POST",
        "/tokens",
        ADMINS,
        token_handlers.make_token,
        "Make a token, which is shown this once",
        answers.TokenMade,
        status=201,
        body=bodies.NewToken,
        problems=("unknown",),
    ),
    Route("GET", "/tokens", ADMINS, token_handlers.list_tokens, "All tokens", answers.TokenList),
    Route(
        "DELETE",
        "/tokens/{id}",
        ADMINS,
        token_handlers.revoke_token,
        "Revoke a token; the last admin's is kept",
        None,
        status=204,
        problems=("conflict",),
    ),
    Route("GET", "/healthz", PUBLIC, watching.alive, "Whether the service is alive", answers.Healthy),
    Route("GET", "/readyz", PUBLIC, watching.ready, "Whether it can write", answers.Healthy),
    Route("GET", "/metrics", PUBLIC, watching.metrics, "Counts, for Prometheus", bytes, media=(METRICS_TYPE,)),
    Route("GET", "/openapi.json", PUBLIC, watching.openapi, "This document", dict),
)
