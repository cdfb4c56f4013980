"""adhere trial accept-loss and new-epoch: go on where acknowledged records are gone, or may be."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from adhere.design.make_design import make_design
from adhere.store import open_store
from adhere.trial.domain.commands import ChangeStatus, Recommend
from adhere.trial.domain.events import EpochBegun, Recommended, decode
from adhere.trial.domain.log_records import walk
from adhere.trial.writing.processor import CommandProcessor
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
    with closing(open_store(path, read_only=True)) as store, store.reading() as view:
        *_, last = (decode(record.body) for record in walk(view, view.trials()["headache"]))
    assert isinstance(last, EpochBegun)
    assert (last.n_lost, last.reason, last.by) == (3, "the -wal was deleted", "adhere trial accept-loss")
    assert in_this_process(capsys, *make).status == 0
    done = in_this_process(capsys, *accept)
    assert (done.status, done.out) == (0, f"{path} has every acknowledged record; nothing was changed\n")


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
    assert (done.status, done.out) == (0, f"{whole} has every acknowledged record; nothing was changed\n")
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


def test_an_operator_begins_a_new_epoch(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where records may be lost and adhere cannot tell: in every trial that goes on."""
    whole = path.with_name("running.db")
    with closing(open_store(whole)) as store:
        processor = CommandProcessor(store)
        processor.create(make_design("over", "uniform", ["walk", "aspirin"]))
        send(processor, ChangeStatus(trial="over", request_id="c", status="closed", reason="done"))
    done = in_this_process(capsys, "trial", "new-epoch", str(whole), "--reason", "set back to a snapshot")
    assert (done.status, done.out) == (0, f"{whole}: a new epoch in 1 trial\n")
    with closing(open_store(whole)) as store:
        send(CommandProcessor(store), Recommend(trial="headache", request_id="r3", subject="s3"))
        with store.reading() as view:
            numbers = view.trials()
            events = [decode(record.body) for record in walk(view, numbers["headache"])]
            assert view.head(numbers["over"]).position == 2  # created and closed
    (begun,) = (event for event in events if isinstance(event, EpochBegun))
    assert (begun.reason, begun.by) == ("set back to a snapshot", "adhere trial new-epoch")
    (begun,) = [event for event in events if isinstance(event, EpochBegun)]
    assert [event.epoch for event in events if isinstance(event, Recommended)] == ["", "", "", begun.commitment]
    assert in_this_process(capsys, "trial", "verify", str(whole)).status == 0
