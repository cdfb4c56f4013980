"""Burn-in: permuted blocks, each balanced, stated place by place; then the policy inside."""

from __future__ import annotations

from collections import Counter
from math import comb

import numpy as np
import pytest
from scipy import stats

import adhere
from adhere import InputError, parse_policy
from adhere.contract.interpreted import as_python
from simulation.engine import arms_of
from simulation.mixed_populations import engine_population, rows_for

from .guarded import guard_decided, interpreted


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("burn-in(thompson, block=4)", "burn-in block: got 4, expected a multiple of the number of arms, 3"),
        ("burn-in(thompson, block=0)", "burn-in block: got 0.0, expected a whole number at least 1"),
        ("burn-in(thompson, patients=2.5)", "burn-in patients: got 2.5, expected a whole number at least 1"),
        ("burn-in(thompson, patients=0)", "burn-in patients: got 0.0, expected a whole number at least 1"),
        ("burn-in(share=0.1)", "burn-in has no option 'share'"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_policy(text).resolved(3, 100)


def test_the_block_is_twice_the_arms_unless_told() -> None:
    assert str(parse_policy("burn-in(thompson)").resolved(3, None)) == "burn-in(thompson, block=6)"


@pytest.mark.parametrize(("n_arms", "block"), [(2, 4), (2, 2), (3, 6), (3, 12), (5, 10)])
def test_every_block_is_balanced_and_stated_place_by_place(n_arms: int, block: int) -> None:
    patients = 2 * block + block // 2  # so that the last block is cut
    with as_python(adhere):
        trial = interpreted(f"burn-in(ucb1, patients={patients}, block={block})", n_arms)
        for run in range(3):
            trial.turn_to(run)
            arms: list[int] = []
            for number in range(patients):
                decision = trial.decide(number)
                assert guard_decided(decision)
                so_far = arms[number - number % block :]
                left = np.array([block // n_arms - so_far.count(arm) for arm in range(n_arms)])
                assert trial.probabilities(number) == pytest.approx(left / left.sum())
                arms.append(decision.chosen)
            for first in range(0, patients - block + 1, block):
                assert Counter(arms[first : first + block]) == dict.fromkeys(range(n_arms), block // n_arms)
            assert max(Counter(arms[2 * block :]).values()) <= block // n_arms
            assert not guard_decided(trial.decide(patients))


def test_every_order_of_a_block_is_as_likely_as_another() -> None:
    n_runs, orders = 400, Counter[tuple[int, ...]]()
    with as_python(adhere):
        trial = interpreted("burn-in(ucb1, patients=8)", 2)
        for run in range(n_runs):
            trial.turn_to(run)
            orders[tuple(trial.decide(number).chosen for number in range(4, 8))] += 1
    assert len(orders) == comb(4, 2)
    assert stats.chisquare(list(orders.values())).pvalue > 0.001


def test_after_it_the_policy_inside_has_learned_from_everybody() -> None:
    with as_python(adhere):
        guarded, alone = interpreted("burn-in(ucb1, patients=6)", 2), interpreted("ucb1", 2)
        for number in range(12):
            decision = guarded.decide(number)
            if number >= 6:
                assert alone.decide(number).chosen == decision.chosen
            for trial in (guarded, alone):
                trial.learn(decision._replace(memo=decision.memo[: trial._kept]), 0, float(number % 2))
            assert np.array_equal(guarded.state, alone.state)


def test_each_guard_draws_numbers_of_its_own() -> None:
    """A floor around a burn-in breaks some of its places; what is left of the blocks is that without the floor."""
    population = engine_population(rows_for("ucb1", 2))
    alone, inside, twice = (
        arms_of(policy, population, 40, 4, 3, compiled=False)
        for policy in (
            "burn-in(ucb1, patients=40)",
            "floor(burn-in(ucb1, patients=40), share=0.25)",
            "floor(floor(burn-in(ucb1, patients=40), share=0.25), share=0.25)",
        )
    )
    assert 0.15 < (alone != inside).mean() < 0.35  # half of the floor's half
    assert 0.25 < (alone != twice).mean() < 0.5
    assert 0.1 < (inside != twice).mean() < 0.4
