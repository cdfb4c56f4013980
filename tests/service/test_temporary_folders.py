"""A cleaner that empties the folder of temporary files costs what was in it, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

from adhere.service.jobs.simulation_files import SimulationFiles, SimulationState
from adhere.service.jobs.simulations import Simulations
from adhere.service.temporary_folders import turn
from service.serving import as_process, in_file, wait_until
from service.test_ending import workers

COUNTED_AGAIN = """if True:
    import os, pathlib, shutil
    from adhere.service.metrics import FOLDER_VARIABLE, Metrics

    folder = os.environ[FOLDER_VARIABLE]
    metrics = Metrics()
    metrics.count_commit(3, 0.1)
    assert b"adhere_commits_total 1.0" in metrics.text()
    shutil.rmtree(folder)
    assert b"adhere_commits_total 0.0" in metrics.text()
    metrics.count_commit(3, 0.1)
    metrics.count_request("/trials", "GET", 200, 0.1)
    assert b"adhere_commits_total 1.0" in metrics.text()
    shutil.rmtree(folder)
    metrics.set_verified(1.0)  # the first of its kind, in a file of its own
    assert b"adhere_verified_timestamp_seconds 1.0" in metrics.text()
    shutil.rmtree(folder)
    Metrics()  # as a worker that is started afterwards
    assert pathlib.Path(folder).stat().st_mode & 0o777 == 0o700
"""

READ_WHILE_MADE = """if True:
    import os, pathlib, threading, time
    from prometheus_client.mmap_dict import MmapedDict
    from adhere.service.metrics import FOLDER_VARIABLE, Metrics

    metrics = Metrics()
    file = pathlib.Path(os.environ[FOLDER_VARIABLE], "counter_another-1.db")
    file.touch()  # as another worker does first

    def fill():
        time.sleep(0.02)
        MmapedDict(str(file))

    thread = threading.Thread(target=fill)
    thread.start()
    assert b"adhere_commits_total 0.0" in metrics.text()
    thread.join()
"""


def empty(folder: Path) -> None:
    for one in folder.iterdir():
        shutil.rmtree(one)


def test_exports_are_made_after_a_cleaner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cleaned = tmp_path / "cleaned"
    cleaned.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(cleaned))
    with in_file(tmp_path / "trials.db") as service:
        path = f"/trials/{service.new_trial()}/export?format="
        for form in ("csv", "log", "csv"):
            assert service.send("GET", path + form).status == 200, form
            assert [stat.st_mode & 0o777 for stat in map(Path.stat, cleaned.iterdir())] == [0o700]
            empty(cleaned)
    assert not list(cleaned.iterdir())


def test_turns_are_taken_after_a_cleaner(tmp_path: Path) -> None:
    file = tmp_path / "shared" / "monitors"
    for _ in range(2):
        with turn(file, 1.0):
            assert file.parent.stat().st_mode & 0o777 == 0o700
        empty(tmp_path)


def test_a_simulation_whose_files_are_gone_before_it_begins_is_forgotten(tmp_path: Path) -> None:
    simulations = Simulations(str(tmp_path))
    begun = SimulationState(token=1, n_trials=10, seed=0, state="waiting")
    simulations._look_after(SimulationFiles(tmp_path / "1"), begun, ())
    assert simulations.of_token(1) == []


def test_metrics_are_counted_anew_after_a_cleaner(tmp_path: Path) -> None:
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics")}
    command = [sys.executable, "-c", COUNTED_AGAIN]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_metrics_are_read_while_another_worker_makes_its_files(tmp_path: Path) -> None:
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics")}
    command = [sys.executable, "-c", READ_WHILE_MADE]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_workers_go_on_and_are_replaced_after_a_cleaner(database_url: str, tmp_path: Path) -> None:
    cleaned = tmp_path / "cleaned"
    cleaned.mkdir()
    by = ("env", f"TMPDIR={cleaned}")
    with as_process(database_url, tmp_path, "--workers", "2", by=by) as running:
        service = running.service
        wait_until(lambda: len(workers(running)) == 2, 60)
        trial = f"/trials/{service.new_trial()}"
        design = {"name": "x", "policy": "uniform", "arms": ["a", "b"], "n_patients": 20}

        def check() -> None:
            for _ in range(8):  # so that both workers are met
                assert service.send("GET", f"{trial}/export?format=csv").status == 200
                text = service.send("GET", "/metrics")
                assert text.status == 200, text.body
            # A request is counted once it is answered, so the first ones may still be missing, but not the last.
            assert re.search(rb"adhere_http_requests_total\{\S+ [1-9]", text.body)
            assert service.send("POST", f"{trial}/recommendations", {"subject": uuid.uuid4().hex}).status == 201
            assert service.send("GET", f"{trial}/monitor").status == 200  # at another head, so that it is made
            started = service.send("POST", "/simulations", {"design": design, "scenarios": {}, "n_trials": 10})
            assert started.status == 201, started.body
            number = started.json["id"]
            wait_until(lambda: service.send("GET", f"/simulations/{number}").json["state"] == "done", 60)

        check()
        empty(cleaned)
        check()
        empty(cleaned)
        os.kill(workers(running)[0], signal.SIGKILL)
        wait_until(lambda: len(workers(running)) == 3, 60)
        check()
        code, errors = running.stop(signal.SIGTERM)
        assert code == 0, errors
        assert "Traceback" not in errors
        assert not list(cleaned.iterdir())
