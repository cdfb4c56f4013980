"""The first admin token: on a terminal, or in a file for its owner only; never in a log or a pipe."""

from __future__ import annotations

import errno
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from adhere.access.tokens import Tokens
from adhere.errors import InputError
from adhere.service.starting import announce_first_token
from adhere.store import open_store


def _serve(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "adhere", "serve", "--data", str(folder / "adhere.db"), "--port", "0"]
    return [*command, *options]


def test_a_pipe_gets_no_token(tmp_path: Path) -> None:
    done = subprocess.run(_serve(tmp_path), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --admin-token-file FILE is needed at the first start: ")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())  # no database that nobody has a token for


@pytest.mark.slow
def test_a_terminal_gets_it(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(_serve(tmp_path), stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    try:
        while b"Serving on" not in said:
            said += os.read(ours, 1000)
    finally:
        process.terminate()
        process.wait(timeout=60)
        os.close(ours)
    assert said.startswith(b"The first admin token, shown only now: adh_")


def test_a_file_gets_it_and_only_its_owner_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "admin-token"
    before = os.umask(0)
    try:
        store = open_store()
        announce_first_token(store, str(path))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Tokens(store).find(path.read_text().strip().encode()) is not None
    assert "adh_" not in capsys.readouterr().out
    text = path.read_text()
    announce_first_token(store, str(path))  # it has one: nothing to do
    assert path.read_text() == text


@pytest.mark.parametrize("place", ["there", "missing/token", "."])
def test_a_file_that_cannot_be_made_leaves_no_token_behind(tmp_path: Path, place: str) -> None:
    (tmp_path / "there").write_text("precious")
    store = open_store()
    with pytest.raises(InputError, match="--admin-token-file: got"):
        announce_first_token(store, str(tmp_path / place))
    assert not Tokens(store).all()
    assert (tmp_path / "there").read_text() == "precious"


def test_a_disk_that_fills_up_leaves_no_token_that_nobody_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, path = open_store(), tmp_path / "token"

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            announce_first_token(store, str(path))
    assert not Tokens(store).all()
    assert not list(tmp_path.iterdir())
    announce_first_token(store, str(path))  # there is space again
    assert Tokens(store).find(path.read_text().strip().encode()) is not None


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_machine_that_stops_before_the_token_is_in_its_place(tmp_path: Path, is_stored: bool) -> None:
    store, part = open_store(), tmp_path / "token.new"
    text = Tokens(store).make_first() if is_stored else "adh_never-stored"
    part.write_text(f"{text}\n")
    announce_first_token(store, str(tmp_path / "token"))
    assert Tokens(store).find((tmp_path / "token").read_text().strip().encode()) is not None
    assert len(Tokens(store).all()) == 1
    assert not part.exists()
