from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from adhere import Trial
from adhere.analysis.adaptive.allocation_check import allocation_check
from adhere.analysis.adaptive.confidence_sequence import (
    RunningSequence,
    confidence_sequences,
)
from adhere.analysis.adaptive.running_bets import Past, RunningBets, lay_steps
from adhere.analysis.adaptive.scores import pair_scores
from adhere.analysis.adaptive.wealth import (
    CAP,
    RATE,
    SPREAD_0,
    SPREAD_1,
    SPREAD_2,
    WA_LOW,
    WB_LOW,
)
from adhere.analysis.estimates import Shape, Validity, View
from adhere.analysis.records import NOT_KNOWN, Records
from oracle.confidence_sequence import Decision, log_wealth, refuted_at

from .adaptive_trial import adaptive_trial, many_trials

EXACT = (View.INTENTION_TO_TREAT, View.COMPLIERS)


def decisions_of(records: Records, treatment: int, control: int, view: View) -> tuple[list[Decision], list[int]]:
    """What the oracle reads: the decisions between two arms, and their numbers from 1."""
    decisions, numbers = [], []
    assert records.probabilities is not None
    for t, chosen in enumerate(records.chosen.tolist()):
        if chosen not in (treatment, control):
            continue
        reward = None if math.isnan(records.reward[t]) else float(records.reward[t])
        taken: float | None = float(chosen == treatment)
        if view is View.COMPLIERS:
            taken = None if records.actual[t] == NOT_KNOWN else float(records.actual[t] == treatment)
        known_at, seen = float(t), t - 1.0
        if records.seen is not None and records.reward_at is not None and records.actual_at is not None:
            seen, known_at = float(records.seen[t]), float(records.reward_at[t])
            if view is View.COMPLIERS:
                known_at = max(known_at, float(records.actual_at[t]))
        first, second = records.probabilities[t, [treatment, control]].tolist()
        decisions.append(Decision(chosen == treatment, first, second, reward, taken, known_at, seen))
        numbers.append(t + 1)
    return decisions, numbers


@pytest.mark.parametrize("view", EXACT)
@pytest.mark.parametrize("n_arms", [2, 3])
@pytest.mark.parametrize("in_order", [False, True])
def test_wealth_and_sets_are_those_of_the_definition(view: View, n_arms: int, in_order: bool) -> None:
    records = adaptive_trial(n_arms, 90, (0.1, 0.95, 0.4)[:n_arms], delay=6)
    if in_order:
        records = replace(records, seen=None, reward_at=None, actual_at=None)
    level, n_grid = 0.7, 21
    decisions, numbers = decisions_of(records, 1, 0, view)
    bets = RunningBets(1, 0, view, level, n_grid)
    bets.add(records)
    wealth = bets.wealth()
    oracle = [log_wealth(decisions, theta, level) for theta in wealth.theta.tolist()]
    np.testing.assert_allclose(wealth.log_up, [steps[-1][0] for steps in oracle], atol=1e-9)
    np.testing.assert_allclose(wealth.log_down, [steps[-1][1] for steps in oracle], atol=1e-9)
    largest = [max(0.0, *(max(step) for step in steps)) for steps in oracle]
    np.testing.assert_allclose(wealth.log_largest, largest, atol=1e-9)

    running = RunningSequence(1, 0, view, level, n_grid)
    running.update(records)
    sequence = running.sequence(n_times=len(records))
    gone = [refuted_at(decisions, theta, level) for theta in wealth.theta.tolist()]
    assert sum(at is not None for at in gone) > 5, "the test must see effects refuted"
    for time, low, high in zip(sequence.t, sequence.low, sequence.high, strict=True):
        left = [i for i, at in enumerate(gone) if at is None or numbers[at - 1] > time]
        assert low == wealth.theta[max(left[0] - 1, 0)]
        assert high == wealth.theta[min(left[-1] + 1, n_grid - 1)]
    assert (sequence.final.low, sequence.final.high) == (sequence.low[-1], sequence.high[-1])
    assert sequence.final.validity is Validity.ANY_TIME
    assert sequence.log_wealth_at_zero == pytest.approx(largest[n_grid // 2], abs=1e-9)
    assert sequence.p_value == pytest.approx(min(1.0, 2 * math.exp(-largest[n_grid // 2])))
    n_known = sum(one.reward is not None and one.taken is not None for one in decisions)
    assert (sequence.n_used, sequence.n_pending) == (n_known, len(decisions) - n_known)
    assert "constant over time" in sequence.note
    assert "worst case" in sequence.note


@pytest.mark.parametrize("view", EXACT)
def test_a_live_trial_is_read_as_its_log_says(view: View) -> None:
    """Reports come late and in another order; what each recommendation had seen is in the log."""
    rng, waiting = np.random.default_rng(6), []
    trial = Trial("thompson", arms=["old", "new"], seed=4)
    for _ in range(80):
        waiting.append(trial.recommend())
        if len(waiting) > 6:
            told = waiting.pop(int(rng.integers(len(waiting))))
            taken = told.arm if rng.random() < 0.8 else "old"
            trial.report(told.id, actual=taken, reward=float(rng.random() < (0.8 if taken == "new" else 0.2)))
    records = trial.records()
    assert (records.order, records.batch) == ("that of the log", None)
    decisions, _ = decisions_of(records, 1, 0, view)
    bets = RunningBets(1, 0, view, 0.95, 5)
    bets.add(records)
    wealth = bets.wealth()
    oracle = [log_wealth(decisions, theta, 0.95)[-1] for theta in wealth.theta.tolist()]
    np.testing.assert_allclose(wealth.log_up, [up for up, _ in oracle], atol=1e-9)
    np.testing.assert_allclose(wealth.log_down, [down for _, down in oracle], atol=1e-9)
    assert bets.n_pending == 6
    check = allocation_check(records)
    assert check is not None
    assert not check.rejected


@pytest.mark.parametrize("view", EXACT)
def test_a_pending_outcome_never_refutes_what_some_completion_leaves(view: View) -> None:
    rng = np.random.default_rng(3)
    narrower = 0
    for seed in range(8):
        records = adaptive_trial(seed, 120, (0.2, 0.9), missing=0.25)
        assert records.reward_at is not None
        assert records.actual_at is not None
        pending = RunningBets(1, 0, view, 0.95, 41)
        pending.add(records)
        for fixed in (0.0, 1.0, None):
            drawn = np.full(120, fixed) if fixed is not None else rng.random(120)
            complete = replace(
                records,
                reward=np.where(np.isnan(records.reward), drawn, records.reward),
                actual=np.where(records.actual == NOT_KNOWN, rng.integers(0, 2, 120), records.actual),
                # after the last decision: it changes its own factor alone
                reward_at=np.minimum(records.reward_at, 10**9),
                actual_at=np.minimum(records.actual_at, 10**9),
            )
            known = RunningBets(1, 0, view, 0.95, 41)
            known.add(complete)
            assert known.n_pending == 0
            assert np.all(known.wealth().log_up >= pending.wealth().log_up - 1e-12)
            assert np.all(known.wealth().log_down >= pending.wealth().log_down - 1e-12)
            assert np.all(known.wealth().refuted_at() <= pending.wealth().refuted_at())
            narrower += int(np.sum(known.wealth().refuted_at() < pending.wealth().refuted_at()))
    assert narrower > 0


@pytest.mark.parametrize(("n", "turn", "least"), [(320_000, 0.7, 720), (160_000, 0.25, 290)])
def test_wealth_stays_exact_where_it_leaves_a_double(n: int, turn: float, least: float) -> None:
    """Far up, far down and back again: against the sum of logarithms."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 2, n)
    reward = np.where(np.arange(n) < turn * n, chosen, 1 - chosen).astype(np.float64)
    records = Records("a", "b", ("x", "y"), chosen, chosen, reward, probabilities=np.full((n, 2), 0.5))
    bets = RunningBets(1, 0, View.INTENTION_TO_TREAT, 0.95, 5)
    bets.add(records)
    wealth = bets.wealth()
    rows, _ = lay_steps(Past(), pair_scores(records, 1, 0, View.INTENTION_TO_TREAT), 0.95)
    furthest, reached = 0.0, np.full((2, len(wealth.theta)), np.inf)
    for i, theta in enumerate(wealth.theta.tolist()):
        spread = rows[:, SPREAD_0] + theta * rows[:, SPREAD_1] + theta**2 * rows[:, SPREAD_2]
        bet = np.minimum(np.sqrt(rows[:, RATE] / spread), rows[:, CAP] / (1 + abs(theta)))
        gain = bet * (rows[:, WA_LOW] - theta * rows[:, WB_LOW])
        up, down = np.cumsum(np.log1p(gain)), np.cumsum(np.log1p(-gain))
        for side, path in enumerate((up, down)):
            if path.max() >= math.log(40):
                reached[side, i] = 1 + np.argmax(path >= math.log(40))
        furthest = max(furthest, -up.min(), -down.min(), up.max(), down.max())
        assert wealth.log_up[i] == pytest.approx(up[-1], abs=1e-7)
        assert wealth.log_down[i] == pytest.approx(down[-1], abs=1e-7)
        assert wealth.log_largest[i] == pytest.approx(max(up.max(), down.max(), 0.0), abs=1e-7)
    assert furthest > least, "wealth must be rescaled"
    neighbours = np.maximum(reached[:, 1:], reached[:, :-1])
    np.testing.assert_array_equal(wealth.refuted_at(), neighbours.min(axis=0))
    in_pieces = RunningBets(1, 0, View.INTENTION_TO_TREAT, 0.95, 5)
    for piece in (np.arange(n) < 100_001, np.arange(n) >= 100_001):
        in_pieces.add(records.where(piece))
    for one in ("log_up", "log_down", "log_largest"):
        np.testing.assert_array_equal(getattr(in_pieces.wealth(), one), getattr(wealth, one))


def test_an_effect_that_changes_is_called_drift() -> None:
    rng = np.random.default_rng(1)
    n = 3000
    chosen = rng.integers(0, 2, n)
    gain = np.where(np.arange(n) < n // 2, 0.4, -0.4)
    reward = (rng.random(n) < 0.5 + gain * (chosen - 0.5)).astype(np.float64)
    records = Records("a", "b", ("old", "new"), chosen, chosen, reward, probabilities=np.full((n, 2), 0.5))
    itt, _ = confidence_sequences(records)
    assert itt.drift_at is not None
    assert n // 2 < itt.drift_at < n
    assert itt.final.shape is Shape.EMPTY
    assert itt.estimate is None
    assert itt.t[-1] == itt.drift_at - 1
    assert not np.isnan(itt.low).any()
    assert itt.note.startswith(f"Drift: after {itt.drift_at:,} decisions no constant effect agrees")
    steady, _ = confidence_sequences(records.where(np.arange(n) < n // 2))
    assert steady.drift_at is None
    assert 0.4 in steady.final
    assert steady.estimate == pytest.approx(0.4, abs=0.06)
    assert steady.p_value < 1e-6


def test_a_set_narrower_than_the_grid_is_not_called_drift() -> None:
    n = 4000
    chosen = np.arange(n) % 2
    reward = np.where(chosen == 1, 0.5, 0.25)
    records = Records("a", "b", ("x", "y"), chosen, chosen, reward, probabilities=np.full((n, 2), 0.5))
    itt = confidence_sequences(records, n_grid=4)[0]  # 5 effects: -1, -0.5, 0, 0.5, 1
    assert (itt.final.low, itt.final.high) == (0.0, 0.5)
    assert itt.drift_at is None
    assert itt.estimate == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("view", EXACT)
def test_the_true_effect_is_seldom_ever_refuted(view: View) -> None:
    """Thompson-like allocation that follows its own outcomes, 20% of sequences may miss at any time."""
    n_trials, level = 250, 0.8
    theta = 0.4 if view is View.INTENTION_TO_TREAT else 0.5
    misses = wrong = 0
    for records in many_trials(n_trials, 150, compliance=0.8, gain=0.5, seed=15):
        bets = RunningBets(1, 0, view, level, 21)
        bets.add(records)
        largest = bets.wealth().log_largest
        place = round((theta + 1) * 10)
        misses += int(largest[place] >= math.log(2 / (1 - level)))
        wrong += int(largest[0] >= math.log(2 / (1 - level)))
    assert misses <= 0.2 * n_trials + 2.6 * math.sqrt(n_trials * 0.2 * 0.8)
    assert wrong > 0.4 * n_trials
