"""Bad input: one sentence that names field and value, exit status 2, nothing written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from .running import Finished, in_a_process, in_this_process

ON_DEFIERS = ("simulate", "--population", "defiers", "--policy")
THOMPSON = (*ON_DEFIERS, "thompson")

BAD = [
    # what is typed, then what the sentence must say
    ((*ON_DEFIERS, "tompson"), "policy: got 'tompson'", "did you mean 'thompson'?"),
    ((*ON_DEFIERS, "thompson/actually"), "protocol: got 'actually'", "did you mean 'actual'?"),
    ((*ON_DEFIERS, "exp3(gamma=1.5)"), "exp3 gamma: got 1.5", "above 0 and at most 1"),
    ((*ON_DEFIERS, "thompson/credit[0 1 2; 0 1 2; 0 1 2]"), "credit[0 1 2; 0 1 2; 0 1 2]", "2 × 2"),
    ((*ON_DEFIERS, "hedge"), "policy: got 'hedge'", "adhere.hedge"),
    ((*ON_DEFIERS, "hierarchical(thompson)/actual"), "got 'hierarchical(thompson)/actual'", "a learner"),
    ((*ON_DEFIERS, "thompson("), "policy 'thompson('", "at character 10"),
    ((*THOMPSON, "--population", "defier"), "population: got 'defier'", "did you mean 'defiers'?"),
    ((*THOMPSON, "--population", "absent.csv"), "absent.csv", "does not exist"),
    ((*THOMPSON, "--population", "columns.csv"), "columns.csv: missing column: actual", "(found: chosen, reward)"),
    ((*THOMPSON, "--population", "row.csv"), "row.csv, line 3, column reward: got 'much'", "a number"),
    ((*THOMPSON, "--patients", "0"), "--patients: got 0", "from 1 to"),
    ((*THOMPSON, "--patients", "many"), "--patients: got 'many'", "a whole number"),
    ((*THOMPSON, "--runs", "0"), "--runs: got 0", "from 1 to"),
    ((*THOMPSON, "--runs", "1.5"), "--runs: got '1.5'", "a whole number"),
    ((*THOMPSON, "--seed", "-1"), "--seed: got -1", "from 0"),
    ((*THOMPSON, "--threads", "0"), "--threads: got 0", "from 1 to"),
    ((*THOMPSON, "--reference", "ucb1"), "--reference: got 'ucb1'", "one of the policies"),
    ((*THOMPSON, "--json", "absent/out.json"), "--json: absent/out.json", "absent does not exist"),
    ((*THOMPSON, "--json", "row.csv/out.json"), "--json: row.csv/out.json", "row.csv is not a folder"),
    ((*THOMPSON, "--json", "folder"), "--json: got 'folder'", "a file, not a folder"),
    ((*THOMPSON, "--plot", "out.gif"), "--plot: got 'out.gif'", ".png, .svg or .pdf"),
    ((*THOMPSON, "--plot", "out"), "--plot: got 'out'", ".png, .svg or .pdf"),
    ((*THOMPSON, "--plot", "absent/out.png"), "--plot: absent/out.png", "absent does not exist"),
    ((*THOMPSON, "--plot", "same.png", "--json", "same.png"), "--plot: got 'same.png'", "another file"),
    ((*THOMPSON, "--save", "row.csv"), "--save: got 'row.csv'", "a folder"),
    ((*THOMPSON, "--save", "absent/kept"), "--save: absent/kept", "absent does not exist"),
    ((*THOMPSON, "--import", "absent.py"), "absent.py", "does not exist"),
    ((*THOMPSON, "--import", "broken.py"), "broken.py line 1: SyntaxError", ""),
    (("simulate", "--policy", "thompson"), "--population", "Missing"),
    (("simulate", "--population", "defiers"), "--policy", "Missing"),
    ((*THOMPSON, "--patient", "10"), "--patient", "No such option"),
    (("simulated",), "simulated", "No such command"),
    (("policies", "tompson"), "policy: got 'tompson'", "did you mean 'thompson'?"),
    (("populations", "defier"), "population: got 'defier'", "did you mean 'defiers'?"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "columns.csv").write_text("chosen,reward\na,1\n")
    (tmp_path / "row.csv").write_text("chosen,actual,reward\na,a,1\nb,b,much\n")
    (tmp_path / "broken.py").write_text("def\n")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check_complaint(finished: Finished, says: tuple[str, ...]) -> None:
    assert finished.status == 2
    assert finished.out == ""
    assert finished.err.startswith("error: ")
    assert finished.err.count("\n") == 1
    assert finished.err.endswith("\n")
    for words in says:
        assert words in finished.err


@pytest.mark.parametrize(("arguments", "named", "expected"), BAD, ids=lambda given: str(given)[-40:])
def test_bad_input(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], named: str, expected: str
) -> None:
    before = sorted(folder.rglob("*"))
    outputs = {"--json": "out.json", "--plot": "out.png", "--save": "kept"} if arguments[0] == "simulate" else {}
    asked = [word for option, path in outputs.items() if option not in arguments for word in (option, path)]
    check_complaint(in_this_process(capsys, *arguments, *asked), (named, expected))
    assert sorted(folder.rglob("*")) == before


def test_bad_input_in_a_process_of_its_own(folder: Path) -> None:
    for arguments in ((*ON_DEFIERS, "tompson"), (*THOMPSON, "--patient", "10")):
        check_complaint(in_a_process(*arguments, cwd=folder), ())


@pytest.mark.parametrize(
    ("option", "path"), [("--json", "folder/out.json"), ("--plot", "folder/out.png"), ("--save", "folder")]
)
def test_unwritable_folder(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str, path: str
) -> None:
    # Whoever runs the tests as root may write anywhere, so permissions are only pretended.
    monkeypatch.setattr(os, "access", lambda *_: False)
    check_complaint(in_this_process(capsys, *THOMPSON, option, path), (option, path, "no permission"))


def test_plot_without_matplotlib(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    check_complaint(in_this_process(capsys, *THOMPSON, "--plot", "out.png"), ("--plot", "adhere[report]"))


def test_a_disk_that_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "n" * 300 + ".json"  # too long for any file system
    check_complaint(in_this_process(capsys, *THOMPSON, "--runs", "2", "--json", name), ("File name too long",))
