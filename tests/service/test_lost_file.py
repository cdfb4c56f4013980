"""A database that is deleted or replaced under a running service: nothing more is acknowledged."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from signal import SIGTERM

import pytest

from adhere.cli.main import main
from adhere.store import RecordsLostError, open_store
from adhere.trial.domain.events import decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from service.serving import as_process, in_file, wait_until


def test_a_replaced_database_is_never_acknowledged_on(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with in_file(path) as service:
        trial = service.new_trial()
        assert service.send("POST", f"/trials/{trial}/recommendations", {"subject": "1"}).status == 201
        assert service.send("GET", "/readyz").status == 200
        shutil.copy(path, tmp_path / "other.db")
        (tmp_path / "other.db").replace(path)
        for _ in range(2):
            reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "2"})
            assert (reply.status, reply.json["type"]) == (503, "urn:adhere:problem:unavailable")
        assert service.send("POST", "/tokens", {"role": "admin", "label": "new"}).status == 503
        assert service.send("GET", f"/trials/{trial}").status == 503
        wait_until(lambda: service.send("GET", "/readyz").status == 503)


def test_an_overwritten_log_is_never_acknowledged_on(tmp_path: Path) -> None:
    path, wal = tmp_path / "trials.db", tmp_path / "trials.db-wal"
    with in_file(path) as service:
        trial = service.new_trial()
        assert service.send("POST", f"/trials/{trial}/recommendations", {"subject": "1"}).status == 201
        shutil.copyfile(wal, tmp_path / "older")
        assert service.send("POST", f"/trials/{trial}/recommendations", {"subject": "2"}).status == 201
        shutil.copyfile(tmp_path / "older", wal)
        for _ in range(2):
            reply = service.send("POST", f"/trials/{trial}/recommendations", {"subject": "3"})
            assert (reply.status, reply.json["type"]) == (503, "urn:adhere:problem:unavailable")
        wait_until(lambda: service.send("GET", "/readyz").status == 503)
    with pytest.raises(RecordsLostError, match="has 1 record fewer than were acknowledged"):
        open_store(path)
    with closing(open_store(path, read_only=True)) as store, store.reading() as view:
        assert view.head(view.trials()[trial]).position == 2  # what was copied there, and nothing else


@pytest.mark.slow
def test_a_service_starts_on_a_restored_backup_and_goes_on(tmp_path: Path) -> None:
    path, backup = tmp_path / "trials.db", tmp_path / "backup.db"
    with in_file(path) as service:
        trial, token = service.new_trial(), service.admin
        kept = service.client().recommend(trial, "1").id
        assert main(["trial", "backup", str(path), str(backup)]) == 0
        lost = service.client().recommend(trial, "2").id
    assert main(["trial", "restore", str(backup), "--into", str(path), "--replace"]) == 0
    for _ in range(2):
        with as_process(path, tmp_path, token=token) as program:
            assert program.service.send("GET", "/healthz").status == 200
            recommendations = f"/trials/{trial}/recommendations"
            assert program.service.send("POST", f"{recommendations}/{kept}/reports", {"reward": 1}).status == 201
            reply = program.service.send("POST", f"{recommendations}/{lost}/reports", {"reward": 0})
            assert reply.status == 404
            assert "do not send it again" in reply.json["detail"]
            assert program.service.client().recommend(trial, "2").id not in (kept, lost)
            assert len(program.service.client().trial(trial).commitments) == 2  # of one new epoch, not of each start
            assert program.service.client().verify(trial).whole
            assert program.stop(SIGTERM)[0] == 0
    with closing(open_store(path)) as store, store.reading() as view:
        events = [decode(record.body) for record in walk(view, view.trials()[trial])]
        assert replay(view, view.trials()[trial]).difference is None
    kinds = ["Created", "Recommended", "EpochBegun", "Reported", "Recommended", "Repeated", "Repeated"]
    assert [type(event).__name__ for event in events] == kinds
