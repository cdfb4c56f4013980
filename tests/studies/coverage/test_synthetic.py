"""The synthetic trials: what is true of them is drawn, and sets that miss and sentences that are wrong are caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest

from adhere.analysis.analysis import Analysis
from adhere.analysis.estimates import ConfidenceSet
from adhere.intervals import wilson
from adhere.record_sources import analyse
from adhere.studies.coverage.synthetic import study
from adhere.studies.coverage.synthetic.claims import UNKNOWN_SENTENCE, claims
from adhere.studies.coverage.synthetic.study import LEAST, ClaimTally, TrialCount, count_trial, draw_table
from adhere.studies.coverage.synthetic.trials import TRIALS, Trial
from cli.running import check_complaint, in_this_process

LARGE = {trial.name: replace(trial, n_patients=20_000) for trial in TRIALS}


def named(beginning: str, n_patients: int) -> Trial:
    (found,) = (one for one in TRIALS if one.name.startswith(beginning) and one.n_patients == n_patients)
    return found


@pytest.mark.parametrize("trial", LARGE.values(), ids=LARGE)
def test_tables_are_drawn_from_what_is_true(trial: Trial) -> None:
    assert sum(kind.share for kind in trial.kinds) == pytest.approx(1.0)
    table = draw_table(trial, 1, 0)
    for arm, name in enumerate(trial.arms):
        own = table.filter(polars.col("chosen") == name)
        error = 0.5 / np.sqrt(len(own))
        if not trial.allocates_by_stratum and not trial.drift and not trial.has_missing:
            mean = own["reward"].mean()
            assert isinstance(mean, float)
            assert abs(mean - trial.mean_assigned(arm)) < 5 * error
        if not trial.allocation.learns:
            share = float(np.mean(own["actual"].to_numpy() == name))
            assert abs(share - trial.share_taking(arm, arm)) < 5 * error
    if trial.logged:
        probabilities = table.select(f"propensity_{name}" for name in trial.arms).to_numpy()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        drawn = np.array([table["chosen"] == name for name in trial.arms]).T
        off = (drawn - probabilities).sum(axis=0)
        assert np.all(np.abs(off) < 5 * np.sqrt((probabilities * (1 - probabilities)).sum(axis=0)) + 1)


def test_the_truth_of_a_trial_follows_from_its_kinds() -> None:
    defiers = named("10% defiers", 1000)
    assert defiers.has_defiers
    assert not any(trial.has_defiers for trial in TRIALS if "defiers" not in trial.name)
    assert defiers.mean_assigned(1) - defiers.mean_assigned(0) == pytest.approx(0.6 * 0.2 - 0.1 * 0.6)
    assert defiers.complier_mean(1, 0, 1) == pytest.approx(0.6)
    drifting = named("drift", 1000)
    assert drifting.is_mediated
    assert not defiers.is_mediated
    cancelling = named("Thompson by stratum, effects", 1000)
    assert cancelling.mean_assigned(1) == pytest.approx(cancelling.mean_assigned(0))
    assert cancelling.differs_by_stratum(1, 0)
    assert cancelling.allocates_by_stratum
    assert not drifting.allocates_by_stratum


def test_the_same_seed_gives_the_same_table() -> None:
    trial = named("Thompson, all", 120)
    assert draw_table(trial, 3, 7).equals(draw_table(trial, 3, 7))
    assert not draw_table(trial, 3, 7).equals(draw_table(trial, 3, 8))
    assert not draw_table(trial, 3, 7).equals(draw_table(trial, 4, 7))


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.title)
def test_every_sentence_that_is_printed_has_a_kind(trial: Trial) -> None:
    counted = count_trial(trial, range(1), seed=5)
    assert not [name for name in counted.claims if name.startswith(UNKNOWN_SENTENCE)]
    assert counted.sets


def test_sets_that_miss_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(one: ConfidenceSet) -> ConfidenceSet:
        middle = (one.low + one.high) / 2
        return replace(one, low=middle - (middle - one.low) / 5, high=middle + (one.high - middle) / 5)

    def narrowed(table: polars.DataFrame) -> Analysis:
        found = analyse(table)
        return replace(
            found,
            effects=replace(
                found.effects,
                comparisons=tuple(
                    replace(one, difference=replace(one.difference, sets=tuple(map(narrow, one.difference.sets))))
                    for one in found.effects.comparisons
                ),
            ),
        )

    trial = named("one-sided", 120)
    assert not count_trial(trial, range(12)).below(0.6)
    monkeypatch.setattr(study, "analyse", narrowed)
    missed = {kind.row for kind in count_trial(trial, range(12)).below(0.6)}
    assert {"intention-to-treat, stratified", "intention-to-treat, unstratified"} <= missed


def test_wrong_sentences_are_caught() -> None:
    trial = named("one-sided", 120)
    found = analyse(draw_table(trial, 0, 0))
    wrong = {
        "Everybody took the arm they were assigned: all views agree, and so on.": "all views agree",
        "Read the stratified effects only: the allocation depends on the stratum.": "the allocation depends",
        "Intention-to-treat is the view to trust. Here: new against control +0.500 [0.400, 0.600].": "intention-to",
        "For the effect if everybody took an arm: new against control from -0.5 to -0.4 (with sampling error "
        "[-0.600, -0.300]).": "bounds",
        "Trust me.": UNKNOWN_SENTENCE,
    }
    for sentence, kind in wrong.items():
        said = [one for one in claims(replace(found, verdict=(sentence,)), trial) if one.kind.startswith(kind)]
        assert [one.wrong for one in said] == [True], sentence
    right = "Intention-to-treat is the view to trust. Here: new against control +0.050 [-0.100, 0.200]."
    (fine,) = (one for one in claims(replace(found, verdict=(right,)), trial) if one.kind.startswith("intention"))
    assert not fine.wrong


def test_a_sentence_may_be_wrong_as_often_as_its_level_and_chance_allow() -> None:
    assert not ClaimTally(0.05, 200, 14).fails(200)
    assert ClaimTally(0.05, 200, 30).fails(200)
    assert ClaimTally(0.0, 1, 1).fails(200)


def test_sets_without_an_estimate_and_broken_assumptions_are_not_judged() -> None:
    counted = count_trial(named("10% defiers", 1000), range(2))
    broken = [kind for kind in counted.sets if kind.broken]
    assert {"no defiers"} == {kind.broken for kind in broken}
    assert all(kind.row.startswith(("compliers", "principal", "bounds, with mono")) for kind in broken)
    assert not any(kind.is_judged for kind in broken)
    assert not any(kind.is_judged for kind in counted.sets if kind.row in ("as-treated", "per-protocol"))


def test_the_command_prints_and_writes_every_set_and_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trials = (named("one-sided", 120), named("Thompson, all", 120))
    monkeypatch.setattr(study, "TRIALS", trials)
    monkeypatch.setattr(study, "AGAIN", 2)
    monkeypatch.chdir(tmp_path)
    done = in_this_process(capsys, "coverage", "--synthetic", "--replications", "3", "--out", "here")
    assert done.status == 0
    for trial in trials:
        assert trial.name.split(",")[0].split()[0] in done.out
    assert "kinds of sets marked 95% cover at least 90%" in " ".join(done.out.split())
    text = (tmp_path / "here" / "synthetic.txt").read_text(encoding="utf-8")
    assert "assigning new, not control: difference" in text
    assert "intention-to-treat: the interval printed" in text
    sets = polars.read_csv(tmp_path / "here" / "data" / "synthetic-sets.csv")
    assert {"estimand", "truth", "set", "marked", "covers", "low", "high", "fails"} <= set(sets.columns)
    assert set(sets["trial"]) == {trial.name for trial in trials}
    refused = in_this_process(capsys, "coverage", "--synthetic", "--replications", "0")
    check_complaint(refused, "--replications", "0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beginning", "n_patients"),
    [("fixed allocation that differs by stratum", 120), ("Thompson by stratum, an effect", 2000), ("drift", 300),
     ("outcomes missing by what was taken", 1000), ("Thompson, all", 120)],
)  # fmt: skip
def test_sets_marked_95_hold_and_no_sentence_is_wrong(beginning: str, n_patients: int) -> None:
    """Sixty tables: a set fails where chance explains less than 1 in 10,000 of what it misses at 90%."""
    trial = next(one for one in TRIALS if one.name.startswith(beginning) and one.n_patients == n_patients)
    counted: TrialCount = count_trial(trial, range(60))
    for kind in counted.below(LEAST):
        tally = counted.sets[kind]
        assert wilson(tally.n_covering, tally.n, 0.9998)[1] >= LEAST, kind
    assert not counted.wrong_claims
