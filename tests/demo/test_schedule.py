"""What the sites of the demo send: the same for the same seed, in order, and with all that goes wrong at sites."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from adhere.demo.player import Pace
from adhere.demo.schedule import Action
from adhere.demo.schedule import schedule as make_schedule
from adhere.demo.trials import RICH_AND_POOR, STROKE, TRIALS, DemoTrial


@cache
def _made(name: str, seed: int, run: int) -> list[Action]:
    return make_schedule(next(trial for trial in TRIALS if trial.name == name), seed, run)


def schedule(trial: DemoTrial, seed: int, run: int) -> list[Action]:
    """The whole schedule, made once for all tests."""
    return _made(trial.name, seed, run)


def by_subject(actions: list[Action]) -> dict[str, list[Action]]:
    found: dict[str, list[Action]] = {}
    for action in actions:
        found.setdefault(action.patient.subject, []).append(action)
    return found


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_everybody_is_recommended_something_before_anything_else_is_sent(trial: DemoTrial) -> None:
    actions = schedule(trial, 8, 0)
    assert [one.time for one in actions] == sorted(one.time for one in actions)
    stories = by_subject(actions)
    assert len(stories) == trial.n_patients
    assert all([one.call for one in story].index("recommend") == 0 for story in stories.values())


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.name)
def test_a_trial_lasts_longer_than_an_hour_and_has_words_for_its_outcomes(trial: DemoTrial) -> None:
    assert (trial.n_patients - Pace().head_start) / Pace().speed > 3600
    assert sorted(trial.design["outcome_words"].values()) == [0, 1]


@pytest.mark.slow
def test_a_seed_and_a_run_decide_everything() -> None:
    assert schedule(STROKE, 8, 0) == make_schedule(STROKE, 8, 0)
    assert schedule(STROKE, 8, 0) != schedule(STROKE, 9, 0)
    assert schedule(STROKE, 8, 0) != schedule(STROKE, 8, 1)


def test_reports_are_late_missing_doubled_and_corrected() -> None:
    stories = by_subject(schedule(RICH_AND_POOR, 8, 1)).values()
    calls = Counter(action.call for story in stories for action in story)
    outcomes = sum(any("reward" in action.said[0] for action in story) for story in stories)
    # Of 10,000: 7% have no outcome, 5% a correction, 2% are lost; four standard errors are 1.1%, 0.9% and 0.6%.
    assert 0.919 < outcomes / RICH_AND_POOR.n_patients < 0.941
    assert 0.041 < calls["correct"] / RICH_AND_POOR.n_patients < 0.059
    assert 0.014 < calls["withdraw"] / RICH_AND_POOR.n_patients < 0.026
    assert any(action.twice for story in stories for action in story if action.call == "report")
    waits = [story[-1].time - story[0].time for story in stories if story[-1].call == "report"]
    assert 12 < sum(waits) / len(waits) < 20
    assert calls["mark_in_error"] > 0
    assert any("took_other" in action.said[0] for story in stories for action in story)


def test_a_correction_says_what_is_true() -> None:
    for story in by_subject(schedule(STROKE, 8, 0)).values():
        for correction in (action for action in story if action.call == "correct"):
            (part,) = correction.said[0].keys() - {"reason"}
            wrong = next(action for action in story if action.call == "report" and part in action.said[0])
            patient = correction.patient
            for arm in range(len(patient.arms)):
                true = patient.reward[arm] if part == "reward" else patient.arms[patient.actual[arm]]
                assert correction.said[arm][part] == true != wrong.said[arm][part]
                assert wrong.time < correction.time
