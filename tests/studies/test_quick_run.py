"""`adhere reproduce --quick`, whole: a real process, real files, the report in a real browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from adhere.studies.catalogue import STUDIES
from adhere.studies.framework.reproduce import reproduce
from golden.digests import differences, read_golden
from golden.reproduction import data_files
from report.browser import inspect_page
from report.html_reader import Reader
from studies.sections import check_names, check_result

PHONE, LAPTOP = 390, 1280
MAX_REPORT = 8 * 2**20
QUICK = ("stroke-data", "propositions")  # studies that compile in seconds


def test_data_of_two_studies_are_what_they_were(tmp_path: Path) -> None:
    done = reproduce(tmp_path, [STUDIES[name] for name in QUICK], quick=True)
    golden = {name: digest for name, digest in read_golden("reproduction").items() if name.startswith(QUICK)}
    assert golden
    assert list(differences(data_files(tmp_path / "data"), golden)) == []
    assert [section.name for section in done.sections] == list(QUICK)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A finished quick run: its folder, and what it printed."""
    out = tmp_path_factory.mktemp("quick") / "report"
    command = [sys.executable, "-m", "adhere", "reproduce", "--quick", "--verbose", "--out", str(out)]
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


@pytest.mark.slow
def test_every_study_leaves_data_and_figures(report: tuple[Path, str]) -> None:
    out, _ = report
    assert (out / "index.html").stat().st_size <= MAX_REPORT
    assert {path.name for path in (out / "data").iterdir()} == set(STUDIES)
    for name in STUDIES:
        tables = {path.stem for path in (out / "data" / name).glob("*.parquet")}
        assert tables
        assert tables == {path.stem for path in (out / "data" / name).glob("*.csv")}
    figures = {path.stem for path in (out / "figures").glob("*.png")}
    assert len(figures) >= 15
    assert figures == {path.stem for path in (out / "figures").glob("*.svg")}
    assert not (out / ".unfinished").exists()


@pytest.mark.slow
def test_data_are_what_they_were(report: tuple[Path, str]) -> None:
    assert list(differences(data_files(report[0] / "data"), read_golden("reproduction"))) == []


@pytest.mark.slow
def test_terminal_shows_the_claims_and_where_the_report_is(report: tuple[Path, str]) -> None:
    out, printed = report
    for study in STUDIES.values():
        assert study.title in printed
    assert re.search(r"7\.9 \[7\.2, 8\.7\]", printed)
    assert str(out / "index.html") in printed
    assert re.search(r"25 claims of the paper: .*; 7\s+findings\s+of\s+our\s+own", printed)
    assert max(map(len, printed.splitlines())) <= max(100, len(str(out / "index.html")) + 10)


@pytest.mark.slow
@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_page_opens_in_a_browser_without_fault(report: tuple[Path, str], width: int) -> None:
    """No console error, no network request, every figure visible, nothing wider than the window."""
    facts = inspect_page(report[0] / "index.html", width)
    assert facts.faults() == []
    assert len(facts.figures) == len(list((report[0] / "figures").glob("*.svg")))
    if width == LAPTOP:
        assert facts.scrolling == ()  # every table fits


@pytest.mark.slow
def test_page_says_what_was_found_in_words_that_can_be_read(report: tuple[Path, str]) -> None:
    reader = Reader((report[0] / "index.html").read_text(encoding="utf-8"))
    results = reader.texts("p", _class="result")
    assert len(results) == len(STUDIES)
    for result in results:
        check_result(result)
    assert reader.texts("h3").count("Question") == reader.texts("h3").count("Uncertainty") == len(STUDIES)
    for text in reader.texts("p"):
        check_names(text)
    assert len(reader.texts("figure", _class="headline")) == 3
    for said in ("agrees, inside", "differs from 0", "above 0 of", "nothing to choose", "are judged", "by it"):
        assert said not in reader.texts("body")[0]
