"""Trials as a user meets them, through the client."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import adhere
from adhere.client import ServiceError
from adhere.design.design import Design
from adhere.errors import ConflictError, InputError, UnknownError
from adhere.service.api.requests import NewTrial
from adhere_client.responses.recommendations import Recorded
from service.serving import ARMS, Service


def test_a_design_has_the_same_arguments_everywhere() -> None:
    of_design = inspect.signature(Design).parameters
    beside = [*of_design, "seed"]
    assert set(inspect.signature(NewTrial).parameters) == set(beside)
    theirs = inspect.signature(adhere.Client.create_trial).parameters
    assert list(theirs)[1:] == beside
    parts = {"looks", "enrolment", "delay", "missing", "outcome_words"}  # None stands for their defaults
    assert {name: theirs[name].default for name in of_design} == {
        name: None if name in parts else parameter.default for name, parameter in of_design.items()
    }


def test_a_recommendation_is_explained_to_those_who_may_know(service: Service) -> None:
    name = service.new_trial()
    site = service.client("site")
    advice = site.recommend(name, "S-1")
    site.report(name, advice.id, actual="walk", reward=0.0)
    told = site.recommendation(name, advice.id)
    assert (told.arm, told.took, told.actual, told.reward) == (advice.arm, "arm", "walk", 0.0)
    assert told.derivation is None
    everything = service.client("statistician").recommendation(name, advice.id).derivation
    assert everything is not None
    assert everything.probabilities == {"walk": 0.5, "aspirin": 0.5}
    assert [line.event for line in everything.history] == ["recommended", "reported"]
    assert everything.learned_up_to < everything.history[0].record


def test_a_site_is_told_of_a_trial_only_what_it_needs(service: Service) -> None:
    name = service.new_trial()
    told = service.client("site").trial(name)
    known = {"name": name, "status": "open", "blinded": False, "repeats": False, "arms": list(ARMS)}
    assert told.to_dict() == known | {"reward_values": [0.0, 1.0]}
    everything = service.client("statistician").trial(name)
    assert everything.design is not None
    assert everything.design.policy == "thompson/actual"
    assert len(str(everything.design_digest)) == 64
    assert "seed" not in everything.to_dict()


def test_the_same_request_twice_is_carried_out_once(service: Service) -> None:
    name, site = service.new_trial(repeats=True), service.client("site")
    first = site.recommend(name, "S-1", request_id="one")
    assert site.recommend(name, "S-1", request_id="one") == first
    second = site.recommend(name, "S-1", request_id="two")
    assert service.ids(name) == [first.id, second.id]
    with pytest.raises(ConflictError, match="was used before for another request"):
        site.recommend(name, "S-2", request_id="one")


def test_the_same_design_again_is_acknowledged(service: Service) -> None:
    admin = service.client()
    first = admin.create_trial("again", "uniform", ARMS)
    assert admin.create_trial("again", "uniform", ARMS) == first
    with pytest.raises(ConflictError, match="of another design already"):
        admin.create_trial("again", "ucb1", ARMS)


@pytest.mark.parametrize("name", ["Kopfweh & Übelkeit?", "a%2Fb", "...", "100 %", "#1", "試験"])
def test_trials_may_have_odd_names(service: Service, name: str) -> None:
    service.client().create_trial(name, "uniform", ARMS)
    made = service.client("site").recommend(name, "S 1/ü").id
    assert service.client("site").recommendation(name, made).id == made
    assert service.client().trial(name).name == name


def test_a_name_is_found_in_either_form_of_unicode(service: Service) -> None:
    service.client().create_trial("Mu\u0308sli", "uniform", ARMS)
    assert service.client().trial("M\u00fcsli").name == service.client().trial("Mu\u0308sli").name


def test_refusals_are_the_errors_of_a_trial_at_hand(service: Service) -> None:
    name, site = service.new_trial(), service.client("site")
    advice = site.recommend(name, "S-1")
    with pytest.raises(InputError, match=r"actual: got 'aspirn', expected one of .* \(did you mean 'aspirin'\?\)"):
        site.report(name, advice.id, actual="aspirn")
    with pytest.raises(UnknownError, match="trial: got 'nowhere'"):
        site.recommend("nowhere", "S-1")
    with pytest.raises(ServiceError, match="403: this request needs the role admin"):
        site.pause(name, "why not")


def test_a_reward_that_json_cannot_say_is_refused_here(service: Service) -> None:
    trial = service.new_trial()
    made = service.client("site").recommend(trial, "s")
    with pytest.raises(InputError, match="reward: got nan"):
        service.client("site").report(trial, made.id, actual="walk", reward=float("nan"))


def test_sites_make_up_their_request_ids_each_for_itself(service: Service) -> None:
    trial = service.new_trial()
    made = [service.client(site).recommend(trial, "s", request_id="visit-1").id for site in ("site", "other")]
    assert made == service.ids(trial)
    assert len(set(made)) == 2


def test_a_csv_export_holds_no_formulas(service: Service, tmp_path: Path) -> None:
    trial = service.new_trial()
    service.client("site").recommend(trial, "=1+1")
    advice = service.client("site").recommend(trial, "S-2")
    service.client("site").report(trial, advice.id, took_other="@SUM(A1)")
    service.client("statistician").export(trial, tmp_path / "t.csv")
    assert ",'@SUM(A1)," in (tmp_path / "t.csv").read_text()


def test_a_trial_is_not_ended_by_mistake_while_reports_are_awaited(service: Service) -> None:
    name = service.new_trial()
    with service.client() as admin:
        made = admin.recommend(name, "S-1")
        admin.recommend(name, "S-2")
        admin.report(name, made.id, actual="walk", reward=1)
        with pytest.raises(ConflictError, match=r"1 recommendation with no report.* pause .*accept_open"):
            admin.end_trial(name, "as planned")
        assert admin.trials()[name] == "open"
        admin.end_trial(name, "as planned", accept_open=True, request_id="end")
        assert admin.end_trial(name, "as planned", accept_open=True, request_id="end").record == 5
        with pytest.raises(ConflictError, match="closed: it has ended"):
            admin.end_trial(name, "as planned")


def test_a_report_that_names_its_subject_lands_on_nobody_else(service: Service) -> None:
    """As one that comes after an older backup was restored, when the number is another patient's."""
    name = service.new_trial()
    with service.client("site") as site, service.client() as admin:
        made = site.recommend(name, "S-1")
        records = admin.trial(name).records
        calls: list[Callable[..., Recorded]] = [
            partial(site.report, name, made.id, actual="walk"),
            partial(admin.report, name, made.id, reward=1),
            partial(site.correct, name, made.id, "a slip", reward=0),
            partial(site.withdraw, name, made.id, "moved away"),
        ]
        for call in calls:
            for other in ("S-2", "s-1"):
                with pytest.raises(ConflictError, match=f"recommendation {made.id} is not for subject '{other}'"):
                    call(subject=other)
            assert call(subject="S-1").recommendation_id == made.id
        assert admin.trial(name).records == (records or 0) + 4
