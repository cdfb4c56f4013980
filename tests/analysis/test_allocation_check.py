from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.adaptive.allocation_check import AllocationCheck, allocation_check
from adhere.analysis.records import Records

from .adaptive_trial import adaptive_trial


def checked(records: Records, level: float = 0.95) -> AllocationCheck:
    check = allocation_check(records, level)
    assert check is not None
    return check


def test_the_bet_is_that_of_the_definition() -> None:
    records = adaptive_trial(1, 60, (0.2, 0.5, 0.8))
    assert records.probabilities is not None
    bets = [side / 2**power for power in range(1, 10) for side in (1, -1)]
    best, by_arm_then = 0.0, [1.0] * 3
    products = [[1.0] * len(bets) for _ in range(3)]
    for t, chosen in enumerate(records.chosen.tolist()):
        for arm in range(3):
            surprise = (chosen == arm) - float(records.probabilities[t, arm])
            products[arm] = [won * (1 + bet * surprise) for won, bet in zip(products[arm], bets, strict=True)]
        by_arm = [sum(won) / len(bets) for won in products]
        if sum(by_arm) / 3 > best:
            best, by_arm_then = sum(by_arm) / 3, by_arm
    check = checked(records)
    assert check.log_e == pytest.approx(math.log(best), abs=1e-10)
    assert check.log_e_by_arm == pytest.approx([math.log(won) for won in by_arm_then], abs=1e-10)
    assert check.observed == tuple(np.bincount(records.chosen).tolist())
    assert check.expected == pytest.approx(tuple(records.probabilities.sum(axis=0)))


@pytest.mark.parametrize("n_arms", [2, 3])
def test_relabelled_arms_are_found_and_right_ones_are_not(n_arms: int) -> None:
    right = adaptive_trial(4, 400, (0.1, 0.4, 0.9)[:n_arms])
    check = checked(right)
    assert not check.rejected
    assert check.sentence.startswith("No evidence against the log")
    wrong = checked(replace(right, chosen=(right.chosen + 1) % n_arms))
    assert wrong.rejected
    assert wrong.log_e >= math.log(20)
    assert "were not drawn with the logged probabilities" in wrong.sentence
    assert "than expected. No method that uses the probabilities can be trusted" in wrong.sentence
    assert len(wrong.log_e_by_arm) == n_arms


def test_right_logs_are_seldom_ever_rejected() -> None:
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(200):
        pi = rng.uniform(0.02, 0.98, 200)
        chosen = (rng.random(200) < pi).astype(np.int64)
        given = Records("a", "b", ("x", "y"), chosen, chosen, np.ones(200), probabilities=np.stack([1 - pi, pi], 1))
        rejected += checked(given, level=0.8).rejected
    assert rejected <= 0.2 * 200 + 2.6 * math.sqrt(200 * 0.2 * 0.8)


def test_counts_are_checked_at_the_end_whatever_their_order() -> None:
    chosen = np.array([1, 0])
    given = Records(
        "a", "b", ("x", "y"), chosen, chosen, np.ones(2), count=np.array([300, 300]),
        probabilities=np.full((2, 2), 0.5),
    )  # fmt: skip
    assert not checked(given).rejected
    assert checked(replace(given, count=np.array([360, 240]))).rejected
    assert checked(replace(given, count=np.array([360, 240]))).observed == (240, 360)


def test_logs_that_cannot_be_checked_say_so() -> None:
    chosen = np.array([0, 1, 1])
    given = Records("a", "b", ("x", "y"), chosen, chosen, np.ones(3), probabilities=np.eye(2)[chosen])
    sure = checked(given)
    assert not sure.rejected
    assert sure.log_e == pytest.approx(0.0)
    assert "so the log cannot be checked" in sure.sentence
    wrong = checked(replace(given, chosen=np.array([1, 1, 1])))
    assert wrong.rejected
    assert wrong.sentence == "The log is wrong: 1 patient was assigned an arm whose logged probability is 0."
    assert allocation_check(replace(given, probabilities=None)) is None
    assert allocation_check(replace(given, estimated=np.ones(3, dtype=np.bool_))) is None
    partly = replace(given, estimated=np.array([True, False, False]))
    assert "1 without exact probabilities left out" in checked(partly).sentence
