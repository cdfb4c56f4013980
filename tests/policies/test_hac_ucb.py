from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adhere import InputError, Trial, parse_policy, simulate
from adhere.compilation import state_of
from adhere.policies.base.policy import TrialShape
from adhere.populations import Counts
from adhere.populations.counts import Count

from .reference import next_chances

TEXT = "hac-ucb(explore=2, delta=0.1)"
WIDTH = math.sqrt(0.5 * math.log(10.0))


def played(text: str, rounds: list[tuple[str, dict[str, Any]]]) -> Trial:
    """A trial that hears these reports, in order, each of a recommendation of the arm it is about.

    All are made before the first report, when the arms are equal.
    """
    trial = Trial(text, ("a", "b"), seed=1)
    waiting: dict[str, list[str]] = {"a": [], "b": []}
    for recommendation in (trial.recommend() for _ in range(160)):
        waiting[recommendation.arm].append(recommendation.id)
    for arm, report in rounds:
        trial.report(waiting[arm].pop(), **report)
    return trial


def took(arm: str, reward: float) -> dict[str, Any]:
    return {"actual": arm, "reward": reward}


def learned(trial: Trial) -> Any:
    return state_of(trial.policy.assemble(TrialShape(2)).rule, np.array(trial.state))


def test_the_arm_with_the_fewest_lessons_comes_first() -> None:
    assert next_chances(played(TEXT, [])) == [0.5, 0.5]
    assert next_chances(played(TEXT, [("a", took("a", 1))])) == [0.0, 1.0]
    assert next_chances(played(TEXT, [("a", took("a", 1)), ("b", took("a", 1))])) == [0.5, 0.5]


def test_then_the_bounds_of_what_was_taken_are_averaged() -> None:
    nothing, tea = {"took_nothing": True, "reward": 0.0}, {"took_other": "tea", "reward": 1.0}
    rounds = [("a", took("a", 1)), ("a", took("b", 0)), ("b", nothing), ("b", tea)]
    state = learned(played(TEXT, rounds))
    assert state.took.tolist() == [1, 1, 1, 1]
    assert state.took_rewards.tolist() == [1, 0, 1, 0]
    assert state.indices == pytest.approx([0.5 + WIDTH] * 2)
    # One more who was told b took a: it counts for a, of whose bound half is a's index.
    trial = played(TEXT, [*rounds, ("b", took("a", 1))])
    of_a = 1.0 + WIDTH / math.sqrt(2)
    expected = [(of_a + WIDTH) / 2, (of_a + WIDTH + 1 + WIDTH) / 3]
    assert learned(trial).indices == pytest.approx(expected)
    assert next_chances(trial) == [0.0, 1.0]


def test_a_contradiction_is_for_good() -> None:
    """All take a; told a they thrive, told b they do not. Pooling cannot tell the arms apart, and is found out."""
    pairs = [("a", took("a", 1)), ("b", took("a", 0))]
    early, late = played(TEXT, pairs * 2), played(TEXT, pairs * 16)
    assert (learned(early).refuted, learned(late).refuted) == (0.0, 1.0)
    assert learned(late).indices == pytest.approx([1 + WIDTH / 4, WIDTH / 4])
    assert next_chances(early) == [0.5, 0.5]
    assert next_chances(late) == [1.0, 0.0]
    # With few lessons of b the bounds contradict each other only there: 0 + w(2) < 60/62 + w(62) - 2 w(62).
    few = played(TEXT, [*pairs * 2, *pairs[:1] * 58])
    assert learned(few).refuted == 1.0
    again_alike = played(TEXT, [*pairs * 16, *[("a", took("a", 0)), ("b", took("a", 1))] * 16])
    assert learned(again_alike).refuted == 1.0


def test_it_needs_the_horizon_or_both_numbers() -> None:
    with pytest.raises(InputError, match=r"needs n_patients=… .*, to set how long HAC-UCB explores"):
        Trial("hac-ucb", ("a", "b"))
    assert str(parse_policy("hac-ucb").resolved(3, 1000)) == "hac-ucb(explore=12, delta=1e-06)"
    with pytest.raises(InputError, match=r"hac-ucb delta: got 0\.0, expected a number above 0 and at most 1"):
        parse_policy("hac-ucb(delta=0)")


def test_it_pools_where_it_may_and_recovers_where_it_may_not() -> None:
    """Everyone takes arm 0: pooling is blind to what telling does, so that only UCB finds the better arm."""
    rows = [("a", "a", 0.0, 9), ("a", "a", 1.0, 1), ("b", "a", 0.0, 1), ("b", "a", 1.0, 9)]
    deaf = Counts("deaf", ("a", "b"), [Count(*row) for row in rows])
    harmed = simulate("hac-ucb", deaf, 2000, 20, progress=False)[0]
    pooled, plain = simulate(["hac-ucb", "ucb1"], "homogeneous", 1000, 100, progress=False).outcomes
    assert harmed.surplus.mean > 650  # of 800
    assert pooled.surplus.mean > 2 * plain.surplus.mean
