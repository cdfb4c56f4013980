"""A design whose outcomes are better when lower: what was reported stands in the log, and 1 − it is learned."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adhere import InputError, Trial, analyse
from adhere.design.make_design import make_design
from adhere.design.parts import Imputation, Looks, Stopping
from adhere.design.words import in_words

ARMS = ("usual care", "new")
LOOKS: dict[str, Any] = {
    "n_patients": 60,
    "control": "usual care",
    "looks": Looks(every=20),
    "stopping": Stopping("posterior", superiority=0.9, inferiority=0.05),
}


def played(lower_is_better: bool, policy: str = "thompson", **fields: Any) -> Trial:
    """A trial in which 20% die with the new treatment and 60% without; in one of both readings a 1 is a death."""
    design = make_design("ward", policy, ARMS, lower_is_better=lower_is_better, **fields)
    trial, nature = Trial.from_design(design, seed=1), random.Random(4)
    while trial.recommended_stop is None and len(trial.records().chosen) < 60:
        made = trial.recommend()
        values = [value if lower_is_better else 1.0 - value for value in (0.0, 0.3, 1.0)]
        died = nature.random() < (0.2 if made.arm == "new" else 0.6)
        some = nature.random() < 0.3 and "reward_values" in fields
        trial.report(made.id, actual=made.arm, reward=values[1] if some else values[2 if died else 0])
    return trial


@pytest.mark.parametrize(
    ("policy", "fields"),
    [
        ("thompson", {}),
        ("thompson", LOOKS),
        ("burn-in(floor(exp3(gamma=0.1)), patients=8)", {}),
        ("mediated-thompson", {}),
    ],
)
def test_it_recommends_what_the_same_outcomes_the_other_way_round_recommend(
    policy: str, fields: dict[str, Any]
) -> None:
    lower, higher = played(True, policy, **fields), played(False, policy, **fields)
    assert lower.records().chosen.tolist() == higher.records().chosen.tolist()
    np.testing.assert_array_equal(lower.records().probabilities, higher.records().probabilities)
    assert [one.decision for one in lower.looks] == [one.decision for one in higher.looks]
    assert lower.records().reward.tolist() == (1.0 - higher.records().reward).tolist()  # what was reported
    assert (lower.records().chosen == 1).mean() > 0.5


def test_a_policy_that_recycles_knows_the_values_the_other_way_round() -> None:
    values = (0.0, 0.3, 1.0)
    policy = "hierarchical(thompson, recycle=true)"
    lower = played(True, policy, reward_values=values, n_patients=100)
    assert {0.0, 0.3, 1.0} == set(lower.records().reward.tolist())
    with pytest.raises(InputError, match=r"reward: got 0.7, expected one of 0, 0.3, 1: a policy that recycles"):
        lower.report(lower.recommend().id, reward=0.7)


def test_its_analysis_reads_it_as_the_design_does(tmp_path: Path) -> None:
    trial = played(True)
    trial.save(tmp_path / "ward.log")
    for source in (trial, str(tmp_path / "ward.log")):
        found = analyse(source, control="usual care", redraws=200)
        assert found.lower_is_better
        effect = found.effects.comparisons[0]
        assert effect.difference.value is not None
        assert effect.difference.value > 0.0
        assert any(one.startswith("Lower outcomes were declared better") for one in found.verdict)
        (test,) = found.randomisation
        assert test.statistic == pytest.approx(effect.difference.value)
        assert test.exact
    assert not analyse(trial, lower_is_better=False, redraws=0).lower_is_better


def test_it_says_so() -> None:
    words = {"home": 0, "died": 1}
    design = make_design("ward", "thompson", ARMS, lower_is_better=True, outcome_words=words)
    assert list(design.outcome_words) == ["died", "home"]  # the worst first
    said = in_words(design)
    assert "An outcome is died (1) or home (0)." in said
    assert "Lower outcomes are better: an outcome y is read as 1 − y." in said
    assert design.digest != make_design("ward", "thompson", ARMS, outcome_words=words).digest


def test_what_is_imputed_is_read_the_same_way() -> None:
    impute = Imputation(after_days=1, reward=1.0)
    design = make_design("ward", "thompson", ARMS, lower_is_better=True, impute=impute)
    assert "an outcome of 1" in " ".join(in_words(design))
