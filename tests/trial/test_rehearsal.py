"""A rehearsal says in every export, and in whatever is made of one, that it is no trial."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import adhere
from adhere.analysis.reading.from_table import read_records
from adhere.cli.main import main
from adhere.design.make_design import make_design
from adhere.populations.records import read_records as read_patients
from adhere.trial.log.log_file import write_log
from adhere.trial.log.records import trial_records
from adhere.trial.log.table import write_table
from adhere.trial.monitoring.results import results_of
from same_records import assert_same_records

from .live import ARMS, Live

SENTENCE = "Rehearsal: not data of a trial."


@pytest.fixture(scope="module")
def live() -> Live:
    """A rehearsal with patients."""
    live = Live("thompson", rehearsal=True)
    for number in range(40):
        made = live.recommend(f"s{number}")
        live.report(number, actual=made.arm, reward=float(number % 2))
    return live


@pytest.fixture(scope="module")
def exports(live: Live, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every export of it."""
    folder = tmp_path_factory.mktemp("rehearsal")
    with live.store.reading() as view:
        for form in ("csv", "parquet"):
            write_table(view, 1, live.design, folder / f"t.{form}", form)
        write_log(view, 1, folder / "t.log")
    return {form: folder / f"t.{form}" for form in ("csv", "parquet", "log")}


def test_a_design_that_is_none_keeps_its_digest_and_a_rehearsal_has_another() -> None:
    # The digest is that of the time before there were rehearsals.
    plain, rehearsal = (make_design("t", "thompson", ARMS, rehearsal=is_one) for is_one in (False, True))
    assert plain.digest == "7c48900c40b863fb85b646fbca82088eda4a207cf5e05b32ab31bdbab5020961"
    assert rehearsal.digest != plain.digest


@pytest.mark.parametrize("form", ["csv", "parquet", "log"])
def test_an_analysis_of_any_export_says_so_on_top(exports: dict[str, Path], form: str) -> None:
    analysis = adhere.analyse(exports[form])
    assert analysis.summary().startswith("t (rehearsal): 40 patients")
    assert analysis.warnings[0] == SENTENCE
    found = analysis.to_json()
    assert (found["rehearsal"], found["warnings"][0]) == (True, SENTENCE)


def test_the_page_of_an_analysis_says_so(exports: dict[str, Path]) -> None:
    page = adhere.analyse(exports["csv"]).to_html()
    assert "t (rehearsal): what the records say" in page
    assert SENTENCE in page


def test_every_row_of_a_table_says_so(live: Live, exports: dict[str, Path]) -> None:
    assert pl.read_csv(exports["csv"])["REHEARSAL"].to_list() == ["Y"] * 40
    with live.store.reading() as view:
        records = trial_records(view, 1, live.design)
        assert results_of(view, 1, live.design, live.engine()).rehearsal
    assert_same_records(read_records(exports["parquet"]), records)


def test_commands_say_so(exports: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*words: str) -> str:
        assert main(words) == 0
        return capsys.readouterr().out

    assert told("trial", "list", str(exports["log"])).startswith("t (rehearsal): open, ")
    assert told("trial", "results", str(exports["log"])).startswith(SENTENCE)
    assert told("trial", "looks", str(exports["log"])).startswith(SENTENCE)
    into = str(tmp_path / "into.db")
    told("trial", "import", str(exports["csv"]), "--into", into, "--name", "again", "--policy", "thompson")
    assert told("trial", "list", into).startswith("again (rehearsal): ")
    assert "these are records of a rehearsal" in read_patients(exports["csv"]).note()
