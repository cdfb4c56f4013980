from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats
from statsmodels.stats.multitest import multipletests

from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Shape, Validity, View
from adhere.analysis.fixed_sample.effects import NO_ESTIMAND, Effects, effects, effects_from
from adhere.analysis.fixed_sample.means import means_of
from adhere.analysis.fixed_sample.missing_at_random import completed
from adhere.analysis.fixed_sample.principal_strata import principal_strata
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records
from adhere.populations import stroke_aspirin
from blocked import run_without

from .made_records import MISSING, any_records, made, of_counts


def one_of(found: Effects, view: View, pair: tuple[str, str] | None = None) -> Comparison:
    every = [one for one in found.comparisons if one.view is view and pair in (None, (one.treatment, one.control))]
    return every[0]


def test_stroke_trial_has_the_published_deaths_within_14_days() -> None:
    """International Stroke Trial (1997), Lancet 349: 9.0% of those allocated aspirin died, 9.4% of the others.

    The shipped counts leave out 13 of its 19,435 patients, whose compliance with one of the treatments is unknown.
    """
    found = effects(of_counts(stroke_aspirin()))
    dead = {one.arm: 100 * (1 - (one.mean.value or 0)) for one in found.means if one.view is View.INTENTION_TO_TREAT}
    assert {arm: round(share, 1) for arm, share in dead.items()} == {"none": 9.4, "aspirin": 9.0}
    intended = one_of(found, View.INTENTION_TO_TREAT)
    assert intended.difference.value == pytest.approx((dead["none"] - dead["aspirin"]) / 100)
    assert intended.difference.n == 19_422
    assert 0.0 in intended.difference.sets[0]
    assert intended.number_needed.sets[0].shape is Shape.OUTSIDE
    for view in (View.AS_TREATED, View.PER_PROTOCOL):  # they see an effect: the illest are not given tablets
        other = one_of(found, view)
        assert 0.0 not in other.difference.sets[0]
        assert (other.note, other.difference.sets[0].validity) == (NO_ESTIMAND, Validity.APPROXIMATE)


def test_outcomes_that_are_not_0_or_1_are_compared_by_welch() -> None:
    rng = np.random.default_rng(1)
    chosen = rng.integers(0, 2, 60)
    reward = np.clip(0.4 + 0.1 * chosen + (0.1 + 0.2 * chosen) * rng.standard_normal(60), 0, 1)
    found = one_of(effects(Records("", "", ("old", "new"), chosen, chosen, reward), 0.9), View.INTENTION_TO_TREAT)
    theirs = stats.ttest_ind(reward[chosen == 1], reward[chosen == 0], equal_var=False)
    interval = theirs.confidence_interval(0.9)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    assert found.difference.value == pytest.approx(reward[chosen == 1].mean() - reward[chosen == 0].mean(), rel=1e-8)
    ends = found.difference.sets[0].low, found.difference.sets[0].high
    assert ends == pytest.approx((interval.low, interval.high), rel=1e-8)
    assert found.ratio.sets[0].method == "Fieller"


def test_perfect_compliance_makes_all_views_agree() -> None:
    found = effects(made([(0, 0, 1.0, 20), (0, 0, 0.0, 80), (1, 1, 1.0, 35), (1, 1, 0.0, 65)]))
    for number in ("difference", "ratio", "number_needed"):
        quantities = [getattr(one, number) for one in found.comparisons]
        ends = {(one.value, one.sets[0].low, one.sets[0].high) for one in quantities}
        assert len(quantities) == 4
        assert len(ends) == 1
    assert len({one.p_value for one in found.comparisons}) == 1
    by_arm = [{one.mean.value for one in found.means if one.arm == arm} for arm in ("old", "new")]
    assert by_arm == [{0.2}, {0.35}]


def test_strata_come_first_and_missing_ones_are_a_stratum_of_their_own() -> None:
    rows = [(0, 0, 1.0, 40), (0, 0, 0.0, 10), (1, 1, 1.0, 18), (1, 1, 0.0, 2)]
    rows += [(0, 0, 1.0, 4), (0, 0, 0.0, 16), (1, 1, 1.0, 15), (1, 1, 0.0, 35), (1, 1, 1.0, 7)]
    stratum = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1])
    records = made(rows, strata=("young", "old"), stratum=stratum)
    first, second = effects(records).comparisons[:2]
    assert (first.view, first.stratified, second.view, second.stratified) == (second.view, True, first.view, False)
    weights = 50 * 20 / 70, 20 * 50 / 70
    assert first.difference.value == pytest.approx(np.average([0.9 - 0.8, 0.3 - 0.2], weights=weights))
    assert first.note == "7 patients are in strata that have one of the arms only; they do not count here."
    assert second == effects(made(rows)).comparisons[0]


def test_several_comparisons_are_adjusted_over_all_pairs_and_against_control() -> None:
    rows = [row for arm, n in enumerate((20, 33, 47, 36)) for row in ((arm, arm, 1.0, n), (arm, arm, 0.0, 100 - n))]
    found = effects(made(rows, "abcd", control=1))
    mine = [one for one in found.comparisons if one.view is View.INTENTION_TO_TREAT]
    assert ["".join((one.treatment, one.control)) for one in mine] == ["ab", "cb", "db", "ca", "da", "dc"]
    over_all = multipletests([one.p_value for one in mine], method="holm")[1]
    assert [one.adjusted["Holm, all pairs"] for one in mine] == pytest.approx(list(over_all), rel=1e-12)
    ranked = sorted(mine[:3], key=lambda one: one.p_value or 0.0)
    against = np.maximum.accumulate(
        [(one.p_value or 0.0) * times for one, times in zip(ranked, (3, 2, 1), strict=True)]
    )
    assert [one.adjusted["Holm, against control"] for one in ranked] == pytest.approx(against.clip(0, 1).tolist())
    assert all(set(one.adjusted) == {"Holm, all pairs"} for one in mine[3:])
    assert not effects(made(rows[:4])).comparisons[0].adjusted


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([], "no outcome is known of patients assigned new"),
        ([(0, 0, 1.0, 9)], "no outcome is known of patients assigned new"),
        ([(0, 0, 1.0, 9), (1, 1, MISSING, 9)], "no outcome is known of patients assigned new"),
    ],
)
def test_an_arm_without_outcomes_is_said(rows: list[tuple[int, int, float, int]], sentence: str) -> None:
    found = one_of(effects(made(rows)), View.INTENTION_TO_TREAT)
    assert (found.difference.value, found.difference.reason, found.p_value) == (None, sentence, None)


def test_constant_outcomes_and_single_patients_keep_honest_intervals() -> None:
    half = one_of(effects(made([(0, 0, 0.5, 30), (1, 1, 0.5, 30)])), View.INTENTION_TO_TREAT)
    assert half.difference.value == 0.0
    assert half.difference.sets[0].high > 0.2  # as sure as 15 of 30 against 15 of 30, not certain
    zero = one_of(effects(made([(0, 0, 0.0, 30), (1, 1, 0.0, 30)])), View.INTENTION_TO_TREAT)
    assert zero.ratio.reason == "the mean outcome is 0 in both groups: their ratio is not defined"
    single = one_of(effects(made([(0, 0, 0.2, 1), (1, 1, 0.7, 1), (1, 1, 0.6, 1)])), View.INTENTION_TO_TREAT)
    assert single.difference.sets[0].low < -0.5
    none = one_of(effects(made([(0, 0, 0.0, 30), (1, 1, 1.0, 3), (1, 1, 0.0, 27)])), View.INTENTION_TO_TREAT)
    assert (none.ratio.value, none.ratio.reason) == (
        None,
        "the mean outcome of the control is 0: the ratio is infinite",
    )
    assert none.ratio.sets[0].high == math.inf


def test_what_is_missing_or_assumed_is_counted_in_the_notes() -> None:
    rows = [(0, 0, 1.0, 5), (1, 1, MISSING, 2), (1, NOT_KNOWN, 0.0, 3), (1, 1, 1.0, 4)]
    found = effects(made(rows, imputed_reward=np.array([False, False, True, False])))
    assert found.notes == (
        "2 of 14 outcomes are missing; as-treated and per-protocol use the others (complete cases).",
        "What 3 of 14 patients took is not known; as-treated and per-protocol leave them out.",
        "3 outcomes were assumed by the trial's rule for missing reports.",
    )


def _quantities(found: Effects) -> Iterator[Quantity]:
    for mean in found.means:
        yield mean.mean
    for one in found.comparisons:
        yield from (one.difference, one.ratio, one.number_needed)


def _mirrored(given: ConfidenceSet) -> tuple[float, float, Shape]:
    return -given.high, -given.low, given.shape


@settings(max_examples=60, deadline=None)
@given(any_records())
def test_no_table_gives_nonsense(records: Records) -> None:
    stratum = np.arange(len(records)) % 3 - 1
    stratified = replace(records, strata=("x", "y"), stratum=stratum)
    found = effects(stratified)
    strata = principal_strata(records)
    for one in (*_quantities(found), *strata.shares.values(), *strata.means.values()):
        assert one.value is None or math.isfinite(one.value)
        assert one.reason or (one.value is not None and one.sets)
        for one_set in one.sets:
            assert one.value is None or one.value in one_set, (one.value, one_set)
    for comparison in found.comparisons:
        for p_value in (comparison.p_value, *comparison.adjusted.values()):
            assert p_value is None or 0.0 <= p_value <= 1.0
    other = effects(replace(stratified, control=records.n_arms - 1))
    opposite = {(one.view, one.control, one.treatment): one for one in other.comparisons if not one.stratified}
    took_arms = not np.isin(records.actual, (TOOK_NOTHING, TOOK_OTHER)).any()
    for comparison in found.comparisons:
        twin = opposite.get((comparison.view, comparison.treatment, comparison.control))
        if twin is not None and not comparison.stratified and (comparison.view is not View.COMPLIERS or took_arms):
            _check_opposite(comparison, twin)


def _check_opposite(one: Comparison, twin: Comparison) -> None:
    if one.difference.value is None:
        assert twin.difference.value is None
        return
    assert twin.difference.value == pytest.approx(-one.difference.value, abs=1e-9)
    for ours, theirs in zip(one.difference.sets, twin.difference.sets, strict=True):
        low, high, shape = _mirrored(ours)
        assert (theirs.low, theirs.high) == pytest.approx((low, high), rel=1e-5, abs=1e-6)
        assert theirs.shape is shape


def test_a_million_entries_take_well_under_a_second_and_two_arms_about_a_millisecond() -> None:
    rng = np.random.default_rng(0)
    n = 1_000_000
    chosen, actual = rng.integers(0, 3, n), rng.integers(-3, 3, n)
    big = Records(
        "", "", ("a", "b", "c"), chosen, actual, rng.random(n), strata=("x",), stratum=np.zeros(n, np.int64)
    )
    effects(big)
    started = time.process_time()
    effects(big)
    assert time.process_time() - started < 1.0
    cells = cells_of(of_counts(stroke_aspirin()))
    started = time.process_time()
    for _ in range(20):
        effects_from(cells)
    assert time.process_time() - started < 20 * 0.005  # a fifth of it on a quiet machine


def test_means_need_no_extra() -> None:
    code = """
from adhere.analysis.estimates import View
from adhere.analysis.fixed_sample.means import arm_means
from adhere.intervals import RewardSums
every = [RewardSums(10, 8.0, 8.0), RewardSums(6, 3.0, 1.875, binary=False)]
print([str(one.mean.sets[0]) for one in arm_means(View.INTENTION_TO_TREAT, ("old", "new"), every)])
"""
    said = run_without("scipy", "statsmodels", "polars", "pandas", code=code)
    assert said == "['[0.490, 0.943]', '[0.213, 0.787]']\n"


def test_means_are_wilsons_and_students_by_three_analysis_sets() -> None:
    records = made([(0, 0, 1.0, 8), (0, 0, 0.0, 2), (1, 0, 0.25, 3), (1, 1, 0.75, 3)])
    found = {(one.view, one.arm): one.mean for one in means_of(completed(cells_of(records)), 0.9)}
    assert found[View.INTENTION_TO_TREAT, "old"].sets[0].method == "Wilson"
    expected = stats.binomtest(8, 10).proportion_ci(0.9, method="wilson")
    ends = found[View.INTENTION_TO_TREAT, "old"].sets[0]
    assert (ends.low, ends.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    student = found[View.INTENTION_TO_TREAT, "new"]
    values = [0.25] * 3 + [0.75] * 3
    interval = stats.t.interval(0.9, 5, np.mean(values), stats.sem(values))
    assert (student.sets[0].low, student.sets[0].high) == pytest.approx(interval, abs=1e-5)
    assert found[View.AS_TREATED, "old"].n == 13
    assert found[View.PER_PROTOCOL, "new"].n == 3


def test_of_many_arms_each_is_compared_with_control_alone() -> None:
    """Of 100 arms there are 4,950 pairs: too many to compute, to read and to correct for."""
    many, few = ([(arm, arm, reward, 5) for arm in range(n) for reward in (0.0, 1.0)] for n in (13, 12))
    said = "With more than 12 arms each is compared with control alone."
    found = effects(made(many, [f"arm {arm}" for arm in range(13)], control=3))
    every = [(one.treatment, one.control) for one in found.comparisons if one.view is View.INTENTION_TO_TREAT]
    assert every == [(f"arm {arm}", "arm 3") for arm in range(13) if arm != 3]
    assert found.notes == (said,)
    found = effects(made(few, [f"arm {arm}" for arm in range(12)]))
    assert len(found.comparisons) == 4 * 66
    assert found.notes == ()
