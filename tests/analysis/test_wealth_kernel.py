"""The bets against one effect that simulated trials play, against the oracle and against the analysis' own."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.adaptive.confidence_sequence import RunningSequence
from adhere.analysis.adaptive.running_bets import RunningBets
from adhere.analysis.adaptive.wealth_kernel import Decisions, balance_point, pair_wealth
from adhere.analysis.estimates import View
from adhere.analysis.records import NEVER, Records
from oracle.confidence_sequence import log_wealth

from .adaptive_trial import adaptive_trial
from .test_confidence_sequence import decisions_of

VIEWS = (View.INTENTION_TO_TREAT, View.COMPLIERS)
LOG_THRESHOLD = math.log(2 / 0.05)


def played(records: Records, view: View) -> Decisions:
    """What a kernel would have kept of a trial."""
    assert records.probabilities is not None
    assert records.seen is not None
    assert records.reward_at is not None
    assert records.actual_at is not None
    known_at = (
        records.reward_at if view is View.INTENTION_TO_TREAT else np.maximum(records.reward_at, records.actual_at)
    )
    order = np.argsort(known_at, kind="stable")[: int(np.sum(known_at < NEVER))]
    known_before = np.searchsorted(known_at[order], records.seen, side="right")
    return Decisions(records.chosen, records.probabilities, records.reward, records.actual, order, known_before)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("means", [(0.3, 0.6), (0.5, 0.4, 0.7)])
def test_both_bets_are_those_of_the_oracle(view: View, means: tuple[float, ...]) -> None:
    records = adaptive_trial(5, 90, means, delay=12, missing=0.15)
    trial, scores = played(records, view), np.full(90, np.nan)
    decisions, _ = decisions_of(records, 1, 0, view)
    for theta in (-0.4, 0.0, 0.25, 0.9):
        expected = log_wealth(decisions, theta, 0.95)
        up, down, most_up, most_down = pair_wealth(
            1, 0, view is View.COMPLIERS, theta, LOG_THRESHOLD, trial, 90, scores
        )
        assert (up, down) == pytest.approx(expected[-1], abs=1e-9)
        assert most_up == pytest.approx(max(0.0, *(one for one, _ in expected)), abs=1e-9)
        assert most_down == pytest.approx(max(0.0, *(other for _, other in expected)), abs=1e-9)


@pytest.mark.parametrize("view", VIEWS)
def test_wealth_and_estimate_are_those_of_the_analysis(view: View) -> None:
    records = adaptive_trial(8, 700, (0.1, 0.9), delay=30, missing=0.05, cross=0.1)  # wealth beyond any double
    records = replace(records, reward=np.where(np.isnan(records.reward), np.nan, records.reward * 0.9 + 0.05))
    running = RunningSequence(1, 0, view)
    running.update(records)
    sequence, trial, scores = running.sequence(), played(records, view), np.empty(700)
    by_taken = view is View.COMPLIERS
    _, _, up, down = pair_wealth(1, 0, by_taken, 0.0, LOG_THRESHOLD, trial, 700, scores)
    assert max(up, down) == pytest.approx(sequence.log_wealth_at_zero, abs=1e-9)
    assert sequence.estimate is not None
    estimate = balance_point(1, 0, by_taken, LOG_THRESHOLD, trial, 700, scores)
    assert estimate == pytest.approx(sequence.estimate, abs=1e-3)
    up, down, _, _ = pair_wealth(1, 0, by_taken, estimate, LOG_THRESHOLD, trial, 700, scores)
    assert up == pytest.approx(down, abs=1e-5)


@pytest.mark.parametrize(
    ("n_drawn", "has_estimate"),
    [(0, False), (1, False), (40, True)],  # all other arms are certain, as those of ucb1 are
)
def test_there_is_no_estimate_where_next_to_nothing_was_left_to_chance(n_drawn: int, has_estimate: bool) -> None:
    chosen = np.arange(60) % 2
    probabilities = np.where(np.arange(60)[:, None] < n_drawn, 0.5, np.column_stack([1 - chosen, chosen]))
    reward, everyone = (np.arange(60) % 4 == 1) * 1.0, np.arange(60)
    taken = 1 - chosen if n_drawn == 1 else chosen  # where people do the opposite, neither bet gains by θ
    trial = Decisions(chosen, probabilities, reward, taken, everyone, everyone)
    estimate = balance_point(1, 0, True, LOG_THRESHOLD, trial, 60, np.empty(60))
    running = RunningSequence(1, 0, View.COMPLIERS)
    running.update(Records("a", "b", ("old", "new"), chosen, taken, reward, probabilities=probabilities))
    of_analysis = running.sequence().estimate
    assert math.isnan(estimate) == (of_analysis is None) == (not has_estimate)
    assert not has_estimate or estimate == pytest.approx(of_analysis, abs=1e-3)


def test_wealth_that_leaves_the_range_of_a_double_is_kept() -> None:
    n, theta, middle = 30_000, -0.9, np.array([0.5, 0.5])
    chosen = np.arange(n) % 2
    reward, probabilities = chosen.astype(np.float64), np.broadcast_to(middle, (n, 2))
    trial = Decisions(chosen, probabilities, reward, chosen, np.arange(n), np.arange(n))
    up, down, most_up, most_down = pair_wealth(1, 0, False, theta, LOG_THRESHOLD, trial, n, np.empty(n))
    bets = RunningBets(1, 0, View.INTENTION_TO_TREAT, 0.95, 21)
    bets.add(Records("a", "b", ("old", "new"), chosen, chosen, reward, probabilities=probabilities.copy()))
    wealth = bets.wealth()
    assert wealth.theta[1] == theta
    assert (up, down) == pytest.approx((wealth.log_up[1], wealth.log_down[1]), rel=1e-10)
    assert up > 300.0  # 2^400 was taken out of it
    assert down < -300.0
    assert most_up == up
    assert 0.0 <= most_down < 1.0


def test_without_decisions_between_the_two_arms_nothing_is_won() -> None:
    empty = np.zeros(0)
    trial = Decisions(empty, np.zeros((0, 2)), empty, empty, empty, empty)
    assert pair_wealth(1, 0, False, 0.3, LOG_THRESHOLD, trial, 0, empty) == (0.0, 0.0, 0.0, 0.0)
