"""The complier effect within strata; that it is two-stage least squares is in test_compliers.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adhere.analysis.estimates import Comparison, View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.records import Records

from .made_records import made


def complier_effects(records: Records, level: float = 0.95) -> list[Comparison]:
    """The comparisons of compliers, stratified first."""
    return [one for one in effects(records, level).comparisons if one.view is View.COMPLIERS]


def stratified_trial(seed: int = 1, n: int = 900, binary: bool = True) -> Records:
    """Three strata with other shares assigned, other compliance, other outcomes and other effects in each."""
    rng = np.random.default_rng(seed)
    stratum = rng.integers(0, 3, n)
    chosen = (rng.random(n) < np.array([0.8, 0.5, 0.2])[stratum]).astype(np.int64)
    kind = rng.random(n)
    takes = np.array([0.9, 0.6, 0.7])[stratum]
    actual = ((kind < 0.1) | ((chosen == 1) & (kind < takes))).astype(np.int64)
    mean = np.array([0.2, 0.4, 0.6])[stratum] + np.array([0.1, 0.3, 0.15])[stratum] * actual + 0.1 * (kind < 0.1)
    reward = (rng.random(n) < mean).astype(float) if binary else np.clip(mean + 0.1 * rng.standard_normal(n), 0, 1)
    return Records(
        "", "", ("old", "new"), chosen, actual, reward, strata=("a", "b", "c"), stratum=stratum.astype(np.int64)
    )


def test_one_stratum_says_what_there_is_without_strata() -> None:
    whole = replace(stratified_trial(n=300), strata=("all",), stratum=np.zeros(300, np.int64))
    first, second = complier_effects(whole)
    assert first.p_value == pytest.approx(second.p_value, rel=1e-10)
    for number in ("difference", "ratio", "number_needed"):
        ours, theirs = getattr(first, number), getattr(second, number)
        assert ours.value == pytest.approx(theirs.value, rel=1e-10)
        for one, two in zip(ours.sets, theirs.sets, strict=True):
            assert (one.low, one.high) == pytest.approx((two.low, two.high), rel=1e-8)
            assert (one.shape, one.method, one.validity) == (two.shape, two.method, two.validity)


def test_strata_with_one_arm_have_no_weight_and_are_counted() -> None:
    records = stratified_trial()
    assert records.stratum is not None
    last = records.stratum == 2
    alone, kept = replace(records, chosen=np.where(last, 1, records.chosen)), records.where(~last)
    first, expected = complier_effects(alone)[0], complier_effects(kept)[0]
    assert first.difference == expected.difference
    assert (
        f"{last.sum()} patients are in strata that have one of the arms only; they do not count here." in first.note
    )
    nothing = made([(0, 0, 1.0, 9), (1, 1, 1.0, 9)], strata=("a", "b"), stratum=np.array([0, 1]))
    assert complier_effects(nothing)[0].difference.reason == "no stratum has known outcomes in both arms"


def test_perfect_compliance_is_stratified_intention_to_treat() -> None:
    records = stratified_trial()
    found = effects(replace(records, actual=records.chosen)).comparisons
    intended, first = found[0], next(one for one in found if one.view is View.COMPLIERS)
    assert (intended.stratified, first.stratified) == (True, True)
    assert first.difference.value == intended.difference.value
    assert first.difference.sets[0] == intended.difference.sets[0]
    assert (first.ratio, first.p_value) == (intended.ratio, intended.p_value)


def test_pairs_of_patients_have_an_estimate_and_a_reason_for_no_set() -> None:
    rows = [(0, 0, 0.0, 1), (1, 1, 1.0, 1)] * 3 + [(0, 0, 1.0, 1), (1, 0, 1.0, 1)]
    found = complier_effects(made(rows, strata=tuple("abcd"), stratum=np.arange(8) // 2))[0].difference
    assert found.value == pytest.approx(1.0)
    assert found.sets == ()
    assert found.reason.startswith("no stratum has two patients of an arm")


def test_a_set_that_covers_where_shares_and_effects_differ_between_strata() -> None:
    """Of 200 trials with one complier effect, about 190 sets hold it; those without strata hold it in few."""
    rng = np.random.default_rng(5)
    held = [0, 0]
    for _ in range(200):
        stratum = rng.integers(0, 2, 600)
        chosen = (rng.random(600) < np.where(stratum, 0.25, 0.75)).astype(np.int64)
        actual = ((rng.random(600) < 0.6) & (chosen == 1)).astype(np.int64)
        reward = (rng.random(600) < 0.2 + 0.5 * stratum + 0.2 * actual).astype(float)
        records = Records("", "", ("a", "b"), chosen, actual, reward, strata=("x", "y"), stratum=stratum)
        for number, one in enumerate(complier_effects(records)):
            held[number] += 0.2 in one.difference.sets[0]
    assert held[0] >= 180  # 3.3 standard errors below 95%
    assert held[1] < 50
