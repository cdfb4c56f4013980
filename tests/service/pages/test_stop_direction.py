"""A recommended stop that intention-to-treat contradicts is marked as such, and an empty monitor claims nothing."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from service.serving import ARMS, Service, wait_until

from .person import sign_in
from .visitor import visiting

SAID = "Intention-to-treat now points the other way; read it before you confirm."
DESIGN: dict[str, Any] = {
    "policy": "floor(thompson/actual, share=0.4)",
    "n_patients": 100,
    "control": "walk",
    "rehearsal": True,
    "seed": 5,
    "looks": {"at": [20]},
    "stopping": {"by": "belief", "superiority": 0.6},
}


def played(service: Service, *, misled: bool) -> str:
    """A trial whose policy believes in aspirin; if it is misled, those who were told to take it fared worse.

    Those told to walk take aspirin and do well, or walk and do badly. Those told to take aspirin take it.
    """
    trial, site = f"stopped-{misled}", service.client("site")  # a name of which the draws depend, too
    service.client().create_trial(trial, arms=ARMS, **DESIGN)
    for number in range(20):
        advice = site.recommend(trial, f"S-{number}")
        told_to_walk = advice.arm == "walk"
        walks = told_to_walk and number % 4 == 0
        well = not walks and (told_to_walk or number % 4 == 0) if misled else not told_to_walk
        actual = "walk" if walks or (told_to_walk and not misled) else "aspirin"
        site.report(trial, advice.id, actual=actual, reward=well)
    return trial


@pytest.mark.parametrize("misled", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_banner_says_when_intention_to_treat_points_the_other_way(
    browser: Any, service: Service, misled: bool
) -> None:
    trial = played(service, misled=misled)
    look = service.client().looks(trial)[0]
    assert (look.decision, look.selected) == ("superior", "aspirin")
    effect = service.send("GET", f"/trials/{trial}/monitor").json["effects"][0]
    assert effect["is_any_time_valid"]
    assert (effect["estimate"]["value"] < 0) == misled
    for role in ("admin", "statistician"):
        with visiting(browser, service, role) as visitor:
            page = visitor.page
            visitor.open(f"/app/trials/{trial}")
            page.get_by_text("Reading what intention-to-treat says now").wait_for(state="detached")
            assert page.locator(".warning").get_by_text(SAID).count() == misled
            visitor.open(f"/app/trials/{trial}/monitor")
            page.locator("#stop").wait_for()
            assert page.locator("#stop").get_by_text(SAID).count() == misled
            assert visitor.faults == []
    for role in ("coordinator", "site"):
        person = sign_in(service, role)
        shown = person.get(f"/app/trials/{trial}").body.decode()
        assert "ntention-to-treat" not in shown
        assert person.get(f"/app/trials/{trial}/stop-direction").status == 403


def monitor_text(service: Service, trial: str) -> str:
    person = sign_in(service, "statistician")
    shown: list[str] = []

    def is_there() -> bool:
        shown[:] = [person.get(f"/app/trials/{trial}/monitor").body.decode()]
        return "part-head" in shown[0]

    wait_until(is_there, 60)
    body = re.sub(r"<script.*?</script>", "", shown[0], flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


CLAIMS = (
    "estimated by drawing",
    "Effects",
    "Posterior",
    "Surplus",
    "not a look",
    "What the interval promises",
    "agree",
)


def test_an_empty_monitor_claims_nothing(service: Service) -> None:
    looks: dict[str, Any] = {"looks": {"at": [10]}, "stopping": {"by": "posterior", "superiority": 0.99}}
    trial = service.new_trial(policy="thompson", arms=ARMS, n_patients=40, **looks)
    shown = monitor_text(service, trial)
    assert "Nobody has been recommended an arm yet, so there is nothing to show." in shown
    for claim in (*CLAIMS, "believes", "Assigned and taken", "probabilities in the log", "mislead", "trusted"):
        assert claim not in shown, claim
    site = service.client("site")
    made = site.recommend(trial, "S-1")
    shown = monitor_text(service, trial)
    assert "No outcome is reported yet, so nothing is estimated." in shown
    for claim in (*CLAIMS, "mislead", "trusted"):
        assert claim not in shown, claim
    site.report(trial, made.id, actual=made.arm, reward=1)
    shown = monitor_text(service, trial)
    assert all(word in shown for word in ("Effects", "Posterior", "not a look"))
