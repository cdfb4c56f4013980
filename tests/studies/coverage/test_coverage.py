"""The coverage study: what is true, what is drawn, and that a broken interval is caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from adhere.analysis.estimates import ConfidenceSet, Quantity, Shape
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.records import Records
from adhere.policies import as_policy
from adhere.studies.coverage import bound_reports, fixed_trials
from adhere.studies.coverage import coverage as module
from adhere.studies.coverage.adaptive_trials import DELAY, AdaptiveTrials
from adhere.studies.coverage.batches import Batch, Counted, run_batch
from adhere.studies.coverage.bound_reports import BoundReports, true_cells
from adhere.studies.coverage.cells import ALL_POLICIES, FULL, Cell
from adhere.studies.coverage.fixed_trials import FixedTrials
from adhere.studies.coverage.judgements import judge, markdown, summary
from adhere.studies.coverage.page import Facts, study_page
from adhere.studies.coverage.people import ADAPTIVE, FIXED, People
from adhere.studies.coverage.tables import make_tables
from adhere.studies.coverage.tally import FAILS, Tally
from cli.running import check_complaint, in_this_process
from report.html_reader import Reader
from studies.sections import check_texts_are_whole

TABLES = ("intervals", "tests", "populations")
SMALL = Cell("two-sided, confounded", 400, 40)


def named(name: str, among: tuple[People, ...] = FIXED) -> People:
    (who,) = (one for one in among if one.name == name)
    return who


@pytest.mark.parametrize("who", [*FIXED, *ADAPTIVE], ids=lambda who: who.name)
def test_what_is_true_follows_from_what_is_observed(who: People) -> None:
    cells = true_cells(who).reshape(2, 2, 2)  # chosen, taken, outcome
    np.testing.assert_allclose(cells.sum(axis=(1, 2)), 1.0)
    success = cells[:, :, 1].sum(axis=1)
    np.testing.assert_allclose(who.chosen, success)
    taking = cells[:, 1].sum(axis=1)
    assert sum(who.shares.values()) == pytest.approx(1.0)
    if who.is_monotone:  # Wald's ratio is then the effect on compliers, and the shares can be observed
        assert who.complier_effect == pytest.approx((success[1] - success[0]) / (taking[1] - taking[0]))
        shares = who.shares
        assert (shares["always-takers"], shares["never-takers"]) == pytest.approx((taking[0], 1 - taking[1]))
    with np.errstate(invalid="ignore"):
        given_both = cells[:, :, 1] / cells.sum(axis=2)
    differ = np.nanmax(np.abs(given_both[0] - given_both[1]), initial=0.0) > 1e-9
    assert who.is_mediated == (not differ)


def test_the_study_has_what_the_issue_asks_for() -> None:
    fixed = [cell for cell in FULL if cell.is_fixed]
    assert all(cell.n_trials == 10_000 and cell.n_patients >= 400 for cell in fixed)
    assert {cell.people for cell in fixed if cell.n_patients == 400} == {who.name for who in FIXED}
    adaptive = [cell for cell in FULL if not cell.is_fixed and not cell.n_redraws]
    assert all(cell.n_trials == 2000 for cell in adaptive)
    assert {(cell.people, cell.policy) for cell in adaptive} == {
        (who.name, policy) for who in ADAPTIVE for policy in ALL_POLICIES
    }
    assert named("weak instrument").shares["compliers"] == pytest.approx(0.03)
    # Exact methods refuse probabilities that were estimated.
    assert not any(as_policy(policy).resolved(2, 600).estimates_probabilities for policy in ALL_POLICIES)


def test_fixed_trials_are_permuted_and_drawn_from_the_population() -> None:
    who = named("outcomes missing")
    trials = list(FixedTrials(who, 200).drawn(seed=3, chunk=0, n_trials=300))
    assert sum(times for _, times in trials) == 300
    for records, _ in trials:
        assert np.bincount(records.chosen, records.patients).tolist() == [200, 200]
    lost = sum(times * records.patients[np.isnan(records.reward)].sum() for records, times in trials) / 300
    success = who.chosen
    expected = sum(
        200 * half * (0.04 * mean + 0.1 * (1 - mean)) for mean, half in zip(success, (0.5, 1.0), strict=True)
    )
    assert lost == pytest.approx(expected, rel=0.05)
    again = list(FixedTrials(who, 200).drawn(seed=3, chunk=0, n_trials=300))
    assert [one.patients.tolist() for one, _ in again] == [one.patients.tolist() for one, _ in trials]
    four = next(iter(FixedTrials(named("four centres"), 200).drawn(0, 0, 1)))[0]
    assert four.stratum is not None
    assert np.bincount(four.stratum, four.patients).tolist() == [160, 120, 80, 40]


def test_adaptive_trials_learn_late_and_lose_some() -> None:
    who = named("confounded, effect", ADAPTIVE)
    trials = list(AdaptiveTrials(who, "thompson", 150).drawn(seed=1, chunk=0, n_trials=30))
    records = [trial.records for trial in trials]
    first = np.array([one.probabilities[: DELAY + 1] for one in records if one.probabilities is not None])
    assert (first == 0.5).all()  # nothing is known as yet
    assert 0 < np.mean([np.isnan(one.reward).mean() for one in records]) < 0.08
    assert all((np.isnan(one.reward) == (one.actual == -3)).all() for one in records)
    told = np.concatenate([one.chosen[100:] for one in records])
    assert told.mean() > 0.55  # the treatment is better
    reward = np.concatenate([one.reward for one in records])
    chosen = np.concatenate([one.chosen for one in records])
    for arm in (0, 1):
        assert np.nanmean(reward[chosen == arm]) == pytest.approx(who.chosen[arm], abs=0.05)


def small_tables(cells: tuple[Any, ...]) -> dict[str, polars.DataFrame]:
    counted = {}
    for cell in cells:
        counted[cell] = run_batch(Batch(cell, 0, 0, cell.n_trials))
    return make_tables(counted)


def test_a_broken_interval_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Halve every interval for the difference: its bar fails, and nothing else's."""

    def broken(records: Records) -> Any:
        found = effects(records)
        return replace(
            found, comparisons=tuple(replace(one, difference=halved(one.difference)) for one in found.comparisons)
        )

    def halved(given: Quantity) -> Quantity:
        def half(one: ConfidenceSet) -> ConfidenceSet:
            if one.shape is not Shape.INTERVAL:
                return one
            middle, quarter = (one.low + one.high) / 2, (one.high - one.low) / 4
            return replace(one, low=middle - quarter, high=middle + quarter)

        return replace(given, sets=tuple(map(half, given.sets)))

    cell = SMALL._replace(n_trials=60)
    sound = {one.what: one.verdict for one in judge(small_tables((cell,)))}
    monkeypatch.setattr(fixed_trials, "effects", broken)
    tables = small_tables((cell,))
    verdicts = {one.what: one.verdict for one in judge(tables)}
    assert sound["intention-to-treat: difference"] != FAILS
    failing = {what for what in verdicts if verdicts[what] == FAILS} - {
        what for what in sound if sound[what] == FAILS
    }
    assert failing == {"intention-to-treat: difference", "compliers: difference"}
    lines = summary(judge(tables), 100).splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("✗ intention-to-treat: difference") for line in lines)
    assert "✗ fails" in markdown(judge(tables))


def test_bounds_that_are_not_computed_would_have_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortcut says what solving every program says."""
    who = named("two-sided, confounded")
    trials = [records for records, _ in FixedTrials(who, 200).drawn(0, 5, 12)]

    def counted(every: int) -> Counted:
        monkeypatch.setattr(bound_reports, "_EVERY", every)
        reports, found = BoundReports(who, adaptive=False), Counted()
        for records in trials:
            found.add(reports.of(records))
        return found

    short, full = counted(1000), counted(1)
    assert list(short.intervals) == list(full.intervals)
    for interval, tally in full.intervals.items():
        assert (short.intervals[interval].n, short.intervals[interval].n_covering) == (tally.n, tally.n_covering)
        assert len(short.intervals[interval].widths) < len(tally.widths) == len(trials)
    assert short.alarms == full.alarms


def test_a_tally_counts_what_was_given() -> None:
    tally = Tally(0.5)
    for low, high in ((0.0, 1.0), (0.4, 0.8), (0.6, 0.7)):
        tally.add(ConfidenceSet(low, high, "m"))
    tally.add(ConfidenceSet(-1.0, 1.0, "m", shape=Shape.OUTSIDE), 2)
    tally.add(None)
    assert (tally.n, tally.n_covering, tally.n_unbounded, tally.median_width) == (5, 2, 2, 1.0)
    tally.add(ConfidenceSet(np.inf, -np.inf, "m", shape=Shape.EMPTY))
    assert (tally.n, tally.n_covering, tally.n_empty, min(tally.widths)) == (6, 2, 1, 0.0)
    tally.add(True, 5)
    tally.add(False)
    assert (tally.n, tally.n_covering, len(tally.widths)) == (12, 7, 5)
    other = Tally(0.5)
    other.join(tally)
    other.join(tally)
    assert (other.n, other.n_covering, other.median_width) == (24, 14, tally.median_width)


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The command on a few trials of every kind: what it prints and leaves, and what it refuses."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    null = ADAPTIVE[0].name
    cells = (
        SMALL,
        Cell("weak instrument", 400, 20),
        Cell("outcomes missing", 400, 20),
        Cell(null, 80, 6, "thompson"),
        Cell("confounded, effect", 80, 6, "thompson"),
        Cell(null, 80, 4, "thompson", 19),
    )
    monkeypatch.setattr(module, "QUICK", cells)
    shown = in_this_process(capsys, "coverage", "--quick", "--out", "here", "--processes", "1")
    assert shown.status == 0, shown.err
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert {"page:   here/index.html", "tables: here/data"} <= set(lines)
    assert any("intention-to-treat: difference" in line for line in lines)
    intervals = polars.read_parquet("here/data/intervals.parquet")
    assert intervals.equals(polars.read_csv("here/data/intervals.csv", schema=intervals.schema))
    methods = intervals.filter(polars.col("design") == "adaptive", polars.col("judged"))["method"].unique().to_list()
    assert "confidence sequence" in methods
    delta = intervals.filter(polars.col("method").str.contains("delta"))
    assert len(delta) > 0
    assert not delta["judged"].any()
    tests = polars.read_csv("here/data/tests.csv")
    assert {"randomisation test by replay", "allocation check", "mediation"} <= set(tests["test"])
    reader = Reader(Path("here/index.html").read_text())
    (lead,) = reader.texts("p", _class="lead")
    assert lead.startswith("80 fixed trials and 12 adaptive trials were drawn from populations")
    for section in study_page(
        Facts({name: polars.read_parquet(f"here/data/{name}.parquet") for name in TABLES})
    ).sections:
        check_texts_are_whole(section)
    written = Path("here/summary.md").read_text()
    assert "✓ holds" in written
    assert "| confidence sequence | ever misses in at most 5% |" in written
    assert "at the extremes | misses at the end in at most 5% |" in written  # not looked at before
    page = " ".join(reader.texts("h3"))
    assert "Bars and verdicts" in page
    assert "paper" not in page
    check_complaint(in_this_process(capsys, "coverage", "--processes", "0"), "--processes", "0")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text("mine")
    check_complaint(in_this_process(capsys, "coverage", "--out", "other"), "other")
