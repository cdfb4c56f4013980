"""adhere doctor: everything that is declared is looked for, and what is missing is said with the remedy."""

from __future__ import annotations

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from .running import in_this_process

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def test_what_is_there_and_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "code").write_bytes(bytes(2_000_000))
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    told = in_this_process(capsys, "doctor")
    assert (told.status, told.err) == (0, "")
    for requirement in PROJECT["dependencies"]:
        assert f"✓ {requirement.split('>')[0]} " in told.out
    for extra in PROJECT["optional-dependencies"]:
        assert f" {extra} " in told.out
    assert f"{tmp_path}: 1 file, 2.0 MB" in told.out
    assert "NUMBA_BOUNDSCHECK=1" in told.out
    if find_spec("numba_cuda") is None:
        assert re.search(r"missing numba-cuda: pip install (--editable )?'.*\[gpu]'", told.out)
        assert "GPU\n  - not available: the extra gpu is not installed: pip install" in told.out


def test_no_folder_for_compiled_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path / "file" / "folder"))
    assert "✗ no folder is writable" in in_this_process(capsys, "doctor").out


@pytest.mark.parametrize("command", [[], ["simulate"], ["trial"], ["trial", "results"], ["token", "make"]])
def test_h_is_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert in_this_process(capsys, *command, "-h") == in_this_process(capsys, *command, "--help")
