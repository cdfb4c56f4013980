from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.adaptive.aipw import AipwEstimate, aipw
from adhere.analysis.analyse import analyse_records
from adhere.analysis.estimates import Shape, Validity, View
from adhere.analysis.output.page import _effects_uncertainty
from adhere.analysis.records import NEVER, Records

from .adaptive_trial import adaptive_trial, many_trials


def by_hand(records: Records, treatment: int, control: int) -> tuple[float, ...]:
    """Σhγ/Σh of Y and of D, and their variances and covariance, decision by decision."""
    scores, weights = [], []
    assert records.probabilities is not None
    assert records.seen is not None
    assert records.reward_at is not None
    assert records.actual_at is not None
    for t in range(len(records)):
        p = records.probabilities[t].tolist()
        both = []
        for of in (lambda s: records.reward[s], lambda s: float(records.actual[s] == treatment)):
            gamma = 0.0
            for arm, sign in ((treatment, 1), (control, -1)):
                known = [
                    of(s)
                    for s in range(t)
                    if records.chosen[s] == arm and max(records.reward_at[s], records.actual_at[s]) <= records.seen[t]
                ]
                mean = (0.5 + sum(known)) / (1 + len(known))
                gamma += sign * (mean + (records.chosen[t] == arm) * (of(t) - mean) / p[arm])
            both.append(float(gamma))
        scores.append(both)
        weights.append(math.sqrt(1 / (1 / p[treatment] + 1 / p[control])))
    total = sum(weights)
    y, d = (sum(h * s[i] for h, s in zip(weights, scores, strict=True)) / total for i in (0, 1))
    off = [(h * (s[0] - y) / total, h * (s[1] - d) / total) for h, s in zip(weights, scores, strict=True)]
    return y, d, sum(a * a for a, _ in off), sum(b * b for _, b in off), sum(a * b for a, b in off)


@pytest.mark.parametrize("n_arms", [2, 3])
def test_estimates_are_those_of_the_formula(n_arms: int) -> None:
    records = adaptive_trial(3, 120, (0.3, 0.6, 0.4)[:n_arms], missing=0.0, cross=0.3 if n_arms == 2 else 0.0)
    assert records.reward_at is not None
    assert records.actual_at is not None
    both = np.maximum(records.reward_at, records.actual_at)  # one place: the oracle is the same for both views
    records = replace(records, reward_at=both, actual_at=both)
    records = records.where(np.arange(120) < int(np.argmax(both == NEVER)) if (both == NEVER).any() else both > 0)
    y, d, var_y, var_d, cov = by_hand(records, 1, 0)
    itt, compliers = aipw(records)[:2]
    assert itt.difference.value == pytest.approx(y, abs=1e-10)
    (limits,) = itt.difference.sets
    half = 1.959964 * math.sqrt(var_y)
    assert (limits.low, limits.high) == pytest.approx((y - half, y + half), abs=1e-6)
    assert limits.validity is Validity.APPROXIMATE  # 120 patients, drawn with small probabilities
    assert compliers.view is View.COMPLIERS
    assert compliers.difference.value == pytest.approx(y / d, abs=1e-10)
    (ratio,) = compliers.difference.sets
    assert ratio.shape is Shape.INTERVAL
    for end in (ratio.low, ratio.high):  # where y - θd is 1.96 standard errors from 0
        assert (y - end * d) ** 2 == pytest.approx(1.959964**2 * (var_y - 2 * end * cov + end**2 * var_d), rel=1e-5)
    assert "one time fixed in advance" in itt.note
    assert "monotonicity" in compliers.note


def test_intervals_cover_at_a_fixed_time_under_adaptive_allocation() -> None:
    n_trials = 300
    itt_hits = complier_hits = 0
    estimates = []
    for records in many_trials(n_trials, 250, compliance=0.8, gain=0.5, seed=2, floor=0.1):
        itt, compliers = aipw(records)
        estimates.append(itt.difference.value or 0.0)
        itt_hits += 0.4 in itt.difference.sets[0]
        complier_hits += 0.5 in compliers.difference.sets[0]
    error = 3.0 * math.sqrt(0.95 * 0.05 / n_trials)
    assert itt_hits / n_trials >= 0.95 - error
    assert complier_hits / n_trials >= 0.95 - error
    assert np.mean(estimates) == pytest.approx(0.4, abs=4 * float(np.std(estimates)) / math.sqrt(n_trials))


def test_who_lacks_a_report_is_left_out_and_counted() -> None:
    records = adaptive_trial(3, 100, missing=0.0, delay=0)
    records = replace(records, seen=None, reward_at=None, actual_at=None)
    cut = replace(records, reward=np.where(np.arange(100) == 60, np.nan, records.reward))
    others: tuple[AipwEstimate, ...] = aipw(records.where(np.arange(100) != 60))
    whole, arm = aipw(records), records.arms[records.chosen[60]]
    for one, other, all_known in zip(aipw(cut), others, whole, strict=True):
        is_compared = arm in (one.treatment, one.control)
        assert one.difference == (other if is_compared else all_known).difference
        assert (one.note == all_known.note) != is_compared
        assert not is_compared or "a report: left out" in one.note
    few = aipw(replace(records, reward=np.where(np.arange(100) > 1, np.nan, records.reward)))[0]
    assert few.difference.value is None
    assert "Too few patients with an outcome" in few.difference.reason


def test_without_chance_or_order_there_is_no_estimate() -> None:
    records = adaptive_trial(3, 40, missing=0.0)
    assert aipw(replace(records, probabilities=None)) == ()
    assert aipw(replace(records, count=np.full(40, 2))) == ()
    sure = replace(records, probabilities=np.eye(2)[records.chosen], seen=None, reward_at=None, actual_at=None)
    assert all(one.difference.value is None for one in aipw(sure))
    tiny = np.where(records.chosen[:, None] == np.arange(2), 1e-300, 1.0)
    assert "A probability was 1e-300" in aipw(replace(records, probabilities=tiny))[0].difference.reason
    nobody = replace(records, actual=np.zeros(40, dtype=np.int64), reward=np.ones(40))
    nobody = replace(nobody, seen=None, reward_at=None, actual_at=None)
    itt, compliers = aipw(nobody)
    assert itt.difference.value == pytest.approx(0.0, abs=0.2)
    assert not math.isnan(compliers.difference.sets[0].low)


def test_rare_draws_make_the_set_approximate() -> None:
    """Bare Thompson sampling of 120 patients left 95% sets with the truth in 78% of trials."""
    rare, even = np.full((200, 2), (0.9, 0.1)), np.full((200, 2), 0.5)
    chosen = np.array(([0] * 9 + [1]) * 20)
    records = Records("", "", ("old", "new"), chosen, chosen, (np.arange(200) % 2).astype(np.float64),
                      probabilities=rare)  # fmt: skip
    assert {one.validity for of in aipw(records) for one in of.difference.sets} == {Validity.APPROXIMATE}
    assert "Approximate: an arm's probability fell so low" in aipw(records)[0].note
    chosen = np.arange(200) // 2 % 2
    records = replace(records, chosen=chosen, actual=chosen, probabilities=even)
    assert {one.validity for of in aipw(records) for one in of.difference.sets} == {Validity.ADAPTIVE}
    assert "Approximate" not in aipw(records)[0].note


@pytest.mark.parametrize(("n", "is_promised"), [(120, False), (1200, True)])
def test_the_page_promises_of_aipw_what_its_sets_do(n: int, is_promised: bool) -> None:
    """Probabilities that wave between 0.1 and 0.9: the fewest draws to expect are 12 of 120 patients."""
    rng = np.random.default_rng(1)
    second = 0.5 + 0.4 * np.sin(np.arange(n) / 10)
    chosen = (rng.random(n) < second).astype(np.int64)
    reward = (rng.random(n) < 0.5).astype(np.float64)
    odds = np.stack([1 - second, second], axis=1)
    analysis = analyse_records(Records("", "", ("old", "new"), chosen, chosen, reward, probabilities=odds))
    said = _effects_uncertainty(analysis)
    assert "only sets marked any-time valid keep their 95%" in said
    assert ("those of AIPW at a time fixed in advance" in said) == is_promised
