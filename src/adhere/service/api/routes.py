"""The table of the API: the application, the OpenAPI document and the tests of permissions are made from it."""

from __future__ import annotations

from typing import Any, Final

from adhere.exploration.results import Exploration
from adhere.service.api import (
    accesses,
    audit,
    design_views,
    designs,
    explorations,
    follow_up,
    health,
    monitor,
    recommendations,
    requests,
    responses,
    simulation_views,
    simulations,
    sites,
    tokens,
    trials,
)
from adhere.service.api.audit_views import DerivationView, RecordList, VerificationView
from adhere.service.api.exports import export
from adhere.service.api.follow_up_views import EnrolmentView, RecommendationList, WaitingList
from adhere.service.api.parameters import Text
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
from adhere.trial.domain.commands import Receipt, RecommendationResponse, UnblindingResponse
from adhere.trial.monitoring.monitor import Monitor
from adhere.trial.monitoring.results import Results


def _write(path: str, roles: frozenset[str], handler: Any, response: type, body: Any, reveals: str = "") -> Route:
    return Route("POST", path, roles, handler, response, status=201, body=body, idempotent=True, reveals=reveals)


_TRIAL = "/trials/{trial}"
_SIMULATION = "/simulations/{id}"
_AFTER = Text("The ID of the last recommendation of the list before, its next.", 40)
_RECOMMENDATION = "/trials/{trial}/recommendations/{recommendation_id}"

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
    Route("GET", "/policies", ANALYST_ROLES, designs.list_policies, design_views.PolicyList),
    Route(
        "POST", "/designs", ANALYST_ROLES, designs.check_design, design_views.DesignChecked, body=requests.GivenDesign
    ),
    Route(
        "POST",
        "/simulations",
        ANALYST_ROLES,
        simulations.start_simulation,
        simulation_views.SimulationView,
        status=201,
        body=requests.NewSimulation,
    ),
    Route("GET", "/simulations", ANALYST_ROLES, simulations.list_simulations, simulation_views.SimulationList),
    Route("GET", _SIMULATION, ANALYST_ROLES, simulations.show_simulation, simulation_views.SimulationView),
    Route("DELETE", _SIMULATION, ANALYST_ROLES, simulations.stop_simulation, None, status=204),
    Route("GET", f"{_SIMULATION}/report", ANALYST_ROLES, simulations.simulation_report, bytes, media=(HTML,)),
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
        RECOMMENDATION_ROLES,
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
    _write(f"{_RECOMMENDATION}/error", SITE_ROLES, recommendations.mark_in_error, Receipt, requests.ErrorMark),
    _write(f"{_TRIAL}/pause", ADMIN_ROLES, trials.pause, Receipt, requests.Reason),
    _write(f"{_TRIAL}/resume", ADMIN_ROLES, trials.resume, Receipt, requests.Reason),
    _write(f"{_TRIAL}/close", ADMIN_ROLES, trials.close, Receipt, requests.Ending),
    _write(f"{_TRIAL}/reveal", ADMIN_ROLES, trials.reveal, Receipt, requests.Reason),
    _write(
        f"{_TRIAL}/unblindings",
        RECOMMENDATION_ROLES,
        trials.unblind,
        UnblindingResponse,
        requests.NewUnblinding,
        accesses.UNBLINDING,
    ),
    _write(f"{_TRIAL}/erasures", ADMIN_ROLES, trials.erase, Receipt, requests.NewErasure),
    Route("GET", f"{_TRIAL}/sites", ADMIN_ROLES, sites.list_sites, responses.SiteList),
    Route("GET", f"{_TRIAL}/enrolment", ENROLMENT_ROLES, follow_up.enrolment, EnrolmentView),
    Route("GET", f"{_TRIAL}/waiting", TRIAL_ROLES, follow_up.list_waiting, WaitingList, query=(("after", _AFTER),)),
    Route(
        "GET",
        f"{_TRIAL}/recommendations",
        SITE_ROLES,
        follow_up.find_recommendations,
        RecommendationList,
        query=(
            ("subject", Text("The pseudonym of a subject.")),
            ("site", Text("Its site, for admins; empty: those of no site. Left out: all sites.")),
            (
                "recommendation_id",
                Text("The ID of one of the subject's recommendations, in place of it.", 40),
            ),
        ),
    ),
    Route("GET", f"{_TRIAL}/results", ANALYST_ROLES, trials.results, Results, reveals=accesses.RESULTS),
    Route("GET", f"{_TRIAL}/monitor", ANALYST_ROLES, monitor.monitor, Monitor, reveals=accesses.MONITOR),
    Route(
        "GET",
        f"{_TRIAL}/analysis",
        ANALYST_ROLES,
        monitor.analysis,
        bytes,
        media=("text/html", "application/json"),
        query=(("format", ("html", "json")),),
        reveals=accesses.ANALYSIS,
    ),
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
        query=(("after", ()), ("before", ())),
    ),
    Route(
        "GET",
        f"{_TRIAL}/records",
        ANALYST_ROLES,
        audit.list_records,
        RecordList,
        query=(("before", ()), ("after", ())),
        reveals=accesses.RECORDS,
    ),
    Route(
        "GET",
        f"{_RECOMMENDATION}/derivation",
        ANALYST_ROLES,
        audit.derive_again,
        DerivationView,
        reveals=accesses.DERIVATION,
    ),
    Route("GET", f"{_TRIAL}/verification", ANALYST_ROLES, audit.verify_log, VerificationView),
    Route(
        "POST",
        "/tokens",
        ADMIN_ROLES,
        tokens.make_token,
        responses.TokenCreated,
        status=201,
        body=requests.NewToken,
        problems=("unknown", "conflict"),
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
    Route(
        "POST",
        "/tokens/{id}/links",
        ADMIN_ROLES,
        tokens.make_link,
        responses.LinkCreated,
        status=201,
        body=requests.NewLink,
        problems=("conflict",),
    ),
    Route("GET", "/tokens", ADMIN_ROLES, tokens.list_tokens, responses.TokenList),
    Route("DELETE", "/tokens/{id}", ADMIN_ROLES, tokens.revoke_token, None, status=204, problems=("conflict",)),
    Route(
        "GET",
        "/explorations",
        ENROLMENT_ROLES,
        explorations.explore,
        Exploration,
        query=explorations.QUERY,
        problems=("conflict",),
    ),
    Route("GET", "/healthz", PUBLIC, health.alive, responses.Healthy),
    Route("GET", "/readyz", PUBLIC, health.ready, responses.Healthy),
    Route("GET", "/metrics", METRICS_ROLES, health.metrics, bytes, media=(METRICS_TYPE,)),
    Route("GET", "/openapi.json", PUBLIC, health.openapi, dict),
)
