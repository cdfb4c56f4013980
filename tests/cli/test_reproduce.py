"""`adhere reproduce`: what it prints and leaves, and what it refuses."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from adhere.studies import catalogue
from adhere.studies.framework.study import Study
from studies.small_studies import contents, counted, simulated

from .running import check_complaint, in_this_process

REPRODUCE = "reproduce"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, and small studies instead of the real ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(catalogue, "STUDIES", {one.name: one for one in (simulated(), counted())})
    return tmp_path


def test_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, REPRODUCE, "--threads", "1")
    assert shown.status == 0
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 80
    for name in ("simulated", "counted"):
        assert [line.split() for line in lines if line.startswith(f"A study called {name}")] == [
            ["A", "study", "called", name, "1", "✓", "agrees"]
        ]
        assert f"the claim of {name}" not in shown.out
    assert "2 claims of the paper: 2 ✓ agrees" in lines
    assert "report: report/index.html" in lines
    assert re.search(r"took: +\d+\.\d s$", lines[-1])
    assert (folder / "report" / "index.html").is_file()
    assert "earlier run" not in shown.out
    assert [line for line in shown.err.splitlines() if line.startswith("==> ")] == [
        "==> A study called simulated",
        "==> A study called counted",
        "==> writing the report",
    ]


def test_a_verbose_run_prints_every_claim(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, REPRODUCE, "--threads", "1", "--verbose")
    for name in ("simulated", "counted"):
        assert f"A study called {name}" in shown.out.splitlines()
        assert f"✓ agrees  the claim of {name}" in shown.out


def test_a_rerun_says_what_it_did_not_run_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_this_process(capsys, REPRODUCE, "--study", "counted", "--out", "here")
    again = in_this_process(capsys, REPRODUCE, "--out", "here")
    assert "Finished by an earlier run and not run again: counted. To run them again, add --fresh." in " ".join(
        again.out.split()
    )
    assert "A study called simulated" in again.out
    assert "==> A study called counted" not in again.err
    fresh = in_this_process(capsys, REPRODUCE, "--out", "here", "--fresh")
    assert "earlier run" not in fresh.out
    assert "==> A study called counted" in fresh.err


def test_options_reach_the_simulation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out, options in {"full": (), "quick": ("--quick",), "seed": ("--seed", "1")}.items():
        assert in_this_process(capsys, REPRODUCE, "--study", "simulated", "--out", out, *options).status == 0
    found = {out: contents(folder / out / "data" / "simulated") for out in ("full", "quick", "seed")}
    assert [found[out]["size.csv"].split()[1] for out in found] == [b"3072", b"307", b"3072"]
    assert found["full"]["final.csv"] != found["seed"]["final.csv"]


def test_the_same_study_twice_is_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, REPRODUCE, "--study", "counted", "--study", "counted")
    assert (shown.status, shown.err.count("==> A study called")) == (0, 1)


def stop() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("study", "options", "said"),
    [
        (simulated(after=stop), (), "Stopped; nothing was written."),
        (counted(drawing=stop), ("--fresh",), "the same command without --fresh goes on after them."),
    ],
)
def test_stopped(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    study: Study,
    options: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setattr(catalogue, "STUDIES", {study.name: study})
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit, match="130"):
        in_this_process(capsys, REPRODUCE, *options)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.endswith(f"{said}\n")
    assert [path.name for path in folder.iterdir()] == (["report"] if study.name == "counted" else [])


BAD = [
    (("--study", "small-trails"), "--study: got 'small-trails'", "did you mean 'small-trials'?"),
    (("--study", ""), "--study: got ''", "small-trials"),
    (("--seed", "many"), "--seed: got 'many'", "a whole number"),
    (("--seed", "-1"), "--seed: got -1", "from 0"),
    (("--threads", "0", "--study", "stroke-data"), "--threads: got 0", "from 1 to"),
    (("--threads", "1.5"), "--threads: got '1.5'", "a whole number"),
    (("--out", "file"), "--out: got 'file'", "a folder"),
    (("--out", "absent/report"), "--out: absent/report", "does not exist"),
    (("--out", "page"), "--out: got 'page'", "was not written by adhere"),
    (("--out", "data-file"), "--out: got 'data-file'", "is a file"),
    (("small-trials",), "small-trials", "unexpected"),
]


@pytest.mark.parametrize(("options", "named", "expected"), BAD, ids=lambda given: str(given)[-40:])
def test_bad_input(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    named: str,
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for name in ("page/index.html", "data-file/data"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("mine")
    before = contents(tmp_path)
    check_complaint(in_this_process(capsys, REPRODUCE, *options), named, expected)
    assert contents(tmp_path) == before
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("module", ["matplotlib", "jinja2"])
def test_without_what_a_report_needs(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    check_complaint(in_this_process(capsys, REPRODUCE), "matplotlib and jinja2", "pip install 'adhere[report]'")
    assert list(folder.iterdir()) == []


def test_help_fits_and_names_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, REPRODUCE, "--help").out
    assert max(map(len, shown.splitlines())) <= 80
    for name in catalogue.STUDIES:
        assert re.search(rf"\b{name}\b", shown)
    for option in ("--quick", "--study", "--seed", "--out", "--fresh", "--threads", "--verbose"):
        assert option in shown
