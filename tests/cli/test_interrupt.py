"""Ctrl-C stops at once and leaves nothing behind; on a terminal a bar shows how fast the work goes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

# Whoever starts the tests in the background may have Ctrl-C ignored, and children inherit that.
HEARS_CTRL_C = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
COMMAND = (sys.executable, "-c", f"{HEARS_CTRL_C}; from adhere.cli.main import main; sys.exit(main())", "simulate")
ENDLESS = (*COMMAND, "--population", "defiers", "--patients", "1000000", "--runs", "1000000", "--json", "out.json")
STOPPED = "Stopped; nothing was written."


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C; the process must be gone in about a second."""
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert time.monotonic() - pressed < 1.5


@pytest.mark.slow
def test_a_bar_with_a_rate_and_ctrl_c_in_the_middle(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(
        [*ENDLESS, "--policy", "uniform"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown, deadline = "", time.monotonic() + 60
        while not re.search(r"simulating .* 0% +[1-9]\d*\.\d M patients/s .*\d:\d\d", shown):
            assert time.monotonic() < deadline
            shown += os.read(ours, 4096).decode(errors="replace")
        interrupt(process)
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert STOPPED in _rest(ours)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_in_a_calibration(tmp_path: Path) -> None:
    design = tmp_path / "trial.toml"
    design.write_text(
        'name = "t"\narms = ["a", "b"]\npolicy = "thompson"\nn_patients = 1000\nlooks.every = 500\n'
        'stopping = { by = "posterior", superiority = 0.9, inferiority = "1 - superiority" }\n'
    )
    ours, theirs = pty.openpty()
    command = [*COMMAND[:-1], "design", "calibrate", "trial.toml", "--trials", "10000000", "--out", "calibrated.toml"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown, deadline = "", time.monotonic() + 60
        while "simulating" not in shown:
            assert time.monotonic() < deadline
            shown += os.read(ours, 4096).decode(errors="replace")
        interrupt(process)
    assert STOPPED in _rest(ours)
    assert list(tmp_path.iterdir()) == [design]


def _rest(terminal: int) -> str:
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(terminal)
    return shown.decode(errors="replace")


@pytest.mark.slow
def test_ctrl_c_in_the_middle_of_a_compilation(tmp_path: Path) -> None:
    environment = {**os.environ, "ADHERE_CACHE_DIR": str(tmp_path / "cache")}
    with subprocess.Popen(
        [*ENDLESS, "--policy", "thompson-bounded(hierarchical(thompson))"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stderr.readline().startswith(b"compiling ")
        time.sleep(0.5)
        interrupt(process)
        assert process.stderr.read().decode().split("\n") == [STOPPED, ""]
        assert process.stdout.read() == b""
    assert not (tmp_path / "out.json").exists()
