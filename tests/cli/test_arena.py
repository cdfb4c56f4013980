"""`adhere arena`: what it prints and leaves, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest

from adhere.cli.arena import arena as command
from adhere.cli.options import Stopped
from adhere.studies.arena import arena as module
from adhere.studies.arena.cells import Cell
from adhere.studies.arena.play import play

from .running import check_complaint, in_this_process

ARENA = "arena"
OWN = """
from adhere.policies import Learner, choose, implements, learn, parameter, policy


@policy("stubborn")
class Stubborn(Learner):
    number: int = parameter(default=0, at_least=0, whole=True)


@implements(choose, Stubborn)
def choose_stubborn(rule, state, memo, weight, rng):
    return int(rule.number) % rule.n_arms


@implements(learn, Stubborn)
def learn_nothing(rule, state, memo, arm, reward, weight, rng):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, and a tiny grid instead of the real one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(module, "QUICK", (Cell("confounded", 2000, 1, 20), Cell("unconfounded", 12, 1, 20)))
    return tmp_path


def test_a_run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mine.py").write_text(OWN)
    mine = ("--import", "mine.py", "--policy", "stubborn(number=1)")
    arguments = ("--quick", "--only-own", *mine, "--out", "here", "--threads", "1")
    shown = in_this_process(capsys, ARENA, *arguments)
    assert shown.status == 0
    lines = shown.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("confounded, 2,000 patients") and line.endswith("worst 5%") for line in lines)
    assert any("stubborn(number=1)" in line and "[" in line for line in lines)
    assert {"page:   here/index.html", "tables: here/data"} <= set(lines)
    assert "stubborn(number=1)" in (folder / "here" / "index.html").read_text()
    assert "==> confounded, 2,000 patients" in shown.err
    assert "earlier run" not in shown.out
    results = polars.read_csv(folder / "here" / "data" / "results.csv")
    assert results["policy"].to_list() == ["thompson", "stubborn(number=1)"] * 2
    monkeypatch.setattr(module, "write_arena", lambda *_: None)  # not another time: it takes seconds
    again = in_this_process(capsys, ARENA, *arguments, "--family", "confounded")
    assert (
        "Finished by an earlier run and not repeated: 1 of 2 plays." in again.out
    )  # but not those of a file that may change


def test_what_it_refuses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, says in {
        ("--family", "confoundet"): ("--family", "did you mean 'confounded'"),
        ("--policy", "thomson"): ("thomson", "did you mean"),
        ("--device", "tpu"): ("--device", "cpu or cuda"),
        ("--threads", "0"): ("--threads",),
        ("--out", "missing/here"): ("--out", "does not exist"),
        ("--seed", "x"): ("--seed",),
    }.items():
        check_complaint(in_this_process(capsys, ARENA, "--quick", *arguments), *says)
    assert not list(folder.iterdir())


def test_ctrl_c_says_that_nothing_finished_is_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop_at_the_second(*arguments: Any, **options: Any) -> Any:
        if list((folder / "arena" / "played").glob("*")):
            raise KeyboardInterrupt
        return play(*arguments, **options)

    monkeypatch.setattr(module, "play", stop_at_the_second)
    with pytest.raises(Stopped, match="Finished plays are kept in arena/played; the same command goes on"):
        command(quick=True, only_own=True)
