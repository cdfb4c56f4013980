"""The table of the API: the application, the OpenAPI document and the tests of permissions are made from it."""

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
from adhere.service.api.queries import WHOLE_NUMBER, Text
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
from adhere_client.responses import log, service
from adhere_client.responses import recommendations as recommended
from adhere_client.responses import simulations as simulated
from adhere_client.responses import trials as shown
from adhere_client.responses.monitor import Monitor
from adhere_client.responses.recommendations import Recorded
from adhere_client.responses.results import Results

_TRIAL = "/trials/{trial}"
_RECOMMENDATION = f"{_TRIAL}/recommendations/{{recommendation_id}}"
_SIMULATION = "/simulations/{simulation}"
_TOKEN = "/tokens/{token}"
_AFTER = Text("The ID of the last recommendation of the list before, its next.", 40)
_FIND = (
    ("subject", Text("The pseudonym of a subject.")),
    ("site", Text("Its site, for admins; empty: those of no site. Left out: all sites.")),
    ("recommendation_id", Text("The ID of one of the subject's recommendations, in place of it.", 40)),
)
_BETWEEN = (("before", WHOLE_NUMBER), ("after", WHOLE_NUMBER))
_EXPORTS = ("text/csv", "application/vnd.apache.parquet", "application/x-ndjson")


def _get(path: str, roles: frozenset[str], handler: Any, response: type, **more: Any) -> Route:
    return Route("GET", path, roles, handler, response, **more)


def _post(path: str, roles: frozenset[str], handler: Any, response: type, body: Any, **more: Any) -> Route:
    return Route("POST", path, roles, handler, response, body=body, **{"status": 201, **more})


def _write(*fields: Any, **more: Any) -> Route:
    return _post(*fields, idempotent=True, **more)


def _delete(path: str, roles: frozenset[str], handler: Any, **more: Any) -> Route:
    return Route("DELETE", path, roles, handler, None, status=204, **more)


_DESIGNS: Final = (
    _get("/policies", ANALYST_ROLES, designs.list_policies, simulated.PolicyList),
    _post("/designs", ANALYST_ROLES, designs.check_design, shown.CheckedDesign, requests.GivenDesign, status=200),
    _post("/simulations", ANALYST_ROLES, simulations.start_simulation, simulated.Simulation, requests.NewSimulation),
    _get("/simulations", ANALYST_ROLES, simulations.list_simulations, simulated.SimulationList),
    _get(_SIMULATION, ANALYST_ROLES, simulations.show_simulation, simulated.Simulation),
    _delete(_SIMULATION, ANALYST_ROLES, simulations.stop_simulation),
    _get(f"{_SIMULATION}/report", ANALYST_ROLES, simulations.simulation_report, bytes, media=(HTML,)),
    _get(
        "/explorations",
        ENROLMENT_ROLES,
        simulations.explore,
        simulated.Exploration,
        query=simulations.EXPLORATION_QUERY,
        problems=("conflict",),
    ),
)
_TRIALS: Final = (
    _post(
        "/trials",
        ADMIN_ROLES,
        trials.create_trial,
        shown.CreatedTrial,
        requests.NewTrial,
        problems=("conflict",),
        reveals=accesses.TRIAL,
    ),
    _get("/trials", TRIAL_ROLES, trials.list_trials, shown.TrialList),
    _get(_TRIAL, TRIAL_ROLES, trials.show_trial, shown.TrialDetails, reveals=accesses.TRIAL),
    _write(f"{_TRIAL}/pause", ADMIN_ROLES, trials.pause, Recorded, requests.Reason),
    _write(f"{_TRIAL}/resume", ADMIN_ROLES, trials.resume, Recorded, requests.Reason),
    _write(f"{_TRIAL}/close", ADMIN_ROLES, trials.close, Recorded, requests.Ending),
    _write(f"{_TRIAL}/reveal", ADMIN_ROLES, trials.reveal, Recorded, requests.Reason),
    _get(f"{_TRIAL}/sites", ADMIN_ROLES, follow_up.list_sites, shown.SiteList),
    _get(f"{_TRIAL}/enrolment", ENROLMENT_ROLES, follow_up.enrolment, shown.TrialEnrolment),
)
_RECOMMENDATIONS: Final = (
    _write(
        f"{_TRIAL}/recommendations",
        SITE_ROLES,
        recommendations.recommend,
        recommended.IssuedRecommendation,
        requests.NewRecommendation,
    ),
    _get(
        f"{_TRIAL}/recommendations",
        SITE_ROLES,
        follow_up.find_recommendations,
        recommended.RecommendationList,
        query=_FIND,
    ),
    _get(
        f"{_TRIAL}/waiting", TRIAL_ROLES, follow_up.list_waiting, recommended.WaitingPage, query=(("after", _AFTER),)
    ),
    _get(
        _RECOMMENDATION,
        RECOMMENDATION_ROLES,
        recommendations.show_recommendation,
        recommended.RecommendationDetails,
        reveals=accesses.RECOMMENDATION,
    ),
    _write(
        f"{_RECOMMENDATION}/reports",
        SITE_ROLES,
        recommendations.report,
        Recorded,
        requests.NewReport,
        reveals=accesses.REPORT,
    ),
    _write(f"{_RECOMMENDATION}/corrections", SITE_ROLES, recommendations.correct, Recorded, requests.NewCorrection),
    _write(f"{_RECOMMENDATION}/withdrawal", SITE_ROLES, recommendations.withdraw, Recorded, requests.Mark),
    _write(f"{_RECOMMENDATION}/error", SITE_ROLES, recommendations.mark_in_error, Recorded, requests.Mark),
    _write(
        f"{_TRIAL}/unblindings",
        RECOMMENDATION_ROLES,
        trials.unblind,
        recommended.Unblinding,
        requests.NewUnblinding,
        reveals=accesses.UNBLINDING,
    ),
    _write(f"{_TRIAL}/erasures", ADMIN_ROLES, trials.erase, Recorded, requests.NewErasure),
)
_RESULTS: Final = (
    _get(f"{_TRIAL}/results", ANALYST_ROLES, trials.results, Results, reveals=accesses.RESULTS),
    _get(f"{_TRIAL}/monitor", ANALYST_ROLES, trials.monitor, Monitor, reveals=accesses.MONITOR),
    _get(f"{_TRIAL}/looks", ANALYST_ROLES, trials.list_looks, shown.LookList, reveals=accesses.LOOKS),
    _get(
        f"{_TRIAL}/analysis",
        ANALYST_ROLES,
        exports.analysis,
        bytes,
        media=("text/html", "application/json"),
        query=(("format", exports.ANALYSIS_FORMAT),),
        reveals=accesses.ANALYSIS,
    ),
    _get(
        f"{_TRIAL}/export",
        ANALYST_ROLES,
        exports.export,
        bytes,
        media=_EXPORTS,
        query=(("format", exports.EXPORT_FORMAT),),
        reveals=accesses.EXPORT,
    ),
)
_AUDIT: Final = (
    _get(
        f"{_TRIAL}/records", ANALYST_ROLES, audit.list_records, log.LogPage, query=_BETWEEN, reveals=accesses.RECORDS
    ),
    _get(
        f"{_RECOMMENDATION}/derivation",
        ANALYST_ROLES,
        audit.derive_again,
        log.Reproduction,
        reveals=accesses.DERIVATION,
    ),
    _get(f"{_TRIAL}/verification", ANALYST_ROLES, audit.verify_log, log.Verification),
    _get(f"{_TRIAL}/accesses", ADMIN_ROLES, accesses.list_accesses, log.AccessPage, query=_BETWEEN),
)
_TOKENS: Final = (
    _post(
        "/tokens",
        ADMIN_ROLES,
        tokens.make_token,
        service.IssuedToken,
        requests.NewToken,
        problems=("unknown", "conflict"),
    ),
    _post(
        f"{_TOKEN}/rotation",
        ADMIN_ROLES,
        tokens.rotate_token,
        service.IssuedToken,
        requests.Rotation,
        problems=("conflict",),
    ),
    _post(
        f"{_TOKEN}/links", ADMIN_ROLES, tokens.make_link, service.SignInLink, requests.NewLink, problems=("conflict",)
    ),
    _get("/tokens", ADMIN_ROLES, tokens.list_tokens, service.TokenList),
    _delete(_TOKEN, ADMIN_ROLES, tokens.revoke_token, problems=("conflict",)),
)
_SERVICE: Final = (
    _get("/healthz", PUBLIC, health.alive, service.Healthy),
    _get("/readyz", PUBLIC, health.ready, service.Healthy),
    _get("/metrics", METRICS_ROLES, health.metrics, bytes, media=(METRICS_TYPE,)),
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
