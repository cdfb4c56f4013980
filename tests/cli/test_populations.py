"""`adhere populations FILE`: n, intervals, which columns, and what became of missing values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adhere.design.parts import Imputation
from adhere.intervals import mean_interval, wilson
from adhere.trial.domain.commands import Withdraw
from adhere.trial.log.table import write_table
from cli.running import check_complaint, in_this_process
from trial.live import Live

HEADER = "assigned;taken;outcome\n"
ROWS = "none;none;1\n" * 8 + "none;none;0\n" * 2 + "none;aspirin;1\n" * 2 + "aspirin;aspirin;1\n" * 5
GAPS = "none;none;\n" * 3 + "aspirin;;1\naspirin;NA;\n"
COLUMNS = ("--chosen", "assigned", "--actual", "taken", "--reward", "outcome")


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "trial.csv"
    path.write_text(HEADER + ROWS + GAPS)
    return str(path)


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_shows_n_intervals_and_what_is_missing(
    table: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = in_this_process(capsys, "populations", table, *COLUMNS)
    assert shown.status == 0
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "trial: 2 arms (none, aspirin), rewards 0, 1" in lines
    assert "columns: chosen = assigned, actual = taken, reward = outcome" in lines
    assert f"read from {table}, separated by semicolons" in " ".join(lines)
    for line in (
        "22 rows",
        "4 without an outcome, left out",
        "1 without the arm taken, left out",
        "17 used",
    ):
        assert line in lines
    digits = 3 if width == 80 else 4
    share, mean = (
        f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
        for value, (low, high) in ((13 / 15, wilson(13, 15)), (8 / 10, wilson(8, 10)))
    )
    assert f"none none 13 10 {share} {mean}" in lines
    low, high = wilson(10, 12)
    assert f"Chosen (intention-to-treat) none 12 0.8333 [{low:.4f}, {high:.4f}]" in lines
    # Everybody with an outcome counts by the arm assigned, also those of whom it is not known what they took.
    assert any(line.startswith("aspirin 6 1.0000 [0.6097, 1.0000]") for line in lines)
    assert "95% confidence" in shown.out
    assert (
        "A simulation draws from the 17 rows used; their means under Chosen: none 0.8333, aspirin 1.0000."
        in " ".join(lines)
    )
    assert all(len(line) <= width for line in shown.out.splitlines() if table not in line)


def test_everything_as_json(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(in_this_process(capsys, "populations", table, *COLUMNS, "--json").out)
    assert (found["n_patients"], found["used"]) == (22, 17)
    assert found["left_out"] == {"without an outcome": 4, "without the arm taken": 1}
    cell = found["compliance"][0]
    assert (cell["chosen"], cell["actual"], cell["n"], cell["outcomes"]) == ("none", "none", 13, 10)
    assert cell["share"]["low"] == wilson(13, 15)[0]
    assert [(one["protocol"], one["arm"], one["n"]) for one in found["means"]][:2] == [
        ("chosen", "none", 12),
        ("chosen", "aspirin", 6),
    ]
    named = json.loads(in_this_process(capsys, "populations", "stroke-aspirin", "--json").out)
    assert named["n_patients"] == 19422
    check_complaint(in_this_process(capsys, "populations", "defiers", "--json"), "--json", "a table")


def test_rewards_between_0_and_1_have_students_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("chosen,actual,reward,n\na,a,0.5,2\na,a,0.2,1\nb,b,1,3\n")
    out = in_this_process(capsys, "populations", str(path)).out
    low, high = mean_interval(0.4, 0.03, 3)
    assert f"0.4000 [{low:.4f}, {high:.4f}]" in out
    assert "6  patients" in out


def test_an_export_of_adheres_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    live = Live("thompson/actual", impute=Imputation(after_days=14, reward=0.0))
    for n in range(12):
        live.recommend(f"s{n}")
    said: list[dict[str, Any]] = [{"actual": "walk"}, {"actual": "aspirin"}, {"took_nothing": True}]
    for n, taken in enumerate([*said, {"took_other": "tea"}]):
        live.report(n, **taken, reward=1.0)
        live.report(n + 4, actual=("walk", "aspirin")[n % 2], reward=0.0)
    live.send(Withdraw(trial="t", request_id="w", recommendation_id=live.id_of(8), reason="moved away"))
    live.report(9, actual="walk")
    live.clock.pass_days(15)
    live.impute_missing()
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"export.{suffix}"
        with live.store.reading() as view:
            write_table(view, 1, live.design, path, suffix)
        shown = in_this_process(capsys, "populations", str(path))
        assert shown.status == 0, shown.err
        lines = [" ".join(line.split()) for line in shown.out.splitlines()]
        assert "12 rows" in lines
        assert "1 without an outcome, left out (1 lost to follow-up)" in lines
        assert "1 that took nothing, left out" in lines
        assert "1 that took something else, left out" in lines
        assert "2 without the arm taken, left out" in lines
        assert "3 outcomes imputed by the trial's rule count as given" in lines
        assert any("took nothing 1" in line for line in lines)
        assert any("took something else 1" in line for line in lines)


def test_simulate_takes_the_same_columns_and_says_who_is_left_out(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = ("--policy", "thompson", "--patients", "10", "--runs", "4")
    shown = in_this_process(capsys, "simulate", "--population", table, *COLUMNS, *runs)
    assert shown.status == 0
    assert "5 of 22 rows left out: 4 without an outcome, 1 without the arm taken" in shown.err
    assert "Warning" not in shown.err
    check_complaint(in_this_process(capsys, "simulate", "--population", table, *runs), "missing columns: chosen")
    wrong = in_this_process(capsys, "populations", table, "--chosen", "asigned")
    check_complaint(wrong, "column for chosen: got 'asigned'", "did you mean 'assigned'?")
    check_complaint(in_this_process(capsys, "populations", "defiers", "--chosen", "x"), "--chosen", "a table")
