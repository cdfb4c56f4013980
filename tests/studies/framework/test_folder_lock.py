"""Two runs never write into the same folder at once; a run that was killed blocks nobody."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adhere.errors import InputError
from adhere.studies.framework.report_writer import folder_lock
from adhere.studies.framework.reproduce import reproduce
from studies.small_studies import contents, counted, simulated

fcntl = pytest.importorskip("fcntl", reason="there are no such locks here")

HOLDER = """
import sys, time
from pathlib import Path
from adhere.studies.framework.report_writer import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("alone", flush=True)
    time.sleep(600)
"""


def test_a_second_run_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    refused = []

    def meanwhile() -> None:
        with pytest.raises(InputError, match=r"out: got .* no other run") as error:
            reproduce(tmp_path, [counted()])
        refused.append(error.value.value)

    done = reproduce(tmp_path, [simulated(after=meanwhile)])
    assert refused == [str(tmp_path)]
    assert [section.name for section in done.sections] == ["simulated"]
    assert not any("counted" in name or "lock" in name for name in contents(tmp_path))


def test_a_run_that_was_killed_blocks_nobody(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"alone\n"
        with pytest.raises(InputError), folder_lock(tmp_path):
            pass
        holder.kill()
    assert list(tmp_path.iterdir()) != []
    with folder_lock(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_its_holder_removed_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run ends between our opening its file and locking it; then a third must not get in beside us."""
    flock = fcntl.flock
    locked: list[int] = []

    def too_late(file: object, how: int) -> None:
        if not locked:
            next(tmp_path.iterdir()).unlink()
        locked.append(how)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", too_late)
    with folder_lock(tmp_path):
        assert len(locked) == 2
        with pytest.raises(InputError), folder_lock(tmp_path):
            pass


def test_a_folder_that_stays_empty_goes_only_if_it_was_made(tmp_path: Path) -> None:
    there, new = tmp_path / "there", tmp_path / "new"
    there.mkdir()
    for folder in (there, new):
        with pytest.raises(KeyboardInterrupt), folder_lock(folder):
            raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == [there]
    with folder_lock(new):
        (new / "kept").touch()
    assert contents(new) == {"kept": b""}


def test_another_folder_is_free(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "one"), folder_lock(tmp_path / "two"):
        assert len(list(tmp_path.iterdir())) == 2
