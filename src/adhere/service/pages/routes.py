"""The tables of routes: the API with its documentation, and the pages."""

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from adhere.service.api.route import HTML, JSON, METRICS_ROLES, PUBLIC, Route
from adhere.service.api.routes import ROUTES as API_ROUTES
from adhere.service.pages.access import access_page, link_of_token, new_token, revoked_token
from adhere.service.pages.audit import audit_page, derivation_part, verification_part, why_page
from adhere.service.pages.docs import docs, start
from adhere.service.pages.enrolment import enrolment_page
from adhere.service.pages.explore.page import explore_page
from adhere.service.pages.monitor.page import monitor_events, monitor_file, monitor_page, stop_direction_part
from adhere.service.pages.new_trial.page import checked_trial, created_trial, new_trial_page, started_simulation
from adhere.service.pages.new_trial.simulations import simulation_page, simulation_report_page, stopped_simulation
from adhere.service.pages.page_request import PageRequest, PageRoute
from adhere.service.pages.sign_in import sign_in, sign_in_page, sign_out, start_page
from adhere.service.pages.site import recommendation_forms as forms
from adhere.service.pages.site.page import recommendation_from_page, site_page
from adhere.service.pages.site.recommendation import recommendation_page, slip_page
from adhere.service.pages.static_files import static_response
from adhere.service.pages.trials import changed_state, overview_page, trials_page
from adhere_client.responses.service import Start


async def static_page(page: PageRequest) -> Response:
    """Return a static file of the pages."""
    return static_response(page.file, page.headers.get("accept-encoding", ""))


_TRIAL = "/app/trials/{trial}"
_DESIGN = ("list_policies", "check_design", "list_simulations")
_SITE = ("show_trial", "list_waiting", "find_recommendations", "recommend")
_ONE = ("show_trial", "show_recommendation", "find_recommendations", "report")
_AT_SITE = f"{_TRIAL}/site"
_RECOMMENDATION = f"{_TRIAL}/recommendations/{{recommendation_id}}"
_SIMULATION = "/app/simulations/{simulation}"
_WHY = f"{_TRIAL}/audit/{{recommendation_id}}"

PAGES: Final = (
    PageRoute("GET", "/static/{file}", static_page, public=True),
    PageRoute("GET", "/app", start_page, public=True),
    PageRoute("GET", "/app/sign-in", sign_in_page, public=True),
    PageRoute("POST", "/app/sign-in", sign_in, public=True, signs_in=True),
    PageRoute("POST", "/app/sign-out", sign_out, public=True),
    PageRoute("GET", "/app/trials", trials_page, calls=("list_trials",), tab="Trials"),
    PageRoute("GET", "/app/new-trial", new_trial_page, calls=_DESIGN, tab="New trial"),
    PageRoute("POST", "/app/new-trial", checked_trial, calls=(*_DESIGN, "list_trials")),
    PageRoute("POST", "/app/new-trial/trial", created_trial, calls=(*_DESIGN, "create_trial")),
    PageRoute("POST", "/app/new-trial/simulation", started_simulation, calls=(*_DESIGN, "start_simulation")),
    PageRoute("GET", _TRIAL, overview_page, calls=("show_trial",), tab="Overview"),
    PageRoute("POST", f"{_TRIAL}/state", changed_state, calls=("pause", "resume", "close", "reveal")),
    PageRoute("GET", _AT_SITE, site_page, calls=_SITE, tab="Site"),
    PageRoute("POST", _AT_SITE, recommendation_from_page, calls=_SITE),
    PageRoute("GET", _RECOMMENDATION, recommendation_page, calls=_ONE),
    PageRoute("GET", f"{_RECOMMENDATION}/slip", slip_page, calls=_ONE),
    PageRoute("POST", f"{_RECOMMENDATION}/report", forms.report_from_page, calls=_ONE),
    PageRoute("POST", f"{_RECOMMENDATION}/correction", forms.correction_from_page, calls=(*_ONE, "correct")),
    PageRoute("POST", f"{_RECOMMENDATION}/withdrawal", forms.withdrawal_from_page, calls=(*_ONE, "withdraw")),
    PageRoute("POST", f"{_RECOMMENDATION}/error", forms.error_from_page, calls=(*_ONE, "mark_in_error")),
    PageRoute("POST", f"{_RECOMMENDATION}/unblinding", forms.unblinding_from_page, calls=(*_ONE, "unblind")),
    PageRoute("GET", _SIMULATION, simulation_page, calls=("show_simulation",)),
    PageRoute("GET", f"{_SIMULATION}/report", simulation_report_page, calls=("simulation_report",)),
    PageRoute("POST", f"{_SIMULATION}/stop", stopped_simulation, calls=("show_simulation", "stop_simulation")),
    PageRoute("GET", f"{_TRIAL}/enrolment", enrolment_page, calls=("enrolment", "list_waiting"), tab="Enrolment"),
    PageRoute("GET", f"{_TRIAL}/monitor", monitor_page, calls=("monitor",), tab="Monitor"),
    PageRoute("GET", f"{_TRIAL}/monitor/events", monitor_events, calls=("monitor", "show_trial")),
    PageRoute("GET", f"{_TRIAL}/monitor/file", monitor_file, calls=("export", "analysis")),
    PageRoute("GET", f"{_TRIAL}/stop-direction", stop_direction_part, calls=("monitor",)),
    PageRoute("GET", f"{_TRIAL}/audit", audit_page, calls=("list_records",), tab="Audit"),
    PageRoute("GET", f"{_TRIAL}/audit/verification", verification_part, calls=("verify_log",)),
    PageRoute("GET", _WHY, why_page, calls=("show_recommendation", "derive_again")),
    PageRoute("GET", f"{_WHY}/derivation", derivation_part, calls=("derive_again",)),
    PageRoute("GET", "/app/explore", explore_page, calls=("explore",), tab="Explore"),
    PageRoute("GET", "/app/access", access_page, calls=("list_tokens", "list_trials"), tab="Access"),
    PageRoute("POST", "/app/access", new_token, calls=("list_tokens", "make_token", "make_link")),
    PageRoute("POST", "/app/access/{token}/link", link_of_token, calls=("list_tokens", "make_link")),
    PageRoute("POST", "/app/access/{token}/revocation", revoked_token, calls=("list_tokens", "revoke_token")),
)


ROUTES: Final = (
    *API_ROUTES,
    Route("GET", "/", PUBLIC, start, Start, media=(JSON, HTML)),
    Route("GET", "/docs", PUBLIC, docs, bytes, media=(HTML,)),
)


def routes(*, metrics_open: bool) -> tuple[Route, ...]:
    """Return the table of the API's routes. With open metrics, the metrics need no token."""
    if not metrics_open:
        return ROUTES
    return tuple(replace(route, roles=PUBLIC) if route.roles == METRICS_ROLES else route for route in ROUTES)
