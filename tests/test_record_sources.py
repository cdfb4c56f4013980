"""Records from whatever has them: all ways lead to the same."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from adhere import Trial
from adhere.design.make_design import make_design
from adhere.errors import DamagedStoreError, InputError
from adhere.populations import stroke_aspirin, stroke_heparin
from adhere.record_sources import analyse, records_and_allocation, records_of
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend, RecommendationResponse, Report
from adhere.trial.log.log_file import write_log
from adhere.trial.log.table import write_table
from adhere.trial.writing.processor import CommandProcessor
from same_records import assert_same_records
from trial.live import send

ARMS = ("walk", "aspirin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two trials, and one of them as a log and as tables."""
    folder = tmp_path_factory.mktemp("trials")
    with closing(open_store(folder / "trials.db")) as store:
        processor = CommandProcessor(store)
        for name in ("t", "other"):
            design = make_design(name, "thompson", ARMS)
            processor.create(design)
        for n in range(7):
            said: dict[str, Any] = {"trial": "t", "site": ("Leeds", "York")[n % 2], "by": "1"}
            made = send(processor, Recommend(**said, request_id=f"r{n}", subject=f"s{n}"))
            assert isinstance(made, RecommendationResponse)
            about = {**said, "recommendation_id": made.recommendation_id}
            send(processor, Report(**about, request_id=f"q{n}", actual="walk", reward=float(n > 3)))
        design = make_design("t", "thompson", ARMS)
        with store.reading() as view:
            write_log(view, 1, folder / "t.log")
            write_table(view, 1, design, folder / "t.csv", "csv")
            write_table(view, 1, design, folder / "t.parquet", "parquet")
    return folder


def test_a_blinded_trial_and_a_table_without_a_log_say_so(tmp_path: Path) -> None:
    processor = CommandProcessor(open_store(tmp_path / "adhere.db"))
    processor.create(make_design("t", "uniform", ("old", "new"), blinded=True))
    processor.execute([Recommend(trial="t", request_id=f"q{n}", subject=f"S-{n}") for n in range(4)])
    processor.store.close()
    found = analyse(tmp_path / "adhere.db")
    assert len(found.head) == 64
    assert found.head[:12] in found.summary()
    assert found.warnings[0] == "This trial is blinded, and this analysis shows its arms."
    table = pl.DataFrame({"chosen": ["a", "b"] * 20, "actual": ["a", "b"] * 20, "reward": [0, 0, 0, 1] * 10})
    (test,) = analyse(table.with_columns(propensity=0.5)).randomisation
    assert test.p_value is None
    assert "it needs the log of a live trial" in test.reason
    assert analyse(table).randomisation == analyse(table.with_columns(propensity=0.5), redraws=0).randomisation == ()


def test_a_trial_has_the_same_records_wherever_it_is(folder: Path) -> None:
    records = records_of(folder / "trials.db", trial="t")
    assert (len(records), records.name) == (7, "t")
    assert records.source == f"trial t in {folder}/trials.db"
    frame = pl.read_parquet(folder / "t.parquet")
    for given in (folder / "t.log", str(folder / "t.csv"), folder / "t.parquet", frame, records):
        assert_same_records(records_of(given), records)
    assert records_of(folder / "t.log", control="aspirin").control == 1
    assert records_of(records, control="aspirin").control == 1
    by_site = records_of(folder / "t.log", stratum="site")
    assert by_site.strata == ("Leeds", "York")
    assert_same_records(by_site, records_of(folder / "t.csv", stratum="SITEID"))


def test_a_trial_in_memory(tmp_path: Path) -> None:
    trial = Trial("thompson", ARMS, seed=3)
    ids = [trial.recommend().id for _ in range(5)]
    trial.report(ids[3], reward=1)
    trial.report(ids[0], actual="walk")
    trial.report(ids[3], took_nothing=True)
    trial.save(tmp_path / "saved")
    assert_same_records(records_of(trial), records_of(tmp_path / "saved"))
    for given in (trial, tmp_path / "saved"):
        read = records_and_allocation(given, control="aspirin")
        assert read.records.control == 1
        assert read.allocation is not None
        assert read.allocation.chosen.tolist() == read.records.chosen.tolist()
    assert records_and_allocation(read.records).allocation is None


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ("trials.db", {}, "several trials here; choose one with trial=… (--trial): "),
        ("trials.db", {"trial": "tt"}, "got 'tt', expected one of "),
        ("t.log", {"chosen": "arm"}, "chosen: got 'arm', expected a table: only there columns can be named"),
        ("t.csv", {"trial": "t"}, "trial: got 't', expected a file of trials or postgresql://…"),
        ("gone.csv", {}, "gone.csv does not exist"),
        ("", {}, "is a folder: give the name of a file in it"),
    ],
)
def test_what_cannot_be_read(folder: Path, given: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        records_of(folder / given, **options)
    assert message in str(caught.value)


def test_neither_anything_else_nor_a_broken_log(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^records: got 'list', expected a table \(\.csv"):
        records_of([1, 2])
    cut = tmp_path / "cut.log"
    cut.write_bytes(b"".join((folder / "t.log").read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(DamagedStoreError, match="the end of the log does not match its last line"):
        records_of(cut)


def test_the_trials_whose_counts_come_with_adhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = records_of(" Stroke-Aspirin")
    assert (records.name, records.n_patients, records.arms[records.control]) == ("stroke-aspirin", 19_422, "none")
    assert "doi 10.7488/ds/104" in records.source
    rows = [(row.chosen, row.actual, row.reward, row.patients) for row in stroke_aspirin().counts]
    table = pl.DataFrame(rows, ["chosen", "actual", "reward", "count"], orient="row")
    assert analyse(table).effects.comparisons == analyse("stroke-aspirin").effects.comparisons
    assert analyse(stroke_heparin()).arms == ("none", "low", "medium")
    with pytest.raises(InputError, match="defiers has no records: it is simulated; expected a file of records, or"):
        records_of("defiers")
    with pytest.raises(InputError, match="chosen: got 'arm', expected a table"):
        records_of("stroke-aspirin", chosen="arm")
    table.write_csv("stroke-aspirin")  # a file of that name comes first
    assert records_of("stroke-aspirin").source == "stroke-aspirin"


def test_probabilities_that_are_fixed_in_each_stratum_are_not_adaptive() -> None:
    chosen = (["new"] * 40 + ["old"] * 10) * 2 + (["new"] * 10 + ["old"] * 40) * 2
    table = pl.DataFrame({
        "chosen": chosen, "actual": chosen, "reward": [0, 1] * 100, "stratum": ["a"] * 100 + ["b"] * 100,
        "propensity_new": [0.8] * 100 + [0.2] * 100, "propensity_old": [0.2] * 100 + [0.8] * 100,
    })  # fmt: skip
    found = analyse(table)
    assert not found.adaptive
    assert found.balance is not None
    assert found.balance.differ
    assert analyse(table.drop("stratum")).adaptive
