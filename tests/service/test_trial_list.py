"""The list of trials: how far each one is, as far as a role may see it."""

from __future__ import annotations

from typing import Any

import pytest

from service.serving import Service


def line(service: Service, trial: str, role: str) -> dict[str, Any]:
    lines: list[dict[str, Any]] = service.send("GET", "/trials", role=role).json["trials"]
    return next(one for one in lines if one["name"] == trial)


@pytest.mark.parametrize("blinded", [False, True])
def test_each_role_sees_its_part(service: Service, blinded: bool) -> None:
    trial, site = service.new_trial(blinded=blinded, rehearsal=True), service.client("site")
    made = [site.recommend(trial, f"S-{number}") for number in range(4)]
    for one in made[:2]:
        site.report(trial, one.id, actual=one.kit or one.arm)
    site.report(trial, made[0].id, reward=1)
    site.report(trial, made[2].id, took_nothing=True, reward=1)
    seen = {"name": trial, "status": "open", "rehearsal": True} | ({"blinded": True} if blinded else {})
    assert line(service, trial, "site") == seen
    site.mark_in_error(trial, made[3].id, "typed twice")
    seen |= {"recommendations": 4, "waiting": 1, "entered_in_error": 1}
    assert line(service, trial, "coordinator") == seen
    seen |= {"compliance": 2 / 3}
    assert line(service, trial, "statistician") == line(service, trial, "admin") == seen


def test_nobody_complies_where_nothing_was_reported(service: Service) -> None:
    trial = service.new_trial()
    service.client("site").recommend(trial, "S-1")
    counts = {"recommendations": 1, "waiting": 1, "entered_in_error": 0}
    assert line(service, trial, "admin") == {"name": trial, "status": "open", **counts}
