"""No byte of a log, nor of what is kept beside it, changes unseen; and the first record that did is named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from adhere.store import open_store
from adhere.store.sqlite import SqliteStore
from adhere.trial.domain.log_records import link
from adhere.trial.log.log_file import read_log, write_log
from adhere.trial.log.verify import VerificationResult, verify

from ..live import Live

N_RECORDS = 8


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a trial of a few records of different kinds."""
    path = tmp_path_factory.mktemp("chain") / "trials.db"
    live = Live(store=open_store(path))
    for subject in ("Ann", "Bob", "Cem"):
        live.recommend(subject)
    live.report(0, actual="walk", reward=1.0)
    live.report(1, took_other="herbal tea")
    live.correct(0, reward=0.0)
    live.report(1, reward=1.0)
    live.store.close()
    return path


def copied(written: Path, to: Path) -> sqlite3.Connection:
    to.write_bytes(written.read_bytes())
    return sqlite3.connect(to)


def verdict_on(path: Path, head: str | None = None) -> VerificationResult:
    store = open_store(path, read_only=True)
    with store.reading() as view:
        found = verify(view, next(iter(view.trials().values())), head)
    store.close()
    return found


def test_a_log_as_it_was_written_is_whole(written: Path) -> None:
    assert verdict_on(written).fault is None
    assert verdict_on(written).n_records == N_RECORDS


@pytest.mark.parametrize("column", ["body", "hash"])
def test_every_byte_of_every_record_counts(written: Path, column: str) -> None:
    """Flip each byte in turn: that record, and none before it, is named."""
    store = SqliteStore(None)
    with sqlite3.connect(written) as file:
        file.backup(store._connection)
    file.close()
    change = store._connection.execute
    for position in range(1, N_RECORDS + 1):
        (original,) = change(f"SELECT {column} FROM records WHERE position = ?", (position,)).fetchone()
        for place in range(len(original)):
            flipped = bytearray(original)
            flipped[place] ^= 1 << (place % 8)
            change(f"UPDATE records SET {column} = ? WHERE position = ?", (bytes(flipped), position))
            with store.reading() as view:
                fault = verify(view, 1).fault
            assert fault is not None
            assert fault.position == position
        change(f"UPDATE records SET {column} = ? WHERE position = ?", (original, position))
    with store.reading() as view:
        assert verify(view, 1).fault is None
    store.close()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DELETE FROM records WHERE position = 3", 3),
        ("UPDATE records SET request_id = request_id || 'x' WHERE position = 4", 4),
        ("UPDATE records SET recommendation_index = 7 WHERE position = 5", 5),
        ("UPDATE records SET recommendation_index = NULL WHERE position = 4", 4),
        ("UPDATE records SET subject = 'x' WHERE position = 2", 2),
        ("UPDATE records SET position = 99 WHERE position = 6", 6),
        ("UPDATE trials SET hash = zeroblob(32)", 9),
        ("UPDATE subjects SET pseudonym = 'Leeds/Eve' WHERE pseudonym = 'Leeds/Bob'", 8),
        ("UPDATE notes SET text = 'coffee'", 6),
        ("DELETE FROM notes", 6),
        ("DELETE FROM subjects WHERE pseudonym = 'Leeds/Bob'", 8),
        ("UPDATE subjects SET latest = 2 WHERE pseudonym = 'Leeds/Bob'", 8),
        ("UPDATE trials SET name = 'another'", 1),
        ("INSERT INTO records SELECT trial, 0, body, hash, NULL, 0, NULL FROM records WHERE position = 2", 1),
        ("UPDATE records SET body = CAST(body AS TEXT) WHERE position = 5", 5),
        ("UPDATE records SET hash = CAST(hash AS TEXT) WHERE position = 5", 5),
        ("UPDATE trials SET position = 'x'", 8),
        ("UPDATE subjects SET salt = 'abc'", 8),
        ("UPDATE notes SET text = x'ff00'", 8),
        ("UPDATE secrets SET secret = zeroblob(32)", 1),
        ("UPDATE secrets SET secret = 'abc'", 8),
    ],
)
def test_what_is_beside_the_text_counts_too(written: Path, tmp_path: Path, change: str, named: int) -> None:
    file = copied(written, tmp_path / "tampered.db")
    file.execute(change)
    file.commit()
    fault = verdict_on(tmp_path / "tampered.db").fault
    assert fault is not None
    assert fault.position == named


def test_a_record_with_a_new_hash_of_its_own_is_seen_by_the_next_one(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with copied(written, path) as file:
        (before,), (body,) = (
            file.execute(f"SELECT {column} FROM records WHERE position = {at}").fetchone()
            for column, at in (("hash", 4), ("body", 5))
        )
        changed = body.replace(b"1.0", b"0.0")
        assert changed != body
        file.execute("UPDATE records SET body = ?, hash = ? WHERE position = 5", (changed, link(before, changed)))
    file.close()
    fault = verdict_on(path).fault
    assert fault is not None
    assert fault.position == 6


def test_a_cut_tail_is_seen_with_the_head_of_an_export(written: Path, tmp_path: Path) -> None:
    head = verdict_on(written).head
    path = tmp_path / "cut.db"
    file = copied(written, path)
    file.execute("DELETE FROM records WHERE position = ?", (N_RECORDS,))
    file.execute(
        "UPDATE trials SET position = position - 1, hash = (SELECT hash FROM records ORDER BY position DESC LIMIT 1)"
    )
    file.commit()
    assert verdict_on(path).fault is None  # whoever cut it mended the head beside it
    cut = verdict_on(path, head).fault
    assert cut is not None
    assert "its end was cut off" in cut.what
    assert verdict_on(written, head).fault is None


def test_a_log_file_comes_back_the_same(written: Path, tmp_path: Path) -> None:
    store, copy = open_store(written, read_only=True), open_store()
    with store.reading() as view:
        head = write_log(view, 1, tmp_path / "t.log")
        before = (view.records(1), list(view.subjects(1)), view.notes(1))
    store.close()
    assert read_log(tmp_path / "t.log", copy) == ("t", None)
    with copy.reading() as view:
        assert (view.records(1), list(view.subjects(1)), view.notes(1)) == before
        assert verify(view, 1, head).fault is None


def test_every_byte_of_a_log_file_counts(written: Path, tmp_path: Path) -> None:
    store = open_store(written, read_only=True)
    with store.reading() as view:
        write_log(view, 1, tmp_path / "t.log")
    store.close()
    lines = (tmp_path / "t.log").read_bytes().splitlines(keepends=True)
    for number in range(1, len(lines)):
        for place in range(0, len(lines[number]) - 1, 7):
            line = bytearray(lines[number])
            line[place] ^= 1
            (tmp_path / "x.log").write_bytes(b"".join([*lines[:number], bytes(line), *lines[number + 1 :]]))
            copy = open_store()
            _, fault = read_log(tmp_path / "x.log", copy)
            assert fault is not None, (number, place)
            if number <= N_RECORDS:
                assert fault.position == number
            with copy.reading() as view:
                assert view.trials() == {}  # nothing half-way
            copy.close()
