"""The service as a program: it starts, it ends, and what it has acknowledged stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from adhere.client import Client, ServiceError
from adhere.errors import InputError
from adhere.service.serve import serve
from adhere.service.settings import ServiceSettings
from adhere.service.starting import LATER
from adhere.store import open_store
from adhere.trial.log.verify import verify
from service.serving import ARMS, as_process, wait_until


@pytest.mark.slow
def test_ending_under_load_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    database = tmp_path / "trials.db"
    acknowledged: dict[str, str] = {}
    with as_process(database, tmp_path) as running:
        token, url = running.service.admin, running.service.url
        Client(url, token).create_trial("t", "uniform", ARMS)
        second = _second(database)

        def keep_asking(who: int) -> None:
            client, turn = Client(url, token, tries=0), 0
            while True:
                subject = f"S-{who}-{turn}"
                try:
                    acknowledged[subject] = client.recommend("t", subject, request_id=subject).id
                except ServiceError:  # it has ended
                    return
                turn += 1

        askers = [threading.Thread(target=keep_asking, args=(who,)) for who in range(8)]
        for asker in askers:
            asker.start()
        wait_until(lambda: len(acknowledged) > 200)
        code, errors = running.stop(signal.SIGTERM)
        for asker in askers:
            asker.join()
    assert code == 0, errors
    assert "Traceback" not in errors
    assert second.returncode == LATER
    assert "is being written by another process" in second.stderr
    assert len(second.stderr.splitlines()) == 1
    with as_process(database, tmp_path, token=token) as again:
        assert not any("token" in line for line in again.said)
        client = again.service.client()
        for subject, number in acknowledged.items():
            assert client.recommend("t", subject, request_id=subject).id == number
        assert len(acknowledged) <= (client.trial("t").recommendations or 0) <= len(acknowledged) + 8
        assert again.stop(signal.SIGINT)[0] == 0
    store = open_store(database, read_only=True)
    with store.reading() as view:
        assert verify(view, view.trials()["t"]).fault is None
    store.close()


def _second(database: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "adhere",
        "serve",
        "--data",
        str(database),
        "--port",
        "0",
        "--start-seconds",
        "0",
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_several_workers_need_postgresql(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers: got 2, expected 1: only PostgreSQL"):
        serve(ServiceSettings(data=str(tmp_path / "trials.db"), workers=2))
    with pytest.raises(InputError, match="workers: got 0"):
        serve(ServiceSettings(workers=0))
    assert not list(tmp_path.iterdir())
