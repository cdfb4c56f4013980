"""In a blinded trial no answer to a site, not even an error, says what an arm is."""

from __future__ import annotations

from typing import Any

import pytest

from adhere.errors import InputError
from adhere.service.api.requests import Body, NewReport, NewUnblinding
from adhere.service.api.route import SITE
from adhere.service.table import ROUTES
from service.serving import Service
from service.test_roles import BODIES
from trial.test_kit_secret import spellings

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
        path = route.path.replace("{trial}", trial).replace("{id}", str(second.id))
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


def test_a_blinded_trial_refuses_a_chosen_seed(service: Service) -> None:
    """Whoever knows the seed can draw the arms; a seed that somebody chose may be known, or small enough to guess."""
    design = {"name": "with-a-seed", "policy": "thompson/actual", "arms": ARMS, "blinded": True, "seed": 7}
    reply = service.send("POST", "/trials", design)
    assert (reply.status, reply.json["field"]) == (422, "seed")
    with pytest.raises(InputError, match="seed: got '7', expected none"):
        service.client().create_trial("with-a-seed", "thompson/actual", ARMS, blinded=True, seed=7)
    assert "with-a-seed" not in service.client().trials()
    made = service.client().create_trial("without-a-seed", "thompson/actual", ARMS, blinded=True)
    assert service.client().create_trial("without-a-seed", "thompson/actual", ARMS, blinded=True) == made


def test_no_answer_has_the_kit_secret(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    trial = service.new_trial(arms=ARMS, blinded=True)
    kit = service.client("site").recommend(trial, "S-1").kit
    assert service.store is not None
    with service.store.reading() as view:
        secret = view.kit_secret(view.trials()[trial])
    assert secret is not None
    said: list[bytes] = []
    bodies: dict[type[Body], dict[str, Any]] = {
        **BODIES,
        NewUnblinding: {"kit": kit, "reason": "an emergency"},
        NewReport: {"actual": kit, "reward": 1},
    }
    seed = str(service.seed(trial))
    for role in ("admin", "statistician", "coordinator", "site", "metrics"):
        for route in ROUTES:
            if route.path.startswith("/tokens"):
                continue
            path = route.path.replace("{trial}", trial).replace("{id}", "0")
            sent = bodies[route.body] if route.body is not None else None
            forms = ("?format=csv", "?format=parquet", "?format=log") if path.endswith("export") else ("",)
            for form in forms:
                reply = service.send(route.method, path + form, sent, role=role)
                said += [reply.body, repr(reply.headers).encode()]
                assert form == "" or reply.status == (200 if role in ("admin", "statistician") else 403)
                assert role in ("admin", "statistician") or seed.encode() not in reply.body
    together = b"".join(said) + caplog.text.encode()
    assert b"adhere_" in together  # the metrics
    assert kit is not None
    assert kit.encode() in together
    assert not any(written in together for written in spellings(secret))
