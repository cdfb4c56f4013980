from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_TESTS = Path(__file__).parent
_FLAKY = """
from pathlib import Path

def test_second_try_passes(tmp_path_factory):
    tried = Path(__file__).with_name("tried")
    if not tried.exists():
        tried.touch()
        raise AssertionError("the disk was slow")

def test_never_passes():
    raise AssertionError("the code is wrong")
"""


def test_failures_of_both_tries_are_printed(tmp_path: Path) -> None:
    (tmp_path / "test_flaky.py").write_text(_FLAKY)
    command = [sys.executable, "-m", "pytest", "-q", "--reruns", "1", "-p", "reruns", "-p", "no:cacheprovider"]
    said = subprocess.run(
        [*command, "--rootdir", tmp_path, "-c", "/dev/null", tmp_path],
        cwd=_TESTS,  # so that the plugin is found
        capture_output=True,
        text=True,
    )
    assert said.returncode == 1
    summary = said.stdout.partition("failed at the first try")[2]
    assert "the disk was slow" in summary
    assert "1 failed, 1 passed, 2 rerun" in summary
