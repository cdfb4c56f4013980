"""Shares assigned that differ between strata: seen, said, and every view but the stratified ones set aside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from adhere.analysis.analyse import analyse_records
from adhere.analysis.estimates import View
from adhere.analysis.fixed_sample.stratum_balance import stratum_balance
from adhere.analysis.output.effect_rows import effect_rows
from adhere.analysis.output.tables import pairs_table, ratios_table
from adhere.analysis.records import NOT_KNOWN, Records

from .made_records import Row, made


def unbalanced(taken: float = 1.0, shares: tuple[float, float] = (0.8, 0.2), n: int = 1000) -> Records:
    """Stratum A fares badly and is mostly assigned new, which adds 0.1 to the mean of those who take it."""
    rows: list[Row] = []
    stratum: list[int] = []
    for number, (share, mean) in enumerate(zip(shares, (0.2, 0.6), strict=True)):
        for arm, patients in ((1, round(share * n)), (0, n - round(share * n))):
            takers = round(taken * patients) if arm else 0
            for actual, group in ((1, takers), (0, patients - takers)):
                good = round(group * (mean + 0.1 * actual))
                rows += [(arm, actual, 1.0, good), (arm, actual, 0.0, group - good)]
                stratum += [number] * 2
    return made(rows, strata=("A", "B"), stratum=np.array(stratum))


def test_shares_that_differ_are_found_by_the_chi_square_test() -> None:
    found = stratum_balance(unbalanced(), adaptive=False)
    assert found is not None
    assert found.differ
    theirs = chi2_contingency([[200, 800], [800, 200]], correction=False)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-8)
    assert found.sentence.startswith(
        "The shares assigned differ between strata by more than chance explains: new was assigned to 20.0% of "
        "stratum B, but to 80.0% of stratum A (p <0.001)."
    )
    assert found.sentence.endswith("they are withheld. What is left are the stratified effects.")


@pytest.mark.parametrize(
    ("shares", "n"),
    [
        ((0.5, 0.5), 1000),
        ((0.55, 0.45), 60),  # by chance
        ((0.52, 0.48), 100_000),  # not by chance, but too little to matter
    ],
)
def test_shares_that_do_not_differ_much_or_surely(shares: tuple[float, float], n: int) -> None:
    found = stratum_balance(unbalanced(shares=shares, n=n), adaptive=False)
    assert found is not None
    assert not found.differ
    assert "do not differ between strata" in found.sentence
    table = [[round(share * n), n - round(share * n)] for share in shares]
    assert found.p_value == pytest.approx(chi2_contingency(table, correction=False).pvalue, rel=1e-8, abs=1e-300)


def test_what_has_no_balance() -> None:
    records = unbalanced()
    assert stratum_balance(replace(records, strata=(), stratum=None), adaptive=False) is None
    assert records.stratum is not None
    assert stratum_balance(records.where(records.stratum == 0), adaptive=False) is None
    assert stratum_balance(records.where(records.chosen == 0), adaptive=False) is None
    assert stratum_balance(made([], strata=("A",), stratum=np.zeros(0, np.int64)), adaptive=False) is None


def test_tiny_strata_are_not_the_ones_named() -> None:
    records = unbalanced()
    assert records.stratum is not None
    rows = [(int(c), int(c), 1.0, 1) for c in (0, 1)]
    more = made(rows)
    both = replace(
        records,
        chosen=np.concatenate([records.chosen, more.chosen]),
        actual=np.concatenate([records.actual, more.actual]),
        reward=np.concatenate([records.reward, more.reward]),
        count=np.concatenate([records.patients, more.patients]),
        strata=("A", "B", "C", "D"),
        stratum=np.concatenate([records.stratum, np.array([2, 3])]),
    )
    found = stratum_balance(both, adaptive=False)
    assert found is not None
    assert "20.0% of stratum B, but to 80.0% of stratum A" in found.sentence


def test_perfect_compliance_reads_the_stratified_effect_and_no_view_is_said_to_agree() -> None:
    analysis = analyse_records(unbalanced())
    said = " ".join(analysis.verdict)
    assert "new against old +0.100" in said
    assert ", stratified." in said
    assert "agree" not in said
    assert "Everybody took the arm they were assigned, so the stratified effect of being assigned an arm is" in said
    assert "Read the stratified effects only" in said
    assert analysis.balance is not None
    assert analysis.balance.sentence in analysis.warnings
    assert analysis.to_json()["balance"]["differ"] is True
    equal = analyse_records(unbalanced(shares=(0.5, 0.5)))
    assert "all views agree" in " ".join(equal.verdict)
    assert not any("differ between strata" in one for one in equal.warnings)
    assert "mixes strata" not in equal.summary()
    assert pairs_table(equal, [("new", "old")]).caption.startswith("Intention-to-treat, stratified, pair by pair")


def test_non_compliance_reads_the_stratified_compliers_and_neither_bounds_nor_what_was_taken() -> None:
    analysis = analyse_records(unbalanced(0.5))
    said = " ".join(analysis.verdict)
    values = {(one.view, one.stratified): one.difference.value for one in analysis.effects.comparisons}
    assert values[View.COMPLIERS, True] == pytest.approx(0.1, abs=1e-9)
    assert values[View.COMPLIERS, False] is None
    assert "new against old +0.100" in said
    assert "-0.3" not in said
    assert "For the effect if everybody took an arm" not in said
    assert "as-treated (" not in said
    assert "all other views, which mix strata, are withheld" in said
    rows = effect_rows(analysis, "new", "old")
    assert [row.label for row in rows[:3]] == [
        "intention-to-treat, stratified",
        "intention-to-treat, unstratified",
        "compliers, stratified, Fieller, Anderson–Rubin",
    ]
    for row in rows:
        assert (row.holds == "withheld: mixes strata") == (", stratified" not in row.label), row.label
    views = [row[0] for row in ratios_table(analysis, [("new", "old")]).rows]
    assert views == ["intention-to-treat, stratified", "compliers, stratified"]
    assert not any("refute" in one for one in (*analysis.warnings, *analysis.verdict))  # that test mixes strata too


def test_what_was_taken_is_not_known_of_anybody() -> None:
    records = unbalanced()
    unknown = replace(records, actual=np.full(len(records), NOT_KNOWN))
    said = " ".join(analyse_records(unknown).verdict)
    assert "intention-to-treat is the only view there is" in said
    assert "Read the stratified effects only" in said


def test_shares_that_may_differ_make_what_mixes_strata_approximate() -> None:
    """120 patients, half of one stratum and 80% of another to be treated: p < 0.001 in hardly half of trials."""
    stratum = np.repeat([0, 1], [70, 50])
    chosen = np.concatenate([np.arange(70) % 2, (np.arange(50) % 10 >= 3)]).astype(np.int64)
    reward = (np.arange(120) % 3 == 0) * 1.0
    taken = np.where(np.arange(120) % 4 == 0, 0, chosen)
    records = Records("t", "", ("old", "new"), chosen, taken, reward, strata=("A", "B"), stratum=stratum)
    analysis = analyse_records(records)
    assert analysis.balance is not None
    assert (analysis.balance.depends, analysis.balance.doubtful) == (False, True)
    assert any(one.startswith("The shares assigned may differ between strata") for one in analysis.warnings)
    rows = {row.label: row.holds for row in effect_rows(analysis, "new", "old")}
    assert rows["intention-to-treat, stratified"] == "fixed-sample"
    assert rows["intention-to-treat, unstratified"] == "approximate"
    assert rows["bounds, without monotonicity"] == "approximate"
    (bounds,) = (one for one in analysis.verdict if one.startswith("For the effect if everybody took an arm"))
    assert bounds.endswith("], approximate).")
    assert any("every view that is not stratified is approximate" in one for one in analysis.verdict)
    even = np.full((120, 2), 0.5)  # logged probabilities say that it is chance
    logged = analyse_records(replace(records, probabilities=even))
    assert {row.label: row.holds for row in effect_rows(logged, "new", "old")}[
        "intention-to-treat, unstratified"
    ] == "fixed-sample"


def test_the_verdict_says_where_it_quotes_an_effect_that_is_not_stratified() -> None:
    """One patient of each arm, in a stratum each: the stratified effect cannot be estimated."""
    both = np.array([0, 1])
    records = Records("t", "", ("old", "new"), both, both, both * 1.0, strata=("A", "B"), stratum=both)
    said = analyse_records(records).verdict[0]
    assert "Here: new against old +1.000" in said
    assert said.endswith(", unstratified.")
