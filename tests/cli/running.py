"""Ways to run the command line from a test."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from adhere.cli.main import main


@dataclass(frozen=True)
class Finished:
    status: int
    out: str
    err: str


def in_this_process(capsys: pytest.CaptureFixture[str], *arguments: str) -> Finished:
    """What a user would see, without the half second that a new process takes."""
    status = main(arguments)
    return Finished(status, *capsys.readouterr())


def in_a_process(*arguments: str, cwd: Path) -> Finished:
    """The real thing, with its output in pipes."""
    done = subprocess.run(
        [sys.executable, "-m", "adhere", *arguments], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def check_complaint(finished: Finished, *says: str) -> None:
    """One sentence on standard error, nothing on standard output, and the status of a user's mistake."""
    assert (finished.status, finished.out) == (2, "")
    assert finished.err.startswith("error: ")
    assert finished.err.count("\n") == 1
    for words in says:
        assert words in finished.err
