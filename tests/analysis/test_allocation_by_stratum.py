"""Allocation that depends on the stratum: seen, said, and every view that mixes strata withheld with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import adhere
from adhere.analysis.adaptive.aipw import aipw
from adhere.analysis.analyse import analyse_records
from adhere.analysis.analysis import Analysis
from adhere.analysis.estimates import ConfidenceSet, View
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.stratum_balance import depend_on_stratum
from adhere.analysis.output.effect_rows import effect_rows
from adhere.analysis.output.figures import subgroups_figure
from adhere.analysis.output.tables import subgroups_table
from adhere.analysis.records import Records

from .adaptive_trial import trials_by_stratum

WITHHELD = ("withheld: mixes strata", "withheld: adapts by stratum")


def one_trial(n: int = 300, seed: int = 1, **options: object) -> Records:
    return next(iter(trials_by_stratum(1, n, seed=seed, **options)))  # type: ignore[arg-type]


def with_fixed(odds: tuple[float, float], n: int = 400, seed: int = 5, compliance: float = 0.8) -> Records:
    """New is drawn with one fixed probability in each of two strata, in which it adds 0.2 and takes away 0.2."""
    rng = np.random.default_rng(seed)
    stratum = rng.integers(2, size=n)
    pi = np.array(odds)[stratum]
    chosen = (rng.random(n) < pi).astype(np.int64)
    taken = np.where(rng.random(n) < compliance, chosen, 0)
    reward = (rng.random(n) < np.array([[0.3, 0.5], [0.7, 0.5]])[stratum, taken]).astype(np.float64)
    odd = np.stack([1 - pi, pi], axis=1)
    return Records("f", "a test", ("old", "new"), chosen, taken, reward, probabilities=odd, strata=("A", "B"),
                   stratum=stratum)  # fmt: skip


def in_blocks(n: int, size: int, n_strata: int, seed: int) -> Records:
    """Permuted blocks of half and half within each stratum, with the probabilities given the block so far."""
    rng = np.random.default_rng(seed)
    stratum, left = rng.integers(n_strata, size=n), np.zeros((n_strata, 2))
    chosen, odds = np.zeros(n, np.int64), np.zeros((n, 2))
    for t, own in enumerate(stratum):
        if not left[own].sum():
            left[own] = size / 2
        odds[t] = left[own] / left[own].sum()
        chosen[t] = rng.random() < odds[t, 1]
        left[own, chosen[t]] -= 1
    reward = (rng.random(n) < 0.5).astype(np.float64)
    names = tuple("ABCDEF"[:n_strata])
    return Records("b", "a test", ("old", "new"), chosen, chosen, reward, probabilities=odds, strata=names,
                   stratum=stratum)  # fmt: skip


def sets_shown(analysis: Analysis) -> Iterator[tuple[str, ConfidenceSet]]:
    """The sets of the effect of new against old over all patients that an analysis shows and does not mark."""
    for row in effect_rows(analysis, "new", "old"):
        if row.found is not None:
            assert row.holds not in WITHHELD
            yield row.label, row.found


@pytest.mark.parametrize("means", [((0.3, 0.5), (0.7, 0.5)), ((0.3, 0.5), (0.5, 0.7)), ((0.4, 0.4), (0.6, 0.6))])
def test_a_policy_that_learns_in_each_stratum_is_seen_whatever_the_effects(
    means: tuple[tuple[float, float], ...],
) -> None:
    found = [depend_on_stratum(one) for one in trials_by_stratum(20, 400, seed=3, means=means)]
    assert sum(found) >= 19


def test_a_pooled_policy_is_not_taken_for_one() -> None:
    found = [depend_on_stratum(one) for one in trials_by_stratum(200, 200, seed=4, pooled=True)]
    assert sum(found) <= 2  # of 200 at p < 0.001


def test_neither_are_strata_that_come_in_runs_under_a_pooled_policy() -> None:
    for records in trials_by_stratum(20, 300, seed=6, pooled=True, means=((0.3, 0.5),)):
        days = np.repeat(np.arange(60) % 3, 5)
        assert not depend_on_stratum(replace(records, strata=("A", "B", "C"), stratum=days))
        sites = np.repeat(np.arange(3), 100)
        assert not depend_on_stratum(replace(records, strata=("A", "B", "C"), stratum=sites))


@pytest.mark.parametrize(("size", "n_strata"), [(2, 2), (4, 2), (6, 2), (8, 3), (12, 2)])
def test_nor_permuted_blocks_within_strata(size: int, n_strata: int) -> None:
    assert not any(depend_on_stratum(in_blocks(300, size, n_strata, seed)) for seed in range(20))


def test_fixed_probabilities_are_compared_as_they_are() -> None:
    assert depend_on_stratum(with_fixed((0.5, 0.6), n=30))
    assert not depend_on_stratum(with_fixed((0.5, 0.5), n=30))
    assert not depend_on_stratum(replace(with_fixed((0.2, 0.8)), strata=(), stratum=None))
    assert not depend_on_stratum(replace(with_fixed((0.2, 0.8)), probabilities=None))


def test_whether_the_policy_learns_by_stratum_need_not_be_guessed_where_it_is_known() -> None:
    by_stratum, pooled = one_trial(), one_trial(pooled=True)
    assert not depend_on_stratum(replace(by_stratum, learns_by_stratum=False))
    assert depend_on_stratum(replace(pooled, learns_by_stratum=True))
    fixed = with_fixed((0.2, 0.8))  # which need no guess
    assert depend_on_stratum(replace(fixed, learns_by_stratum=False))
    trial = adhere.Trial("thompson", arms=["old", "new"], seed=1)
    trial.recommend()
    assert trial.records().learns_by_stratum is False


def test_a_policy_that_learns_in_each_stratum_is_seen_by_the_probabilities_that_are_known() -> None:
    records = one_trial()
    assert records.probabilities is not None
    known = records.probabilities.copy()
    known[[0, 77]] = np.nan  # the first of its stratum too
    analysis = analyse_records(replace(records, probabilities=known))
    assert analysis.balance is not None
    assert (analysis.adaptive, analysis.balance.by_probabilities, analysis.mixes_strata) == (True, True, True)
    assert {row.holds for row in effect_rows(analysis, "new", "old")} == set(WITHHELD)


def test_what_mixes_strata_is_withheld_where_the_policy_learns_by_stratum() -> None:
    analysis = analyse_records(one_trial())
    assert analysis.adaptive
    assert analysis.balance is not None
    assert analysis.balance.by_probabilities
    assert analysis.mixes_strata
    rows = {row.label: row for row in effect_rows(analysis, "new", "old")}
    for view in ("intention-to-treat", "compliers"):
        for method in ("confidence sequence", "AIPW"):
            row = rows[f"{view}, {method}"]
            assert row.found is not None
            assert row.holds.startswith("any-time valid" if method == "confidence sequence" else "approximate")
    withheld = {label for label, row in rows.items() if row.holds in WITHHELD}
    assert withheld == set(rows) - {
        f"{view}, {method}"
        for view in ("intention-to-treat", "compliers")
        for method in ("confidence sequence", "AIPW")
    }
    assert rows["intention-to-treat, stratified"].holds == "withheld: adapts by stratum"
    assert rows["bounds, without monotonicity"].holds == "withheld: mixes strata"
    assert "mixes strata" in analysis.bounds.inequality.sentence
    assert analysis.bounds.inequality.refuted is None
    assert not analysis.strata.shares
    assert "mixes strata" in analysis.strata.reason
    assert analysis.mediation.refuted is None
    assert "mixes strata" in analysis.mediation.sentence
    said = " ".join(analysis.verdict)
    assert "agree" not in said
    assert "Read the confidence sequences and AIPW only" in said
    assert "any-time valid" in said


def test_the_reason_stands_in_terminal_page_and_json() -> None:
    analysis = analyse_records(one_trial(compliance=0.7))
    text, page, written = analysis.summary(), analysis.to_html(), analysis.to_json()
    for shown in (text, page):
        assert "withheld: mixes strata" in shown
        assert "The probabilities of arms depend on the stratum" in " ".join(shown.split())
    assert written["balance"]["depends"] is True
    assert all("mixes strata" in one["reason"] for one in written["bounds"]["bounds"])
    assert all(one["low"] is one["high"] is one["limits"] is None for one in written["bounds"]["bounds"])
    assert all(one["difference"]["sets"] == [] for one in written["effects"]["comparisons"])
    assert all(one["difference"]["reason"] for one in written["effects"]["comparisons"])
    assert "mixes strata" in written["strata"]["reason"]
    assert written["mediation"]["arms"] == []


def test_json_has_no_fixed_sample_set_within_a_stratum_to_which_the_allocation_adapts() -> None:
    found = analyse_records(one_trial()).to_json()["subgroups"]
    assert len(found) == 2
    for group in found.values():
        for one in group["effects"]["comparisons"]:
            assert (one["difference"]["value"], one["difference"]["sets"], one["p_value"]) == (None, [], None)
            assert one["difference"]["reason"].startswith("withheld, as the allocation adapts by stratum")
        assert not any(one["mean"]["sets"] for one in group["effects"]["means"])
        assert group["sequences"]
    fixed = analyse_records(with_fixed((0.2, 0.8))).to_json()["subgroups"]
    assert all(group["effects"]["comparisons"][0]["difference"]["sets"] for group in fixed.values())


def test_fixed_but_different_keeps_what_is_stratified() -> None:
    analysis = analyse_records(with_fixed((0.2, 0.8)))
    assert not analysis.adaptive
    rows = effect_rows(analysis, "new", "old")
    kept = {row.label for row in rows if row.holds not in WITHHELD}
    assert {row.split(",")[0] for row in kept} == {"intention-to-treat", "compliers"}
    assert all("stratified" in one or "sequence" in one or "AIPW" in one for one in kept)
    assert not any("unstratified" in one for one in kept)
    said = " ".join(analysis.verdict)
    assert "agree" not in said
    assert "Read the stratified effects, the confidence sequences and AIPW only" in said
    pooled = analyse_records(with_fixed((0.5, 0.5)))
    assert not pooled.mixes_strata
    assert not any(row.holds in WITHHELD for row in effect_rows(pooled, "new", "old"))


def test_shares_that_differ_without_probabilities_count_as_such_an_allocation() -> None:
    analysis = analyse_records(replace(with_fixed((0.2, 0.8)), probabilities=None))
    assert analysis.mixes_strata
    assert analysis.balance is not None
    assert not analysis.balance.by_probabilities
    assert {row.holds for row in effect_rows(analysis, "new", "old") if "stratified" not in row.label} == {
        "withheld: mixes strata"
    }
    assert "Read the stratified effects only" in " ".join(analysis.verdict)


def uneven(n: int, seed: int, compliance: float = 0.8) -> Records:
    """Effects of taking new of 0.4 and 0, on average 0.2, where 1 in 2 and 1 in 10 are assigned new."""
    rng = np.random.default_rng(seed)
    stratum = rng.integers(2, size=n)
    pi = np.array([0.5, 0.1])[stratum]
    chosen = (rng.random(n) < pi).astype(np.int64)
    taken = np.where(rng.random(n) < compliance, chosen, 0)
    reward = (rng.random(n) < 0.3 + 0.4 * taken * (stratum == 0)).astype(np.float64)
    odds = np.stack([1 - pi, pi], axis=1)
    return Records("u", "a test", ("old", "new"), chosen, taken, reward, probabilities=odds, strata=("A", "B"),
                   stratum=stratum)  # fmt: skip


@pytest.mark.parametrize("compliance", [1.0, 0.8])
@pytest.mark.parametrize("is_binary", [True, False])
def test_strata_are_averaged_by_their_patients_where_the_allocation_depends_on_them(
    compliance: float, is_binary: bool
) -> None:
    """An evenly split stratum must not count more: by Mantel and Haenszel's weights the effect would be near 0.29."""
    records = uneven(20_000, 8, compliance)
    if not is_binary:
        records = replace(records, reward=0.25 + records.reward / 2)
    analysis = analyse_records(records)
    scale = 1.0 if is_binary else 0.5
    truth = {View.INTENTION_TO_TREAT: 0.2 * scale * compliance, View.COMPLIERS: 0.2 * scale}
    stratified = [(one.view, one.difference) for one in analysis.effects.comparisons if one.stratified]
    found = [*stratified, *((one.view, one.difference) for one in analysis.aipw)]
    assert len(found) == 4
    for view, difference in found:
        assert difference.value == pytest.approx(truth[view], abs=4 * 0.012)
        assert truth[view] in difference.sets[0]
    said = " ".join(analysis.verdict)
    assert "In them each stratum counts by its number of patients." in said
    for one in analysis.sequences:
        assert truth[one.view] in one.final
    if compliance == 1.0:  # compliers are everybody
        assert stratified[0][1].value == pytest.approx(stratified[1][1].value, abs=1e-12)


@pytest.mark.slow
def test_stratified_sets_hold_the_average_over_patients_where_the_allocation_depends_on_strata() -> None:
    missed: dict[str, int] = {}
    for seed in range(400):
        for one in effects(uneven(600, seed), by_patients=True).comparisons:
            truth = 0.16 if one.view is View.INTENTION_TO_TREAT else 0.2
            for found in one.difference.sets[:1] if one.stratified else ():
                missed[one.view.value] = missed.get(one.view.value, 0) + (truth not in found)
    assert len(missed) == 2
    assert max(missed.values()) <= 400 * 0.06 + 3 * sqrt(400 * 0.06 * 0.94)


def test_views_that_differ_are_never_said_to_agree() -> None:
    records = with_fixed((0.5, 0.5), compliance=1.0)
    assert records.stratum is not None
    fixed = replace(records, probabilities=None)
    assert "all views agree" not in " ".join(analyse_records(fixed).verdict)  # stratified and not: two numbers
    assert "all views agree" in " ".join(analyse_records(replace(fixed, strata=(), stratum=None)).verdict)
    adaptive = next(trials_by_stratum(1, 200, seed=2, pooled=True))
    assert "all views agree" not in " ".join(analyse_records(adaptive).verdict)


def excluded(n_trials: int, n: int, seed: int, **options: object) -> dict[str, int]:
    """How often each set that is shown of an effect of 0 on average leaves 0 out."""
    counts: dict[str, int] = {}
    for records in trials_by_stratum(n_trials, n, seed=seed, **options):  # type: ignore[arg-type]
        analysis = analyse_records(records)
        assert "agree" not in " ".join(analysis.verdict)
        for label, found in sets_shown(analysis):
            counts[label] = counts.get(label, 0) + (0.0 not in found)
    return counts


def test_no_set_that_is_shown_misses_an_average_of_zero() -> None:
    counts = excluded(6, 300, seed=11)
    assert len(counts) == 4
    assert max(counts.values()) <= 2  # of 6 at 5%: three or more in 1 of 450


@pytest.mark.slow
@pytest.mark.parametrize("compliance", [1.0, 0.7])
def test_no_set_that_is_shown_misses_an_average_of_zero_in_more_than_its_share(compliance: float) -> None:
    """The trials of issue 29: two strata, effects of 0.2 and -0.2, 150 trials, a policy in each stratum."""
    counts = excluded(150, 600, seed=12, compliance=compliance)
    most = 150 * 0.05 + 3 * sqrt(150 * 0.05 * 0.95)
    assert len(counts) == 4
    for label, count in counts.items():
        assert count <= most, label


def test_strata_of_an_adaptive_trial_without_sequences_are_not_called_any_time_valid() -> None:
    records = one_trial()
    analysis = analyse_records(replace(records, estimated=np.ones(len(records), dtype=np.bool_)))
    assert analysis.adaptive
    assert not analysis.sequences
    assert "No view of all patients can be read" in " ".join(analysis.verdict)
    assert not any("differs from stratum to stratum" in one for one in analysis.verdict)  # no set says so
    assert subgroups_table(analysis).caption.endswith("by stratum (withheld: adapts by stratum)")
    assert subgroups_figure(analysis) is None
    assert subgroups_table(analyse_records(records)).caption.endswith("by stratum, any-time valid")
    pooled = one_trial(pooled=True)
    analysis = analyse_records(replace(pooled, estimated=np.ones(len(pooled), dtype=np.bool_)))
    assert subgroups_table(analysis).caption.endswith("by stratum (fixed-sample, not adaptive)")
    figure = subgroups_figure(analysis)
    assert figure is not None
    assert "any-time" not in figure.caption


def test_missing_outcomes_are_compared_within_strata_alone() -> None:
    def with_loss(records: Records) -> Analysis:
        lost = np.random.default_rng(1).random(len(records)) < 0.1
        return analyse_records(replace(records, reward=np.where(lost, np.nan, records.reward)))

    for analysis in (with_loss(one_trial(compliance=0.7)), with_loss(with_fixed((0.2, 0.8)))):
        assert analysis.mixes_strata
        stratified = {
            row.holds in WITHHELD for row in effect_rows(analysis, "new", "old") if ", stratified" in row.view
        }
        assert stratified == {analysis.adaptive}
        for row in effect_rows(analysis, "new", "old"):
            if ", stratified" in row.view and analysis.adaptive:
                assert row.holds == "withheld: adapts by stratum", row.label
            elif ", stratified" not in row.view and row.method not in ("confidence sequence", "AIPW"):
                assert row.holds == "withheld: mixes strata", row.label


def test_strata_count_by_all_their_patients_where_a_third_arm_takes_more_of_one() -> None:
    """In stratum A, where new adds 0.4, 80% are assigned a third arm; in B, where it adds nothing, 10%."""
    rng = np.random.default_rng(4)
    n = 20_000
    stratum = rng.integers(2, size=n)
    odds = np.array([[0.1, 0.1, 0.8], [0.45, 0.45, 0.1]])[stratum]
    chosen = (rng.random(n)[:, None] > np.cumsum(odds, axis=1)[:, :2]).sum(axis=1)
    reward = (rng.random(n) < 0.3 + 0.4 * ((chosen == 1) & (stratum == 0))).astype(np.float64)
    records = Records("t", "a test", ("old", "new", "other"), chosen, chosen, reward, probabilities=odds,
                      strata=("A", "B"), stratum=stratum)  # fmt: skip
    lost = rng.random(n) < np.where(stratum == 0, 0.4, 0.05)
    weighted = aipw(replace(records, reward=np.where(lost, np.nan, reward)), by_stratum=True)
    for found in weighted[:2]:  # new against old, by both views
        assert 0.2 in found.difference.sets[0], found.view
    for one in effects(records, by_patients=True).comparisons:
        if one.stratified and (one.treatment, one.control) == ("new", "old"):
            assert one.difference.value == pytest.approx(0.2, abs=0.05), one.view
            assert 0.2 in one.difference.sets[0]
