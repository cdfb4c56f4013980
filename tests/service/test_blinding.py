"""In a blinded trial no answer to a site, not even an error, says what an arm is."""

from __future__ import annotations

from typing import Any

import pytest

from adhere.errors import InputError
from adhere.service.api.route import SITE
from adhere.service.pages.routes import ROUTES
from service.serving import Service, path_of
from service.test_roles import BODIES

ARMS = ("verum-xyz", "placebo-xyz")


def test_a_site_hears_of_kits_and_never_of_arms(service: Service) -> None:
    trial = service.new_trial(arms=ARMS, blinded=True, policy="thompson/actual")
    first, second = (service.client("site").recommend(trial, subject) for subject in ("S-1", "S-2"))
    assert first.arm is None
    assert first.kit is not None
    said: list[bytes] = []
    reports: list[dict[str, Any]] = [
        {"actual": first.kit},
        {"actual": second.kit},
        {"actual": "0000-0000"},
        {"actual": "verum"},
        {"actual": "no-kit", "took_nothing": True},
        {"took_nothing": True},
        {"took_other": "something"},
        {"reward": 1},
        {"reward": 0.5},
        {"actual": None},
    ]
    for body in reports:
        for what in ("reports", "corrections"):
            path = f"/trials/{trial}/recommendations/{first.id}/{what}"
            sent = body if what == "reports" else {**body, "reason": "a slip"}
            said.append(service.send("POST", path, sent, role="site").body)
            said.append(service.send("GET", f"/trials/{trial}/recommendations/{first.id}", role="site").body)
    for route in ROUTES:
        path = path_of(route, trial, second.id)
        if SITE in route.roles or not route.roles:
            sent = BODIES[route.body] if route.body is not None else {}
            said.append(service.send(route.method, path, sent or None, role="site").body)
    together = b"".join(said)
    assert len(said) > 45
    assert b"verum-xyz" not in together
    assert b"placebo-xyz" not in together
    assert b"probabilit" not in b"".join(text for text in said if b'"openapi"' not in text)
    assert first.kit.encode() in together


def test_an_arm_reported_as_it_is_called_is_not_understood_from_a_site(service: Service) -> None:
    trial = service.new_trial(arms=ARMS, blinded=True)
    advice = service.client("site").recommend(trial, "S-1")
    with pytest.raises(InputError, match="kit"):
        service.client("site").report(trial, advice.id, actual="verum-xyz")


def test_unblinding_tells_and_is_recorded(service: Service) -> None:
    trial = service.new_trial(arms=ARMS, blinded=True)
    advice = service.client("site").recommend(trial, "S-1")
    statistician = service.client("statistician")
    before = statistician.trial(trial).records or 0
    told = statistician.unblind(trial, str(advice.kit), "an emergency")
    assert told.arm in ARMS
    assert (told.id, told.kit) == (advice.id, advice.kit)
    assert statistician.trial(trial).records == before + 1
    derivation = statistician.recommendation(trial, advice.id).derivation
    assert derivation is not None
    assert derivation.history[-1].event == "unblinded"
