"""Scheduled verification: heads in a file of the operator's choice, which the logs must continue."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import filelock
import pytest

from adhere.design.make_design import make_design
from adhere.errors import InputError
from adhere.service.jobs.job_functions import FUNCTIONS
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings
from adhere.service.settings_sources import read_settings
from adhere.service.verification import HeadsFileError, VerifiedHead, append_head, read_heads
from adhere.store import open_store
from adhere.trial.writing.processor import CommandProcessor
from service.serving import Service, in_file, wait_until

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def heads(tmp_path: Path) -> Path:
    return tmp_path / "heads.jsonl"


@pytest.fixture
def verified(tmp_path: Path, heads: Path) -> Iterator[Service]:
    """A service that verifies its trials all the time."""
    with in_file(tmp_path / "trials.db", ServiceSettings(verify_heads=str(heads), verify_every=0.1)) as service:
        yield service


def metric(service: Service, name: str) -> float:
    """The value of a metric; not a number if there is none."""
    lines = service.send("GET", "/metrics").body.decode().splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith(f"{name} ")), math.nan)


def test_what_is_not_verified_raises_no_alert(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        service.new_trial()
        assert math.isnan(metric(service, "adhere_verified_timestamp_seconds"))


def test_every_head_found_is_added_to_the_file(verified: Service, heads: Path) -> None:
    trial = verified.new_trial()
    for subject in ("S-1", "S-2"):
        verified.client().recommend(trial, subject)
        now = verified.client().trial(trial).head
        wait_until(lambda now=now: heads.exists() and now in heads.read_text())  # type: ignore[misc]
    (last,) = read_heads(heads).values()
    assert (last.trial, last.record, last.head) == (trial, 3, now)
    assert heads.stat().st_mode & 0o777 == 0o600
    wait_until(lambda: abs(metric(verified, "adhere_verified_timestamp_seconds") - last.at.timestamp()) < 60)
    assert metric(verified, "adhere_verify_faults_total") == 0


@pytest.mark.parametrize("fault", ["changed", "cut off", "gone", "unreadable"])
def test_a_log_that_does_not_continue_its_head_is_a_fault(
    verified: Service, heads: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    trial = verified.new_trial()
    verified.client().recommend(trial, "S-1")
    wait_until(heads.exists)
    with filelock.FileLock(f"{heads}.lock"):  # as other workers take it, so that no line is added meanwhile
        if fault == "changed":
            with closing(sqlite3.connect(tmp_path / "trials.db")) as file, file:
                file.execute("UPDATE records SET body = CAST(body || ' ' AS BLOB) WHERE position = 2")
        if fault == "cut off":  # as after the restore of an older backup: the head found last is not in this log
            append_head(heads, VerifiedHead(LONG_AGO, trial, 9, "5d" * 32))
        if fault == "gone":
            append_head(heads, VerifiedHead(LONG_AGO, "another", 9, "5d" * 32))
        if fault == "unreadable":
            with heads.open("a") as opened:
                opened.write("{}\n")
    wait_until(lambda: metric(verified, "adhere_verify_faults_total") > 0)
    said = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    expected = {
        "changed": f"trial {trial}, record 2: its hash does not match",
        "cut off": "its end was cut off, or it is another log",
        "gone": "trial another has a head in",
        "unreadable": "heads.jsonl, line ",
    }
    assert expected[fault] in said[0]
    assert verified.send("GET", "/readyz", role=None).status == 200


def test_a_first_record_that_cannot_be_read_is_a_fault_too(tmp_path: Path) -> None:
    store = open_store(tmp_path / "trials.db")
    CommandProcessor(store).create(make_design("headache", "thompson/actual", ["walk", "aspirin"]))
    with store.writing() as writing:
        writing.run("UPDATE records SET body = ?", (b"{",))
    fault = FUNCTIONS["verify"](CommandProcessor(store), "headache").fault
    store.close()
    assert "record 1: its hash does not match" in str(fault)


def test_the_file_must_be_in_an_existing_folder(tmp_path: Path) -> None:
    here = str(tmp_path / "heads.jsonl")
    assert read_settings({"verify_heads": here, "verify_every": "3600"}, None).settings.verify_heads == here
    with pytest.raises(InputError, match="a file in an existing folder"):
        read_settings({"verify_heads": str(tmp_path / "nowhere" / "heads.jsonl")}, None)


def test_half_a_line_does_not_count_and_is_overwritten(heads: Path) -> None:
    first, second = (VerifiedHead(LONG_AGO, "headache", record, "5d" * 32) for record in (1, 2))
    assert read_heads(heads) == {}
    append_head(heads, first)
    with heads.open("a") as file:
        file.write('{"at": "2026')
    assert read_heads(heads) == {"headache": first}
    append_head(heads, second)
    assert read_heads(heads) == {"headache": second}
    assert heads.read_text().count("\n") == 2
    heads.write_text("nothing\n")
    with pytest.raises(HeadsFileError, match="line 1"):
        read_heads(heads)


@pytest.mark.parametrize("content", [None, b"SQLite format 3\0", b"my notes\n", b"my notes"])
def test_a_file_of_something_else_is_refused_at_start_and_not_changed(
    tmp_path: Path, heads: Path, content: bytes | None
) -> None:
    if content is None:
        heads.mkdir()
    else:
        heads.write_bytes(content)
    settings = ServiceSettings(data=str(tmp_path / "trials.db"), port=0, verify_heads=str(heads))
    with pytest.raises(InputError, match=r"--verify-heads: got .* expected a file of verified heads, or a new one"):
        serve(settings)
    assert heads.is_dir() if content is None else heads.read_bytes() == content
    assert not list(tmp_path.glob("trials.db*"))
