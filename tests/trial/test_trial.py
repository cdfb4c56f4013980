from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adhere import InputError, Recommendation, Trial
from adhere.design.make_design import make_design
from adhere.design.parts import Imputation
from adhere.trial.secret.recommendation_ids import parse_id

ARMS = ("walk", "aspirin")
RECYCLING = "hierarchical(ucb1, recycle=true)"


def started(policy: str = "thompson/actual", **options: Any) -> tuple[Trial, Recommendation]:
    trial = Trial(policy, ARMS, **options)
    return trial, trial.recommend()


def test_a_recommendation_says_all_that_is_needed_later() -> None:
    trial, recommendation = started("exp3(gamma=0.2)", seed=5)
    assert parse_id(recommendation.id) == recommendation.id
    assert trial.recommend().id != recommendation.id
    assert started("exp3(gamma=0.2)", seed=5)[1].id == recommendation.id  # which follows from the seed
    assert started("exp3(gamma=0.2)", seed=6)[1].id != recommendation.id
    assert recommendation.arm in ARMS
    assert recommendation.probabilities == {"walk": 0.5, "aspirin": 0.5}
    assert recommendation.memo == (0.5, 0.5)
    assert not recommendation.estimated


def test_the_same_seed_and_run_recommend_the_same() -> None:
    def arms(seed: int, run: int) -> list[str]:
        trial = Trial("uniform", ARMS, seed, run=run)
        return [trial.recommend().arm for _ in range(40)]

    assert arms(1, 0) == arms(1, 0)
    assert len({tuple(arms(seed, run)) for seed in (1, 2) for run in (0, 1)}) == 4


def test_recommending_learns_nothing() -> None:
    trial, _ = started("ucb1")
    state = trial.state
    for _ in range(5):
        trial.recommend()
    assert trial.state == state


def test_the_state_is_a_copy() -> None:
    trial, recommendation = started()
    before = trial.state
    trial.report(recommendation.id, actual="walk", reward=1)
    assert isinstance(before, tuple)
    assert before != trial.state


def test_chosen_learns_from_the_reward_alone_and_actual_waits_for_the_arm() -> None:
    for policy, waits in (("thompson", False), ("thompson/actual", True), ("thompson/comply", True)):
        trial, recommendation = started(policy)
        before = trial.state
        trial.report(recommendation.id, reward=1)
        assert (trial.state == before) == waits
        trial.report(recommendation.id, actual=recommendation.arm)
        assert trial.state != before


def test_the_top_of_a_hierarchy_learns_from_the_reward_alone_and_its_other_experts_wait() -> None:
    trial, recommendation = started("hierarchical(ucb1, top=epsilon-greedy)")
    drawn = int(recommendation.memo[0])
    trial.report(recommendation.id, reward=1)
    top, chosen, actual, comply = trial.state[:10], trial.state[10:15], trial.state[15:20], trial.state[20:25]
    assert top[drawn] == 1.0
    assert sum(chosen[:2]) == (1.0 if drawn == 0 else 0.0)
    assert actual[:2] == comply[:2] == (0.0, 0.0)
    trial.report(recommendation.id, actual="aspirin")
    assert trial.state[:15] == top + chosen
    assert trial.state[15:17] == (0.0, 1.0)
    assert sum(trial.state[20:22]) == (1.0 if recommendation.arm == "aspirin" else 0.0)


@pytest.mark.parametrize("reward", [math.nan, -1, 2, "1", "true", None, -1e-9, 1 + 1e-9, math.inf, [1], 1j])
def test_a_reward_is_a_number_from_0_to_1(reward: Any) -> None:
    trial, recommendation = started()
    before = trial.state
    with pytest.raises(InputError) as error:
        trial.report(recommendation.id, reward=reward)
    assert "\n" not in str(error.value)
    assert trial.state == before


@pytest.mark.parametrize("reward", [0, 1, 0.5, np.float64(0.25), np.float32(0.5), np.int64(1), True, False, np.True_])
def test_any_kind_of_number_is_a_reward(reward: Any) -> None:
    trial, recommendation = started("ucb1/actual")
    trial.report(recommendation.id, actual="walk", reward=reward)
    assert trial.state[2] == float(reward)


def test_success_and_failure_are_values_of_rewards() -> None:
    trial, recommendation = started(RECYCLING, n_patients=10, reward_values=(False, True))
    trial.report(recommendation.id, actual="walk", reward=True)
    trial.report(recommendation.id, reward=1.0)
    assert make_design("t", "uniform", ARMS, impute=Imputation(after_days=1, reward=True)).impute == Imputation(
        after_days=1, reward=1.0
    )


@pytest.mark.parametrize("arm", ["asprin", "", "Walk", 0, True, ["walk"], b"walk"])
def test_an_arm_is_one_of_the_trials(arm: Any) -> None:
    trial, recommendation = started()
    with pytest.raises(InputError, match=r"^actual: got .* expected one of walk, aspirin"):
        trial.report(recommendation.id, actual=arm, reward=1)
    assert trial.state == Trial("thompson/actual", ARMS).state


def test_a_misspelt_arm_gets_a_hint() -> None:
    trial, recommendation = started()
    with pytest.raises(InputError, match="did you mean 'aspirin'"):
        trial.report(recommendation.id, actual="asprin")


@pytest.mark.parametrize("identity", [0, 1, -1, "0", "", "0000-0000-0000-0000", None, 2**70])
def test_an_unknown_id_is_refused(identity: Any) -> None:
    trial, _ = started()
    with pytest.raises(InputError, match=r"^id: got .* expected the ID of a recommendation of this trial, e\.g\. "):
        trial.report(identity, actual="walk", reward=1)


def test_an_id_may_be_typed_as_it_was_read_aloud() -> None:
    trial, recommendation = started()
    trial.report(f" {recommendation.id.replace('-', ' ').lower().replace('0', 'o')} ", actual="walk", reward=1)
    assert trial.records().reward.tolist() == [1.0]


def test_an_empty_report_is_refused() -> None:
    trial, recommendation = started()
    with pytest.raises(InputError, match="the report is empty; expected what was taken"):
        trial.report(recommendation.id)


def test_a_recycling_policy_must_know_every_reward() -> None:
    trial, recommendation = started(RECYCLING, n_patients=10, reward_values=(0, 0.5, 1))
    before = trial.state
    with pytest.raises(InputError, match=r"reward: got 0\.3, expected one of 0, 0\.5, 1"):
        trial.report(recommendation.id, actual="walk", reward=0.3)
    assert trial.state == before
    trial.report(recommendation.id, actual="walk", reward=0.5)


def test_other_policies_need_not_know_the_rewards() -> None:
    trial, recommendation = started("hierarchical(ucb1, top=epsilon-greedy)")
    trial.report(recommendation.id, actual="walk", reward=0.123)


BAD_SETTINGS: list[tuple[str, Callable[[], Trial]]] = [
    ("arms", lambda: Trial("ucb1", ["one"])),
    ("arms", lambda: Trial("ucb1", "ab")),
    ("arms", lambda: Trial("ucb1", ["a", "a"])),
    ("arms", lambda: Trial("ucb1", ["a", " "])),
    ("arms", lambda: Trial("ucb1", ["a", 1])),  # type: ignore[list-item]
    ("arms", lambda: Trial("ucb1", None)),  # type: ignore[arg-type]
    ("seed", lambda: Trial("ucb1", ARMS, -1)),
    ("seed", lambda: Trial("ucb1", ARMS, 2**64)),
    ("seed", lambda: Trial("ucb1", ARMS, True)),
    ("seed", lambda: Trial("ucb1", ARMS, 1.0)),  # type: ignore[arg-type]
    ("n_patients", lambda: Trial("ucb1", ARMS, n_patients=0)),
    ("n_patients", lambda: Trial("ucb1", ARMS, n_patients=True)),
    ("n_patients", lambda: Trial("ucb1", ARMS, n_patients=1.5)),  # type: ignore[arg-type]
    ("run", lambda: Trial("ucb1", ARMS, run=-1)),
    ("run", lambda: Trial("ucb1", ARMS, run=0.5)),  # type: ignore[arg-type]
    ("reward", lambda: Trial("ucb1", ARMS, reward_values=(0, 2))),
    ("reward", lambda: Trial("ucb1", ARMS, reward_values=(0, math.nan))),
    ("policy", lambda: Trial("uct", ARMS)),
    ("policy", lambda: Trial(3, ARMS)),  # type: ignore[arg-type]
    ("protocol", lambda: Trial("ucb1/credit[0 1 2; 0 1 2; 0 1 2]", ARMS)),
    ("n_patients", lambda: Trial("exp3", ARMS)),
    ("n_patients", lambda: Trial("hierarchical(thompson)", ARMS)),
    ("n_patients", lambda: Trial("hierarchical-exp3", ARMS)),
    ("n_patients", lambda: Trial("hierarchical-exp3(eta=0.1)", ARMS)),
]


@pytest.mark.parametrize(("field", "build"), BAD_SETTINGS)
def test_a_trial_that_cannot_be_is_refused_by_field(field: str, build: Callable[[], Trial]) -> None:
    with pytest.raises(InputError) as error:
        build()
    assert error.value.field == field
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("policy", "what"),
    [
        ("exp3", "EXP3's γ"),
        ("hierarchical(thompson)", "EXP3's γ"),
        ("thompson-bounded(exp3)", "EXP3's γ"),
        ("hierarchical-exp3", "hierarchical EXP3's η"),
        ("hierarchical-exp3(eta=0.1)", "hierarchical EXP3's ρ"),
    ],
)
def test_a_policy_that_needs_the_number_of_patients_says_so(policy: str, what: str) -> None:
    with pytest.raises(InputError) as error:
        Trial(policy, ARMS)
    assert str(error.value) == f"this policy needs n_patients=… (the number of patients), to set {what}"


def test_a_json_policy_will_do() -> None:
    trial = Trial({"name": "ucb1", "protocol": "actual"}, ARMS)
    assert str(trial.policy) == "ucb1/actual"


def test_the_policy_of_a_trial_is_settled_for_it() -> None:
    assert str(Trial("exp3", ARMS, n_patients=10_000).policy).startswith("exp3(gamma=0.0089")


def test_feedback_may_come_after_very_many_recommendations() -> None:
    """Late feedback is credited with the probabilities of its own decision, not with the latest."""
    trial, first = started("exp3(gamma=0.5)/actual")
    for _ in range(20):
        trial.report(trial.recommend().id, actual="aspirin", reward=1)
    before = trial.state
    assert trial.recommend().probabilities["walk"] < 0.3
    trial.report(first.id, actual="walk", reward=1)
    assert trial.state[:2] == (before[0] + 0.5 / 2 * (1 / 0.5), before[1])


def test_a_design_may_be_a_file_and_times_go_forward(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text('name = "t"\npolicy = "thompson"\narms = ["walk", "aspirin"]\n')
    trial = Trial.from_design(path)
    assert repr(trial) == repr(Trial.from_design(str(path)))
    with pytest.raises(InputError, match="design: got 5, expected a file"):
        Trial.from_design(5)  # type: ignore[arg-type]
    day = datetime(2026, 3, 1, tzinfo=UTC)
    made = trial.recommend(at=day).id
    with pytest.raises(InputError, match=r"at: got '2026-01-01', expected a time with its zone"):
        trial.recommend(at="2026-01-01")  # type: ignore[arg-type]
    for earlier in (lambda at: trial.recommend(at=at), lambda at: trial.report(made, reward=1, at=at)):
        with pytest.raises(InputError, match=r"at: got '2026-02-28.*', expected no time before 2026-03-01T00:00:00"):
            earlier(day - timedelta(days=1))
    trial.report(made, reward=1, at=day)
    far = datetime(2999, 1, 1, tzinfo=UTC)
    trial.recommend(at=far)
    trial.recommend()  # now, by a clock that is behind
    assert [event.at for event in trial.events][-2:] == [far, far]


@pytest.mark.parametrize("policy", ["thompson/actual", "exp3", RECYCLING])
def test_after_a_correction_a_trial_goes_on_as_if_the_right_values_had_been_reported(policy: str) -> None:
    trials = [Trial(policy, ARMS, seed=4, n_patients=60) for _ in range(2)]
    for trial in trials:
        made = [trial.recommend().id for _ in range(6)]
        for number, one in enumerate(made):
            wrong = trial is trials[0] and number == 2
            trial.report(one, actual="aspirin" if wrong else "walk", reward=1 - number % 2 if wrong else number % 2)
            if wrong:
                trial.report(made[5], reward=1)
        if trial is trials[0]:
            with pytest.raises(InputError, match="to change it, send a correction"):
                trial.report(made[2], reward=0)
            trial.correct(made[2], actual="walk", reward=0, reason="typing error")
            trial.correct(made[5], retract=["reward"], reason="another patient's")
            trial.report(made[5], reward=1)
    assert trials[0].state == trials[1].state
    assert [trial.recommend().arm for trial in trials[:1] for _ in range(8)] == [
        trials[1].recommend().arm for _ in range(8)
    ]
