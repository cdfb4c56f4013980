"""adhere trial accept-loss: a file that lacks acknowledged records is refused until somebody accepts the loss."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from adhere.store import open_store
from adhere.trial.commands import Recommend
from adhere.trial.make_design import make_design
from adhere.trial.processor import CommandProcessor
from trial.live import send

from .running import check_complaint, in_this_process


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file as after kill -9, without its -wal: three records are gone."""
    store = open_store(tmp_path / "running.db")
    processor = CommandProcessor(store)
    processor.create(make_design("headache", "uniform", ["walk", "aspirin"]))
    for n in range(3):
        send(processor, Recommend(trial="headache", request_id=f"r{n}", subject=f"s{n}"))
    for suffix in ("", "-progress"):
        shutil.copy(tmp_path / f"running.db{suffix}", tmp_path / f"adhere.db{suffix}")
    store.close()
    return tmp_path / "adhere.db"


def test_a_loss_is_refused_until_it_is_accepted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make = ("token", "make", "--data", str(path), "--role", "admin", "--label", "me")
    check_complaint(in_this_process(capsys, *make), "has 3 records fewer than were acknowledged", "accept-loss")
    accept = ("trial", "accept-loss", str(path), "--reason", "the -wal was deleted")
    done = in_this_process(capsys, *accept)
    assert (done.status, done.out) == (0, f"{path} goes on without 3 records\n")
    assert in_this_process(capsys, *make).status == 0
    done = in_this_process(capsys, *accept)
    assert (done.status, done.out) == (0, f"{path} has every record that was acknowledged; nothing was changed\n")


def test_a_loss_of_an_unknown_number(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.with_name("adhere.db-progress").unlink()
    done = in_this_process(capsys, "trial", "accept-loss", str(path), "--reason", "everything beside it was deleted")
    assert (done.status, done.out) == (0, f"{path} goes on without an unknown number of records\n")
    with closing(open_store(path)) as store:
        assert (store.was_restored, store.n_lost) == (False, 0)


def test_where_nothing_is_lost_nothing_is_changed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = path.with_name("running.db")
    before = whole.read_bytes(), path.with_name("running.db-progress").read_bytes()
    done = in_this_process(capsys, "trial", "accept-loss", str(whole), "--reason", "to be safe")
    assert (done.status, done.out) == (0, f"{whole} has every record that was acknowledged; nothing was changed\n")
    assert (whole.read_bytes(), path.with_name("running.db-progress").read_bytes()) == before


def test_what_cannot_be_accepted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("trial", "accept-loss")
    missing = str(path.with_name("missing.db"))
    check_complaint(in_this_process(capsys, *command, missing, "--reason", "gone"), "missing.db does not exist")
    check_complaint(in_this_process(capsys, *command, str(path), "--reason", " "), "--reason")
    check_complaint(in_this_process(capsys, *command, str(path)), "--reason")
    address = "postgresql://me:hunter2@host/trials"
    check_complaint(in_this_process(capsys, *command, address, "--reason", "gone"), "takes a file, not PostgreSQL")
    with closing(open_store(path.with_name("running.db"))):
        done = in_this_process(capsys, *command, str(path.with_name("running.db")), "--reason", "gone")
        check_complaint(done, "is being written by another process")
