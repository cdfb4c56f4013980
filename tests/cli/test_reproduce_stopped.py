"""`adhere reproduce` stopped by Ctrl-C or killed: no half-written report, and a rerun resumes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from studies.small_studies import contents

from .running import Finished

# Whoever starts the tests in the background may have Ctrl-C ignored, and children inherit that.
PROGRAM = """
import signal, sys
from dataclasses import replace
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, sys.argv[1])
from studies.small_studies import ENDLESS, counted, simulated
from adhere.cli.main import main
from adhere.studies import catalogue
LONG = "A study called counted, whose title takes a line for itself"
studies = {
    "short": [simulated(), counted()],
    "endless": [simulated(), replace(counted(), title=LONG, plan=ENDLESS)],
    "hit while drawing": [simulated(), counted(drawing=lambda: signal.raise_signal(signal.SIGINT))],
}[sys.argv[2]]
catalogue.STUDIES = {one.name: one for one in studies}
sys.exit(main(["reproduce"]))
"""
LONG = "A study called counted, whose title takes a line for itself"
TESTS = str(Path(__file__).parents[1])
KEPT = "Stopped. Finished studies are kept in report/.unfinished; the same command goes on after them.\n"


def command(studies: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, TESTS, studies]


@contextmanager
def ended(process: subprocess.Popen[Any]) -> Iterator[None]:
    """Leave no endless process behind when a test fails."""
    try:
        yield
    finally:
        process.kill()


def run(studies: str, cwd: Path) -> Finished:
    done = subprocess.run(command(studies), cwd=cwd, capture_output=True, encoding="utf-8", check=False, timeout=120)
    return Finished(done.returncode, done.stdout, done.stderr)


def check_resumes(cwd: Path, *resumed: str) -> None:
    """Run the same command to its end: it must not run again what was finished."""
    again = run("short", cwd)
    assert again.status == 0, again.err
    assert f"not run again: {', '.join(resumed)}." in again.out
    for name in resumed:
        assert f"==> A study called {name}" not in again.err
    assert sorted(path.name for path in (cwd / "report").iterdir()) == ["data", "figures", "index.html", "run.json"]


@pytest.mark.slow
@pytest.mark.parametrize("signal_name", ["SIGINT", "SIGKILL"])
def test_stopped_in_the_middle_of_a_study(tmp_path: Path, signal_name: str) -> None:
    process = subprocess.Popen(
        command("endless"), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    with process, ended(process):
        assert process.stdout is not None
        assert process.stderr is not None
        while process.stderr.readline() != f"==> {LONG}\n":
            assert process.poll() is None
        time.sleep(0.5)
        pressed = time.monotonic()
        process.send_signal(getattr(signal, signal_name))
        status = process.wait(timeout=30)
        assert time.monotonic() - pressed < 1.5
        assert process.stdout.read() == ""
        if signal_name == "SIGINT":
            assert status == 130
            assert process.stderr.read() == KEPT
    assert not [name for name in contents(tmp_path / "report") if not name.startswith((".unfinished/", ".lock"))]
    if signal_name == "SIGKILL":
        check_resumes(tmp_path, "simulated")


@pytest.mark.slow
def test_stopped_while_the_report_is_written(tmp_path: Path) -> None:
    stopped = run("hit while drawing", tmp_path)
    assert (stopped.status, stopped.out) == (130, "")
    assert stopped.err.endswith("==> writing the report\n" + KEPT)
    assert not [name for name in contents(tmp_path / "report") if not name.startswith((".unfinished/", ".lock"))]
    check_resumes(tmp_path, "simulated", "counted")


@pytest.mark.slow
def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    with (
        subprocess.Popen(command("endless"), cwd=tmp_path, stderr=theirs, env=environment) as process,
        ended(process),
    ):
        os.close(theirs)
        shown, deadline = "", time.monotonic() + 60
        # A long title is cut, not the times; between all of them stand the codes of colours.
        while not re.search(r"A study called counted, whose… .* 0%.*0:00:\d\d.*left:.*:\d\d", shown):
            assert time.monotonic() < deadline, shown
            shown += os.read(ours, 4096).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert "==>" not in shown
    os.close(ours)
