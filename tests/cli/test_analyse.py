"""`adhere analyse`: a table or a log in; a summary, a page and JSON out; nothing written when it is refused."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from adhere import Trial
from adhere.cli.options import counting
from blocked import run_without
from report.html_reader import Reader

from .running import check_complaint, in_this_process

COUNTS = """chosen,actual,reward,count,ward
none,none,1,450,a
none,none,0,350,b
none,walk,1,30,a
none,walk,0,70,b
walk,walk,1,500,b
walk,walk,0,200,a
walk,none,1,80,b
walk,none,0,120,a
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "trial.csv").write_text(COUNTS)
    return tmp_path / "trial.csv"


def test_a_table_becomes_a_summary_a_page_and_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("analyse", "trial.csv", "--html", "trial.html", "--json", "trial.json", "--stratum", "ward")
    done = in_this_process(capsys, *arguments)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("trial: 1,800 patients; none (control), walk; probabilities of arms not given; data ")
    assert max(map(len, done.out.split("\n"))) <= 100
    assert not re.search(r"\b(nan|inf)\b", done.out, re.IGNORECASE)
    assert "walk against none: difference in mean outcome" in done.out
    assert "Subgroups: intention-to-treat by stratum" in done.out
    said = json.loads(Path("trial.json").read_text())
    assert (said["schema"], said["n_patients"], said["control"], said["level"]) == (
        "adhere-analysis",
        1800,
        "none",
        0.95,
    )
    assert {one["view"] for one in said["effects"]["comparisons"]} >= {
        "intention-to-treat",
        "compliers",
        "as-treated",
    }
    page = Path("trial.html").read_text()
    assert said["digest"] in page
    assert said["digest"].rpartition(":")[2][:12] in done.out
    assert Reader(page).texts("h2")[0] == "In words"
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page)


def test_json_goes_to_standard_output_and_is_the_same_each_time(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("analyse", "trial.csv", "--control", "walk", "--level", "0.9", "--margin", "0.1", "--json", "-")
    first, second = (in_this_process(capsys, *arguments) for _ in range(2))
    assert first == second
    said = json.loads(first.out)
    assert (said["control"], said["level"], said["mediation"]["margin"]) == ("walk", 0.9, 0.1)
    assert [*table.parent.iterdir()] == [table]


def test_lines_are_no_wider_than_the_terminal(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, in_this_process(capsys, "analyse", "trial.csv").out.split("\n"))) <= 80


def test_a_log_has_sets_that_hold_for_adaptive_allocation(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trial = Trial("thompson", arms=["none", "walk"], seed=3)
    for number in range(60):
        given = trial.recommend()
        trial.report(given.id, actual="walk" if number % 5 == 0 else given.arm, reward=number % 3 == 0)
    trial.save("walk.log")
    done = in_this_process(capsys, "analyse", "walk.log", "--redraws", "0")
    assert (done.status, done.err) == (0, "")
    assert "adaptive allocation" in done.out
    assert "any-time valid" in done.out
    assert "Allocation check" in done.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere.csv",), "nowhere.csv"),
        (("trial.csv", "--chosen", "arm"), "arm"),
        (("trial.csv", "--control", "run"), "--control: got 'run'"),
        (("trial.csv", "--level", "95"), "--level: got 95"),
        (("trial.csv", "--level", "high"), "--level: got 'high', expected a number"),
        (("trial.csv", "--margin", "0"), "--margin: got 0"),
        (("trial.csv", "--redraws", "-1"), "--redraws: got -1"),
        (("trial.csv", "--trial", "x"), "--trial: got 'x'"),
        (("trial.csv", "--import", "nowhere.py"), "nowhere.py"),
        (("trial.csv", "--html", "nowhere/x.html"), "--html: nowhere/x.html cannot be written"),
        (("trial.csv", "--json", "nowhere/x.json"), "--json: nowhere/x.json cannot be written"),
        (("trial.csv", "--json", "trial.csv"), "another file than the data"),
        (("trial.csv", "--json", "x", "--html", "x"), "another file than --json"),
        (("bad.csv", "--json", "x.json", "--html", "x.html"), "line 3"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_written(
    table: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    (table.parent / "bad.csv").write_text("chosen,actual,reward\na,a,1\nb,b,often\n")
    before = {path: path.read_bytes() for path in table.parent.iterdir()}
    check_complaint(in_this_process(capsys, "analyse", *arguments), says)
    assert {path: path.read_bytes() for path in table.parent.iterdir()} == before


def test_a_terminal_sees_how_far_the_redraws_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with counting(lambda n: f"{n:,} of 2,000 redraws") as on_progress:
        for n in (900, 300):
            on_progress(n)
    assert "1,200 of 2,000 redraws" in capsys.readouterr().err


def test_a_missing_extra_is_named_before_any_work(table: Path) -> None:
    script = "from adhere.cli.main import main\nimport sys\nsys.stderr = sys.stdout\n"
    said = run_without("scipy", code=script + f"main(['analyse', {os.fspath(table)!r}])")
    assert said.startswith("error: adhere analyse needs the analysis extra: pip install 'adhere[analysis]' (in a ")
    said = run_without("jinja2", code=script + f"main(['analyse', {os.fspath(table)!r}, '--html', 'x.html'])")
    assert said.startswith("error: --html needs the report extra: pip install 'adhere[report]'")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_or_a_device_is_not_said_to_be_missing(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.csv")
    for name in ("pipe.csv", os.devnull):
        done = in_this_process(capsys, "analyse", name)
        check_complaint(done, f"{name} is a pipe or a device: save its content as a file")
    check_complaint(
        in_this_process(capsys, "analyse", "trial.csv", "--html", "-"),
        "--html: got '-', expected a file: a page is not for a terminal",
    )
    assert sorted(path.name for path in table.parent.iterdir()) == ["pipe.csv", "trial.csv"]
