"""Confidence sequences where the probabilities of arms depend on the stratum, and so does the effect."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.adaptive.confidence_sequence import confidence_sequences
from adhere.analysis.adaptive.stratified_sequence import stratified_sequences
from adhere.analysis.analyse import analyse_records
from adhere.analysis.estimates import View
from adhere.analysis.records import NOT_KNOWN, Records


def trial(n: int = 3000, seed: int = 1, compliance: float = 0.8) -> Records:
    """New adds 0.4 in stratum A, where 95% come to get it, and nothing in stratum B, split half and half."""
    rng = np.random.default_rng(seed)
    stratum = rng.integers(2, size=n)
    pi = np.where(stratum == 0, np.minimum(0.95, 0.5 + np.arange(n) / 200), 0.5)
    chosen = (rng.random(n) < pi).astype(np.int64)
    taken = np.where(rng.random(n) < compliance, chosen, 0)
    reward = (rng.random(n) < np.array([[0.3, 0.7], [0.6, 0.6]])[stratum, taken]).astype(np.float64)
    odds = np.stack([1 - pi, pi], axis=1)
    return Records("t", "a test", ("old", "new"), chosen, taken, reward, probabilities=odds, strata=("A", "B"),
                   stratum=stratum)  # fmt: skip


@pytest.mark.parametrize(("view", "truth"), [(View.INTENTION_TO_TREAT, 0.16), (View.COMPLIERS, 0.2)])
def test_the_effect_over_all_strata_is_in_the_set(view: View, truth: float) -> None:
    """The bets on all patients are on the strata that were left to chance most, here that without an effect."""
    pooled = shown = 0
    for seed in range(5):
        records = trial(seed=seed)
        pooled += any(truth in one.final for one in confidence_sequences(records) if one.view is view)
        (found,) = (one for one in analyse_records(records).sequences if one.view is view)
        shown += truth in found.final
    assert shown == 5
    assert pooled <= 2


def test_sets_shrink_and_end_in_the_last() -> None:
    records = trial()
    for one in stratified_sequences(records):
        assert np.all(np.diff(one.low) >= -1e-12) or one.view is View.COMPLIERS
        assert np.all(one.low <= one.high)
        assert (one.low[-1], one.high[-1]) == (one.final.low, one.final.high)
        assert one.t[-1] == len(records)
        assert one.estimate is not None
        assert one.estimate in one.final
        assert "depended on the stratum" in one.note
        assert one.p_value == (1.0 if 0.0 in one.final else pytest.approx(0.05))


def test_each_stratum_counts_by_its_patients() -> None:
    """With one stratum alone, the sequence of all patients and that by stratum are the same."""
    records = trial(n=400)
    assert records.stratum is not None
    alone = records.where(records.stratum == 0)
    (itt, *_), (same, *_) = confidence_sequences(alone), stratified_sequences(alone)
    assert (itt.final.low, itt.final.high) == pytest.approx((same.final.low, same.final.high))
    assert itt.estimate == pytest.approx(same.estimate)


def test_pending_outcomes_enter_at_their_worst() -> None:
    records = trial(n=600)
    late = np.arange(600) >= 550
    reward, actual = np.where(late, np.nan, records.reward), np.where(late, NOT_KNOWN, records.actual)

    pending = stratified_sequences(replace(records, reward=reward, actual=actual))
    for whole, part in zip(stratified_sequences(records), pending, strict=True):
        assert part.n_pending == 50
        assert part.final.low <= whole.final.low
        assert part.final.high >= whole.final.high
        assert "50 patients with a missing or pending report" in part.note


def test_a_set_on_compliers_that_says_nothing_has_no_estimate_beyond_it_and_no_false_reason() -> None:
    """Dividing by a share of compliers near 0 gave estimates as large as 39."""
    records = trial(n=300)
    assert records.stratum is not None
    weak = replace(records, actual=np.where(np.arange(300) % 2, 1, 0))  # whatever was assigned
    for one in stratified_sequences(weak):
        if one.view is View.COMPLIERS:
            assert (one.final.low, one.final.high, one.estimate) == (-1.0, 1.0, None)
    for given in (records, weak):
        analysis = analyse_records(given)
        assert analysis.mixes_strata
        (said,) = (one for one in analysis.verdict if "is not known at all" in one)
        assert "the any-time valid set contains every possible effect: it is made within strata" in said
        assert "too few people took" not in said
