"""The systemd unit, as systemd itself reads it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from programs import program

UNIT = Path(__file__).parents[2] / "deploy" / "adhere.service"
MAX_EXPOSURE = 1.5  # of 10; docs/how-to/install-and-run-the-service.md names it


def _analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [program("systemd-analyze", "systemd"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_systemd_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    # A root folder in which the unit and its program are where the documents put them.
    (tmp_path / "opt/adhere/bin").mkdir(parents=True)
    (tmp_path / "opt/adhere/bin/adhere").touch(mode=0o755)
    shutil.copytree("/usr/lib/systemd/system", tmp_path / "usr/lib/systemd/system", symlinks=True)
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    shutil.copy(UNIT, tmp_path / "etc/systemd/system")
    done = _analyze("verify", f"--root={tmp_path}", "adhere.service")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_is_hardened() -> None:
    done = _analyze("security", "--offline=yes", f"--threshold={MAX_EXPOSURE * 10:.0f}", UNIT)
    assert done.returncode == 0, done.stdout
    assert "\nMemoryDenyWriteExecute=no\n" in UNIT.read_text(), "policies are compiled while the service runs"
