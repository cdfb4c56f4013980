"""The table of the API's routes, used by the application, the OpenAPI document and the tests of permissions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from adhere.service.api import (
    accesses,
    audit,
    designs,
    exports,
    follow_up,
    health,
    recommendations,
    requests,
    simulations,
    tokens,
    trials,
)
from adhere.service.api.queries import WHOLE_NUMBER, Choice, Text
from adhere.service.api.route import (
    ADMIN_ROLES,
    ANALYST_ROLES,
    ENROLMENT_ROLES,
    HTML,
    METRICS_ROLES,
    PUBLIC,
    RECOMMENDATION_ROLES,
    SITE_ROLES,
    TRIAL_ROLES,
    Route,
)
from adhere.service.metrics import MEDIA_TYPE as METRICS_TYPE
from adhere_client.responses.recommendations import IssuedRecommendation, Recorded, Unblinding
from adhere_client.responses.results import Results
from adhere_client.responses.simulations import Exploration

_TRIAL = "/trials/{trial}"
_RECOMMENDATIONS_OF = f"{_TRIAL}/recommendations"
_RECOMMENDATION = f"{_RECOMMENDATIONS_OF}/{{recommendation_id}}"
_SIMULATION = "/simulations/{simulation}"
_TOKEN = "/tokens/{token}"
_AFTER = Text("The ID of the last recommendation of the list before, its next.", 40)
_FIND = (
    ("subject", Text("The pseudonym of a subject.")),
    ("site", Text("Its site, for admins; empty: those of no site. Left out: all sites.")),
    ("recommendation_id", Text("The ID of one of the subject's recommendations, in place of it.", 40)),
)
_BETWEEN = (("before", WHOLE_NUMBER), ("after", WHOLE_NUMBER))


def _get(path: str, roles: frozenset[str], handler: Any, response: type | None = None, **more: Any) -> Route:
    """Make a route that reads. By default, the response is the handler's return type."""
    return Route("GET", path, roles, handler, response or handler.__annotations__["return"], **more)


def _file(path: str, roles: frozenset[str], handler: Any, *media: str, **more: Any) -> Route:
    return Route("GET", path, roles, handler, bytes, media=media, **more)


def _export(path: str, handler: Any, types: Mapping[str, str], reveals: str) -> Route:
    """Make a route that returns a trial as a file in the requested format."""
    media = (kind.partition(";")[0] for kind in types.values())
    return _file(path, ANALYST_ROLES, handler, *media, query=(("format", Choice(tuple(types))),), reveals=reveals)


def _post(path: str, roles: frozenset[str], handler: Any, body: type, status: int = 201, **more: Any) -> Route:
    """Make a route that changes data outside a trial's log. The response is the handler's return type."""
    return Route("POST", path, roles, handler, handler.__annotations__["return"], status, body, **more)


def _write(
    path: str, roles: frozenset[str], handler: Any, body: type, response: type = Recorded, **more: Any
) -> Route:
    """Make a route that writes to a trial's log."""
    return Route("POST", path, roles, handler, response, 201, body, idempotent=True, **more)


def _delete(path: str, roles: frozenset[str], handler: Any, **more: Any) -> Route:
    return Route("DELETE", path, roles, handler, None, status=204, **more)


_DESIGNS: Final = (
    _get("/policies", ANALYST_ROLES, designs.list_policies),
    _post("/designs", ANALYST_ROLES, designs.check_design, requests.GivenDesign, status=200),
    _post("/simulations", ANALYST_ROLES, simulations.start_simulation, requests.NewSimulation),
    _get("/simulations", ANALYST_ROLES, simulations.list_simulations),
    _get(_SIMULATION, ANALYST_ROLES, simulations.show_simulation),
    _delete(_SIMULATION, ANALYST_ROLES, simulations.stop_simulation),
    _file(f"{_SIMULATION}/report", ANALYST_ROLES, simulations.simulation_report, HTML),
    _get(
        "/explorations",
        ENROLMENT_ROLES,
        simulations.explore,
        Exploration,
        query=simulations.EXPLORATION_QUERY,
        problems=("conflict",),
    ),
)
_TRIALS: Final = (
    _post(
        "/trials", ADMIN_ROLES, trials.create_trial, requests.NewTrial, problems=("conflict",), reveals=accesses.TRIAL
    ),
    _get("/trials", TRIAL_ROLES, trials.list_trials),
    _get(_TRIAL, TRIAL_ROLES, trials.show_trial, reveals=accesses.TRIAL),
    _write(f"{_TRIAL}/pause", ADMIN_ROLES, trials.pause, requests.Reason),
    _write(f"{_TRIAL}/resume", ADMIN_ROLES, trials.resume, requests.Reason),
    _write(f"{_TRIAL}/close", ADMIN_ROLES, trials.close, requests.Ending),
    _write(f"{_TRIAL}/reveal", ADMIN_ROLES, trials.reveal, requests.Reason),
    _get(f"{_TRIAL}/sites", ADMIN_ROLES, follow_up.list_sites),
    _get(f"{_TRIAL}/enrolment", ENROLMENT_ROLES, follow_up.enrolment),
)
_RECOMMENDATIONS: Final = (
    _write(
        _RECOMMENDATIONS_OF, SITE_ROLES, recommendations.recommend, requests.NewRecommendation, IssuedRecommendation
    ),
    _get(_RECOMMENDATIONS_OF, SITE_ROLES, follow_up.find_recommendations, query=_FIND),
    _get(f"{_TRIAL}/waiting", TRIAL_ROLES, follow_up.list_waiting, query=(("after", _AFTER),)),
    _get(_RECOMMENDATION, RECOMMENDATION_ROLES, recommendations.show_recommendation, reveals=accesses.RECOMMENDATION),
    _write(
        f"{_RECOMMENDATION}/reports", SITE_ROLES, recommendations.report, requests.NewReport, reveals=accesses.REPORT
    ),
    _write(f"{_RECOMMENDATION}/corrections", SITE_ROLES, recommendations.correct, requests.NewCorrection),
    _write(f"{_RECOMMENDATION}/withdrawal", SITE_ROLES, recommendations.withdraw, requests.Mark),
    _write(f"{_RECOMMENDATION}/error", SITE_ROLES, recommendations.mark_in_error, requests.Mark),
    _write(
        f"{_TRIAL}/unblindings",
        RECOMMENDATION_ROLES,
        trials.unblind,
        requests.NewUnblinding,
        Unblinding,
        reveals=accesses.UNBLINDING,
    ),
    _write(f"{_TRIAL}/erasures", ADMIN_ROLES, trials.erase, requests.NewErasure),
)
_RESULTS: Final = (
    _get(f"{_TRIAL}/results", ANALYST_ROLES, trials.results, Results, reveals=accesses.RESULTS),
    _get(f"{_TRIAL}/monitor", ANALYST_ROLES, trials.monitor, reveals=accesses.MONITOR),
    _get(f"{_TRIAL}/looks", ANALYST_ROLES, trials.list_looks, reveals=accesses.LOOKS),
    _export(f"{_TRIAL}/analysis", exports.analysis, exports.ANALYSES, accesses.ANALYSIS),
    _export(f"{_TRIAL}/export", exports.export, exports.EXPORTS, accesses.EXPORT),
)
_AUDIT: Final = (
    _get(f"{_TRIAL}/records", ANALYST_ROLES, audit.list_records, query=_BETWEEN, reveals=accesses.RECORDS),
    _get(f"{_RECOMMENDATION}/derivation", ANALYST_ROLES, audit.derive_again, reveals=accesses.DERIVATION),
    _get(f"{_TRIAL}/verification", ANALYST_ROLES, audit.verify_log),
    _get(f"{_TRIAL}/accesses", ADMIN_ROLES, accesses.list_accesses, query=_BETWEEN),
)
_TOKENS: Final = (
    _post("/tokens", ADMIN_ROLES, tokens.make_token, requests.NewToken, problems=("unknown", "conflict")),
    _post(f"{_TOKEN}/rotation", ADMIN_ROLES, tokens.rotate_token, requests.Rotation, problems=("conflict",)),
    _post(f"{_TOKEN}/links", ADMIN_ROLES, tokens.make_link, requests.NewLink, problems=("conflict",)),
    _get("/tokens", ADMIN_ROLES, tokens.list_tokens),
    _delete(_TOKEN, ADMIN_ROLES, tokens.revoke_token, problems=("conflict",)),
)
_SERVICE: Final = (
    _get("/healthz", PUBLIC, health.alive),
    _get("/readyz", PUBLIC, health.ready),
    _file("/metrics", METRICS_ROLES, health.metrics, METRICS_TYPE),
    _get("/openapi.json", PUBLIC, health.openapi, dict),
)
GROUPS: Final = {
    "Designs and simulations": _DESIGNS,
    "Trials": _TRIALS,
    "Recommendations and reports": _RECOMMENDATIONS,
    "Results": _RESULTS,
    "Audit": _AUDIT,
    "Tokens": _TOKENS,
    "The service": _SERVICE,
}
ROUTES: Final = tuple(replace(route, group=group) for group, routes in GROUPS.items() for route in routes)
