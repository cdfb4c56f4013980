"""The compliance-aware policy of the tutorial `your-own-policy`: it is told both arms, wherever a policy can run.

`simulation.test_gpu` runs it for a GPU.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adhere
from adhere import InputError, Trial, parse_policy, simulate
from adhere.cli.main import main
from adhere.compilation import state_of, strip
from adhere.policies.base.policy import TrialShape
from adhere.policies.base.registry import from_json
from contract.playing import play, run_of_engine, trial_on
from contract.populations_under_test import mixed

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "examples" / "borrowing.py"
HYBRID = "hierarchical(experts=[exp3(gamma=0.2), borrowing], top=noting)"  # compiled for `trial.test_memo` too
OTHER_HYBRIDS = (
    "hierarchical(experts=[thompson, borrowing], recycle=true)",
    "thompson-bounded(borrowing)",
    "thompson-bounded(borrowing, literal=true, recycle=true)",
)
WAYS: list[dict[str, Any]] = [{"actual": "a"}, {"actual": "b"}, {"took_nothing": True}, {"took_other": "tea"}]
COLUMNS = (0, 1, 3, 2)


@pytest.fixture(autouse=True)
def imported() -> None:
    adhere.import_policies(FILE)
    adhere.import_policies(Path(__file__).parents[1] / "trial" / "noting.py")


def test_it_takes_at_most_40_lines_and_the_page_shows_it_whole() -> None:
    assert len(FILE.read_text().splitlines()) <= 40
    assert "{literalinclude} ../examples/borrowing.py" in (DOCS / "tutorials" / "your-own-policy.md").read_text()


def test_it_is_a_policy_like_any_other_without_a_protocol() -> None:
    policy = parse_policy("Borrowing(9)")
    assert str(policy) == "borrowing(strength=9)"
    assert from_json(policy.to_json()) == policy
    with pytest.raises(InputError, match="expected no protocol after borrowing: it is told both arms"):
        parse_policy("borrowing/actual")
    with pytest.raises(InputError, match=r"borrowing has no option 'protocol' \(it has strength\)"):
        from_json({"name": "borrowing", "protocol": "actual"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hierarchical(borrowing)", r"hierarchical base: got 'borrowing', expected .*; give it in experts=\[…\]"),
        ("hierarchical(thompson, top=borrowing)", "hierarchical top: got 'borrowing', .*nobody disobeys the top"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_policy(text)


@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("order", ["together", "taken first", "reward first"])
def test_it_learns_once_when_both_are_known(way: int, order: str) -> None:
    trial = Trial("borrowing", ("a", "b"), seed=2)
    recommendation = trial.recommend()
    taken, reward = WAYS[way], {"reward": 0.5}
    reports: list[dict[str, Any]] = {
        "together": [taken | reward], "taken first": [taken, reward], "reward first": [reward, taken]
    }[order]  # fmt: skip
    for report in reports:
        assert not any(trial.state)
        trial.report(recommendation.id, **report)
    expected = np.zeros((2, 2, 4))
    expected[:, trial.arms.index(recommendation.arm), COLUMNS[way]] = 1.0, 0.5
    assert trial.state == tuple(expected.ravel())


@pytest.mark.slow
def test_a_hierarchy_teaches_it_every_round() -> None:
    """It is never certified; and what it is told beyond the others, they learn no more from than ever."""
    for order in permutations(range(4)):
        trial = Trial(HYBRID, ("a", "b"), seed=2, n_patients=50)
        rule = trial.policy.assemble(TrialShape(2)).rule
        assert rule.certified == 0b01
        made = [trial.recommend() for _ in range(4)]
        for way in order:
            trial.report(made[way].id, reward=1.0)
            trial.report(made[way].id, **WAYS[way])
        state = state_of(rule, np.array(trial.state))
        assert sum(state.top.agreements) == 4
        patients = strip(state.experts, 1, 2)[:8].reshape(2, 4)
        assert patients.sum(axis=0).tolist() == [1.0] * 4


@pytest.mark.slow
@pytest.mark.parametrize("text", ["borrowing", HYBRID])
def test_trial_picks_the_arms_of_the_engine(text: str) -> None:
    population = mixed(2, (0.0, 1.0))
    trial = trial_on(text, population, 60, seed=11, run=1)
    arms = run_of_engine(text, population, 60, 11, 1, compiled=text == "borrowing")
    assert np.array_equal(play(trial, population.patients(11, 1, 60)), arms)


@pytest.mark.parametrize("text", OTHER_HYBRIDS)
def test_it_serves_inside_other_hybrids(text: str) -> None:
    arms = run_of_engine(text, mixed(2, (0.0, 1.0)), 40, 11, 0, compiled=False)
    assert set(arms.tolist()) == {0, 1}


def test_it_is_right_where_crediting_the_arm_taken_is_wrong() -> None:
    right, wrong = simulate(["borrowing", "thompson/actual"], "defiers", 300, 60, progress=False).outcomes
    assert right.surplus.mean > 140
    assert wrong.surplus.mean < -140


def test_the_command_line_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--import", str(FILE), "--population", "defiers", "--policy", "borrowing(strength=2)"]
    assert main(["simulate", *options, "--patients", "100", "--runs", "20", "--json", "-"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert outcome["policy"] == "borrowing(strength=2)"
    assert main(["policies", "borrowing", "--import", str(FILE)]) == 0
    listed = capsys.readouterr().out
    assert "borrowing, a learner that sees both arms" in listed
    assert "thompson/actual" not in listed
