"""Each role on each route, from the table of routes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct

from adhere.service.api.requests import (
    Ending,
    GivenDesign,
    Mark,
    NewCorrection,
    NewErasure,
    NewLink,
    NewRecommendation,
    NewReport,
    NewSimulation,
    NewToken,
    NewTrial,
    NewUnblinding,
    Reason,
    Rotation,
)
from adhere.service.api.route import ALL_ROLES, Route
from adhere.service.pages.routes import ROUTES
from service.serving import ARMS, Service, path_of
from trial.live import UNKNOWN_ID

BODIES: dict[type[Struct], dict[str, Any]] = {
    NewTrial: {"name": "of a role", "policy": "uniform", "arms": ARMS},
    GivenDesign: {"design": {"name": "checked", "policy": "uniform", "arms": ARMS}},
    NewSimulation: {
        "design": {"name": "simulated", "policy": "thompson", "arms": ARMS, "n_patients": 20},
        "scenarios": {"effect": [0.2]},
        "n_trials": 10,
    },
    NewRecommendation: {"subject": "S-1"},
    NewReport: {"reward": 1},
    NewCorrection: {"reason": "a slip", "reward": 0},
    Reason: {"reason": "because"},
    Ending: {"reason": "because"},
    Mark: {"reason": "because"},
    NewUnblinding: {"kit": "0000-0000", "reason": "an emergency"},
    NewErasure: {"subject": "nobody"},
    Rotation: {},
    NewLink: {},
    NewToken: {"role": "statistician", "label": "of a role"},
}
GUARDED = [route for route in ROUTES if route.roles]
_OF_TRIAL, _OF_ONE, _STUDY = "/trials/{trial}", "/trials/{trial}/recommendations/{recommendation_id}", "/simulations"
# Who may do what, apart from the table of routes: a role that gets a right there by a slip gets none here.
RIGHTS = {
    "admin": {
        "POST /trials",
        *(f"POST {_OF_TRIAL}/{verb}" for verb in ("pause", "resume", "close", "reveal", "erasures")),
        *(f"GET {_OF_TRIAL}/{what}" for what in ("sites", "accesses")),
        *("GET /tokens", "POST /tokens", "DELETE /tokens/{token}", "POST /tokens/{token}/rotation"),
        "POST /tokens/{token}/links",
    },
    "admin metrics": {"GET /metrics"},
    "admin statistician": {
        *("GET /policies", "POST /designs", f"GET {_STUDY}", f"POST {_STUDY}", f"GET {_STUDY}/{{simulation}}"),
        *(f"DELETE {_STUDY}/{{simulation}}", f"GET {_STUDY}/{{simulation}}/report", f"GET {_OF_ONE}/derivation"),
        *(f"GET {_OF_TRIAL}/{what}" for what in ("results", "monitor", "analysis", "looks", "export", "records")),
        f"GET {_OF_TRIAL}/verification",
    },
    "admin coordinator statistician": {f"GET {_OF_TRIAL}/enrolment", "GET /explorations"},
    "admin site": {
        *(f"GET {_OF_TRIAL}/recommendations", f"POST {_OF_TRIAL}/recommendations"),
        *(f"POST {_OF_ONE}/{verb}" for verb in ("reports", "corrections", "withdrawal", "error")),
    },
    "admin site statistician": {f"GET {_OF_ONE}", f"POST {_OF_TRIAL}/unblindings"},
    "admin coordinator site statistician": {"GET /trials", f"GET {_OF_TRIAL}", f"GET {_OF_TRIAL}/waiting"},
    "": {"GET /healthz", "GET /readyz", "GET /openapi.json", "GET /", "GET /docs"},
}


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


def test_roles_have_the_rights_that_they_are_meant_to_have() -> None:
    found: dict[str, set[str]] = {}
    for route in ROUTES:
        found.setdefault(" ".join(sorted(route.roles)), set()).add(name_of(route))
    assert found == RIGHTS


def ask(service: Service, route: Route, role: str | None, trial: str = "nowhere", made: str = UNKNOWN_ID) -> int:
    body = BODIES[route.body] if route.body is not None else None
    return service.send(route.method, path_of(route, trial, made), body, role=role).status


@pytest.mark.parametrize("route", GUARDED, ids=name_of)
def test_every_role_is_let_in_or_turned_away_as_the_table_says(service: Service, route: Route) -> None:
    assert ask(service, route, None) == 401
    for role in ALL_ROLES:
        status = ask(service, route, role)
        if role not in route.roles:
            assert status == 403, role
        elif "{" in route.path:
            assert status == 404, role
        else:
            assert status in (200, 201), role


@pytest.mark.parametrize("route", [route for route in ROUTES if not route.roles], ids=name_of)
def test_some_routes_are_for_everybody(service: Service, route: Route) -> None:
    assert ask(service, route, None) == 200


def test_nobody_else_may_do_anything_to_a_real_trial(service: Service) -> None:
    trial = service.new_trial()
    advice = service.client("site").recommend(trial, "S-1")
    records = service.client().trial(trial).records
    for route in GUARDED:
        for role in ALL_ROLES - route.roles:
            assert ask(service, route, role, trial, advice.id) == 403
    assert service.client().trial(trial).records == records


def test_the_table_has_no_two_handlers_of_one_name() -> None:
    assert len({route.name for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize("what", ["", "/reports", "/corrections", "/withdrawal", "/error"])
def test_another_sites_recommendation_looks_like_one_that_is_not_there(service: Service, what: str) -> None:
    trial = service.new_trial()
    made = service.client("site").recommend(trial, "S-1").id
    body = {"": None, "/reports": {"reward": 1}, "/corrections": {"reward": 1, "reason": "x"}}
    said = body.get(what, {"reason": "x"})
    method = "POST" if what else "GET"
    theirs = service.send(method, f"/trials/{trial}/recommendations/{made}{what}", said, role="other")
    nobodys = service.send(method, f"/trials/{trial}/recommendations/{UNKNOWN_ID}{what}", said, role="other")
    assert theirs.status == nobodys.status == 404
    assert theirs.body.replace(made.encode(), UNKNOWN_ID.encode()) == nobodys.body


def test_a_token_for_one_trial_sees_no_other(service: Service) -> None:
    ours, theirs = service.new_trial(), service.new_trial()
    for role, site in (("site", "A"), ("coordinator", None), ("statistician", None)):
        made = service.client().make_token(role, "for one trial", site=site, trial=ours)
        service.tokens["bound"] = made.token
        assert list(service.client("bound").trials()) == [ours]
        assert service.send("GET", f"/trials/{ours}", role="bound").status == 200
        hidden, missing = (service.send("GET", f"/trials/{name}", role="bound") for name in (theirs, "nowhere"))
        assert hidden.status == missing.status == 404
        assert hidden.body.replace(theirs.encode(), b"nowhere") == missing.body
        assert ours.encode() not in missing.body
