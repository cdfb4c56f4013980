from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from adhere.analysis.analyse import analyse_records
from adhere.analysis.cells import cells_of
from adhere.analysis.estimates import Quantity, Validity, View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.two_arms import compare_groups
from adhere.analysis.missing_outcomes.latent_ignorability import latent_effect
from adhere.analysis.missing_outcomes.missing import loss_by_taken, missing
from adhere.analysis.missing_outcomes.sensitivity import COMPLETE_CASES, LATENT, Sensitivity, sensitivity
from adhere.analysis.output.effect_rows import effect_rows
from adhere.analysis.output.page import analysis_sections
from adhere.analysis.output.summary import summary
from adhere.analysis.records import NOT_KNOWN, Records
from oracle.missing_outcomes import latent_effect as oracle_effect
from oracle.missing_outcomes import value, variance

from .made_records import MISSING, Row, made
from .test_missing_at_random import LOSSES, PLAIN, covered, found_of, oracle_patients, with_strata
from .trials_with_loss import BY_KIND, BY_TAKEN, Trial


def alternative(records: Records, assumption: str, view: View = View.COMPLIERS) -> Quantity:
    found = sensitivity(cells_of(records)).alternatives
    return next(one.difference for one in found if (one.assumption, one.view) == (assumption, view))


def test_latent_ignorability_is_that_of_the_oracle() -> None:
    rows = [*PLAIN, *LOSSES]
    found, patients = alternative(made(rows), LATENT), oracle_patients(rows)
    assert found.value == pytest.approx(value(patients, oracle_effect))
    half = 1.959964 * np.sqrt(variance(patients, oracle_effect))
    assert found.sets[0].high - found.sets[0].low == pytest.approx(2 * half, rel=1e-3)


def test_latent_ignorability_is_withheld_where_the_data_say_nothing() -> None:
    few: list[Row] = [(0, 0, 1.0, 20), (0, 1, 0.0, 19), (1, 0, MISSING, 1), (1, 0, 1.0, 19), (1, 1, 0.0, 20)]
    found = latent_effect(cells_of(made(few)), 1, 0)
    assert found.value is None
    assert "assignment changed too little how many report an outcome" in found.reason
    three = latent_effect(cells_of(made([*PLAIN, (2, 2, 1.0, 5)], ("a", "b", "c"))), 1, 0)
    assert three.reason == "latent ignorability identifies the effect on compliers with two arms only"


def latent_coverage(trial: Trial, n_trials: int, seed: int) -> float:
    found = [latent_effect(cells_of(records), 1, 0) for records in trial.draw(n_trials, seed)]
    hits = [trial.compliers in one.sets[0] for one in found if one.sets]
    return sum(hits) / len(hits)


def test_latent_ignorability_covers_where_missing_at_random_does_not() -> None:
    assert latent_coverage(BY_KIND, 300, 5) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)
    assert covered(BY_KIND, 300, 5)[View.COMPLIERS, False] < 0.88


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("shares", [(0.3, 0.5, 0.2), (0.5, 0.2, 0.3)])
def test_latent_ignorability_covers_in_many_trials(n: int, shares: tuple[float, float, float]) -> None:
    trial = replace(BY_KIND, shares=(shares,), n=n)
    assert latent_coverage(trial, 2000, 11) > 0.94 - 2 * np.sqrt(0.95 * 0.05 / 2000)


def test_complete_cases_leave_out_whoever_lacks_a_report() -> None:
    rows = [*PLAIN, *LOSSES]
    known = cells_of(made([row for row in rows if row[2] == row[2]]))
    treated, controls = known.by_chosen()[1], known.by_chosen()[0]
    found = alternative(made(rows), COMPLETE_CASES, View.INTENTION_TO_TREAT)
    assert found == _approximate(compare_groups(treated, controls).difference)
    reported = made([row for row in rows if row[2] == row[2] and row[1] != NOT_KNOWN])
    expected = found_of(effects(reported), View.COMPLIERS).difference
    assert alternative(made(rows), COMPLETE_CASES).value == pytest.approx(expected.value)
    assert alternative(made(rows), COMPLETE_CASES).sets == _approximate(expected).sets[:1]


def _approximate(given: Quantity) -> Quantity:
    """An alternative covers under its own assumption, and is marked."""
    return replace(given, sets=tuple(replace(one, validity=Validity.APPROXIMATE) for one in given.sets))


@pytest.mark.parametrize("by_strata", [False, True])
def test_at_its_tipping_point_an_interval_touches_0(by_strata: bool) -> None:
    rows = [*PLAIN, (1, 0, MISSING, 200), (0, 1, MISSING, 50), (1, NOT_KNOWN, MISSING, 60)]
    records = with_strata(rows)[0] if by_strata else made(rows)
    found = found_of(effects(records), View.INTENTION_TO_TREAT, stratified=by_strata).difference
    points = [one for one in sensitivity(cells_of(records)).tipping_points if one.view is View.INTENTION_TO_TREAT]
    assert [(one.arm, one.stratified) for one in points] == [("new", by_strata), ("old", by_strata)]
    assert found.value is not None
    ends = found.sets[0].low, found.sets[0].high
    for point in points:
        at_random = _difference_if(records, point.arm, point.mean_at_random, stratified=by_strata)
        # With strata, patients without any report count for the weights once they have an outcome.
        error = 2e-3 if by_strata else 1e-9
        assert at_random == pytest.approx(found.value, abs=error)
        for tipped in point.tipping_means:
            moved = _difference_if(records, point.arm, tipped, stratified=by_strata) - found.value
            assert min(abs(end + moved) for end in ends) < error
    assert points[0].tipping_means


def _difference_if(records: Records, arm: str, mean: float, *, stratified: bool) -> float:
    """The difference if every missing outcome of an arm is this, and the other arm's are at random."""
    lost = ~records.has_reward & (records.chosen == records.arms.index(arm))
    filled = replace(records, reward=np.where(lost, mean, records.reward))
    found = found_of(effects(filled), View.INTENTION_TO_TREAT, stratified=stratified).difference.value
    assert found is not None
    return found


def test_few_missing_outcomes_have_no_tipping_point_from_0_to_1() -> None:
    rows: list[Row] = [(0, 0, 1.0, 30), (0, 0, 0.0, 170), (1, 1, 1.0, 150), (1, 1, 0.0, 50), (1, 1, MISSING, 4)]
    (point,) = (
        one for one in sensitivity(cells_of(made(rows))).tipping_points if one.view is View.INTENTION_TO_TREAT
    )
    assert (point.arm, point.n_missing, point.tipping_means, point.contains_zero) == ("new", 4, (), False)
    table = effect_rows(analyse_records(made(rows)), "new", "old")
    assert next(row.label for row in table if row.tipping is not None) == "intention-to-treat, tipping point of new"
    assert "none, 0 to 1" in summary(analyse_records(made(rows)))


def test_nothing_missing_needs_no_alternative() -> None:
    found = missing(made(PLAIN), adaptive=False)
    assert found.sensitivity == Sensitivity()
    assert found.loss is None


def test_loss_by_what_was_taken_is_tested_within_arm_and_named() -> None:
    found = loss_by_taken(cells_of(made([*PLAIN, (1, 0, MISSING, 400), (1, 1, MISSING, 50), (0, 0, MISSING, 30)])))
    assert found is not None
    tables = [[[400, 350], [50, 600]], [[30, 700], [0, 200]]]
    statistic = sum(chi2_contingency(table, correction=False).statistic for table in tables)
    assert found.p_value == pytest.approx(chi2_contingency(tables[0], correction=False).pvalue, abs=1e-6)
    assert statistic > 100
    assert found.depends
    assert found.missing_by_taken == pytest.approx({"took old": 400 / 750, "took new": 50 / 650})
    assert found.sentence.startswith(
        "Loss depends on what was taken (p <0.001): of those assigned new, outcomes are missing for 53% of those who "
        "took old, and for 8% of those who took new."
    )


def test_loss_that_does_not_depend_on_it_is_seldom_said_to() -> None:
    trial = replace(BY_TAKEN, lost=(((0.2, 0.2), (0.4, 0.4)),))
    found = [loss_by_taken(cells_of(records)) for records in trial.draw(600, 3)]
    share = np.mean([one is not None and one.depends for one in found])
    assert share < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 600)


def test_bounds_by_stratum_contain_the_interval_of_complete_data_whatever_they_are() -> None:
    rows: list[Row] = [
        *((0, 0, 1.0, 20), (0, 0, 0.0, 25), (0, 0, MISSING, 6), (1, 1, 1.0, 30), (1, 1, 0.0, 12), (1, 1, MISSING, 9)),
        *((0, 0, 1.0, 35), (0, 0, 0.0, 15), (0, 0, MISSING, 4), (1, 1, 1.0, 60), (1, 1, 0.0, 12), (1, 0, MISSING, 3)),
    ]
    stratum = np.array([0] * 6 + [1] * 6)
    records = made(rows, strata=("north", "south"), stratum=stratum)
    case = missing(records, adaptive=False).extremes[0]
    assert case.stratified
    for fill in product((0.0, 0.5, 1.0), repeat=4):
        reward = records.reward.copy()
        reward[~records.has_reward] = fill
        found = found_of(effects(replace(records, reward=reward)), View.INTENTION_TO_TREAT, stratified=True)
        assert found.difference.value is not None
        assert case.low - 1e-9 <= found.difference.value <= case.high + 1e-9
        assert case.limits.low - 1e-9 <= found.difference.sets[0].low
        assert found.difference.sets[0].high <= case.limits.high + 1e-9


def test_worst_case_bounds_contain_the_truth_however_outcomes_are_lost() -> None:
    for trial in (BY_TAKEN, BY_KIND):
        inside = []
        for records in trial.draw(100, 2):
            inside += [
                (trial.intention_to_treat if case.view is View.INTENTION_TO_TREAT else trial.compliers) in case.limits
                for case in missing(records, adaptive=False).extremes
            ]
        assert all(inside)


def test_every_assumption_is_a_row_of_the_same_table_and_loss_a_warning() -> None:
    analysis = analyse_records(made([*PLAIN, *LOSSES]))
    rows = {row.label: row for row in effect_rows(analysis, "new", "old")}
    assert list(rows)[:5] == [
        "intention-to-treat",
        "intention-to-treat, complete cases",
        "intention-to-treat, worst-case bounds",
        "intention-to-treat, tipping point of new",
        "intention-to-treat, tipping point of old",
    ]
    assert {"compliers, complete cases", "compliers, latent ignorability", "compliers, worst-case bounds"} <= {*rows}
    assert rows["intention-to-treat"].holds == "fixed-sample, if missing at random"
    assert rows["intention-to-treat, complete cases"].holds == "approximate, if lost by arm alone"
    assert any(one.startswith("Loss depends on what was taken") for one in analysis.warnings)
    assert "keep their" not in next(analysis_sections(analysis)).uncertainty
    assert "keep their 95%" in next(analysis_sections(analyse_records(made(PLAIN)))).uncertainty
    plain = analysis.to_json()["missing"]
    assert {one["assumption"] for one in plain["sensitivity"]["alternatives"]} == {COMPLETE_CASES, LATENT}
    assert plain["loss"]["depends"] is True
    assert plain["sensitivity"]["tipping_points"][0]["arm"] == "new"


def test_where_arms_were_drawn_by_stratum_only_what_is_stratified_stays() -> None:
    rows: list[Row] = [
        *((0, 0, 1.0, 80), (0, 0, 0.0, 120), (1, 1, 1.0, 20), (1, 1, 0.0, 20), (1, 0, MISSING, 10), (1, 0, 1.0, 5)),
        *((0, 0, 1.0, 20), (0, 0, 0.0, 20), (1, 1, 1.0, 120), (1, 1, 0.0, 60), (1, 0, MISSING, 20), (1, 0, 0.0, 9)),
    ]
    stratum = np.array([0] * 6 + [1] * 6)
    analysis = analyse_records(made(rows, strata=("north", "south"), stratum=stratum))
    assert analysis.mixes_strata
    found = {(one.assumption, one.view): one.difference for one in analysis.missing.sensitivity.alternatives}
    assert found[COMPLETE_CASES, View.INTENTION_TO_TREAT].value is not None
    assert found[LATENT, View.COMPLIERS].value is None
    assert "mixes strata" in found[LATENT, View.COMPLIERS].reason
    assert {one.stratified for one in analysis.missing.extremes} == {True}
    assert {one.stratified for one in analysis.missing.sensitivity.tipping_points} == {True}


def test_under_adaptive_allocation_what_is_fixed_sample_says_so() -> None:
    rng = np.random.default_rng(4)
    n = 200
    probability = np.where(np.arange(n) < 100, 0.5, 0.7)
    chosen = (rng.random(n) < probability).astype(np.int64)
    taken = np.where(rng.random(n) < 0.7, chosen, 1 - chosen)
    reward = (rng.random(n) < 0.3 + 0.3 * taken).astype(float)
    reward[(taken != chosen) & (rng.random(n) < 0.5)] = MISSING
    records = Records(
        "", "", ("old", "new"), chosen, taken, reward, probabilities=np.column_stack([1 - probability, probability])
    )
    rows = {row.label: row for row in effect_rows(analyse_records(records), "new", "old")}
    for label in ("intention-to-treat", "intention-to-treat, tipping point of new"):
        assert rows[label].holds == "fixed-sample, not adaptive"
    for label in ("intention-to-treat, complete cases", "intention-to-treat, AIPW"):
        assert rows[label].holds == "approximate, if lost by arm alone"
    assert rows["compliers, latent ignorability"].holds in ("approximate, if missing by compliance type", "–")
    assert rows["intention-to-treat, worst-case bounds"].holds == Validity.ANY_TIME.value
