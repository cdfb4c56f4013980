"""SIGHUP ends the service as SIGTERM does, workers included; workers that cannot start end it too."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from adhere.client import Client, ServiceError
from service.serving import ARMS, Process, as_process, wait_until

DEFAULT = ("env", "--default-signal=HUP")  # the tests may run under nohup
ONLY_IN_WORKERS = """
from multiprocessing import parent_process

if parent_process() is not None:
    raise RuntimeError("not in a worker")
"""


def end_while_asked(running: Process, number: int) -> None:
    """Every request that was begun is answered, and the program ends in good order."""
    service = running.service
    wait_until(lambda: service.send("GET", "/readyz").status == 200, 60)
    Client(service.url, service.admin).create_trial("t", "uniform", ARMS)
    acknowledged: list[str] = []
    errors: list[str] = []

    def keep_asking() -> None:
        client = Client(service.url, service.admin, tries=0)
        while not errors:
            try:
                acknowledged.append(client.recommend("t", f"S-{len(acknowledged)}").id)
            except ServiceError as error:
                errors.append(str(error))

    asker = threading.Thread(target=keep_asking)
    asker.start()
    wait_until(lambda: len(acknowledged) > 20, 60)
    code, written = running.stop(number)
    asker.join()
    assert code == 0, written
    assert "Traceback" not in written
    assert all(json.loads(line) for line in written.splitlines())


def test_hangup_ends_it(tmp_path: Path) -> None:
    with as_process(tmp_path / "trials.db", tmp_path, by=DEFAULT) as running:
        end_while_asked(running, signal.SIGHUP)


def test_nohup_keeps_it() -> None:
    code = "from adhere.service.http.http_server import ENDING_SIGNALS; print(len(ENDING_SIGNALS))"
    for how, expected in (("--default-signal=HUP", "3"), ("--ignore-signal=HUP", "2")):
        command = ["env", how, sys.executable, "-c", code]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == expected


@pytest.mark.slow
def test_a_signal_that_comes_before_the_server_runs_ends_it(tmp_path: Path) -> None:
    code = """if True:
        import os, signal
        from adhere.service.http.http_server import HttpServer
        from adhere.service.serve import serve
        from adhere.service.settings import ServiceSettings

        run = HttpServer.run
        def run_late(self, sockets):
            os.kill(os.getpid(), signal.SIGTERM)
            run(self, sockets)
        HttpServer.run = run_late
        serve(ServiceSettings(data="adhere.db", port=0, admin_token_file="token"))
    """
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_signal_right_after_it_says_that_it_serves_ends_it(
    n_workers: int, database_url: str, tmp_path: Path
) -> None:
    code = f"""if True:
        import os, signal
        from adhere.service import serve
        from adhere.service.settings import ServiceSettings

        announce = serve._announce
        def announce_and_end(*arguments):
            announce(*arguments)
            os.kill(os.getpid(), signal.SIGTERM)
        serve._announce = announce_and_end
        if __name__ == "__main__":
            serve.serve(ServiceSettings(
                database_url={database_url!r}, port=0, workers={n_workers}, admin_token_file="token"
            ))
    """
    (tmp_path / "temporary").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "temporary")},
    )
    assert ended.returncode == 0, ended.stderr
    assert "Serving on" in ended.stdout
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.slow
def test_hangup_ends_all_workers(database_url: str, tmp_path: Path) -> None:
    with as_process(database_url, tmp_path, "--workers", "2", by=DEFAULT) as running:
        wait_until(lambda: len(workers(running)) == 2, 60)
        os.kill(workers(running)[0], signal.SIGKILL)
        wait_until(lambda: len(workers(running)) == 3, 60)  # one that ends alone is replaced
        end_while_asked(running, signal.SIGHUP)
        for number in workers(running):
            with pytest.raises(ProcessLookupError):
                os.kill(number, 0)


def workers(running: Process) -> list[int]:
    """The process numbers of all workers that ever served."""
    return [int(number) for number in re.findall(r"Started server process \[(\d+)\]", running.errors.read_text())]


@pytest.mark.slow
def test_workers_that_cannot_start_end_it(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.py"
    file.write_text(ONLY_IN_WORKERS)
    options = ["--database-url", database_url, "--port", "0", "--workers", "2", "--import", str(file)]
    options += ["--admin-token-file", str(tmp_path / "admin-token")]
    command = [sys.executable, "-m", "adhere", "serve", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 3
    lines = [json.loads(line) for line in ended.stderr.splitlines()]  # no traceback
    failures = [line["message"] for line in lines if "cannot start" in line["message"]]
    assert len(failures) >= 3
    assert all("not in a worker" in failure for failure in failures)
    assert re.fullmatch(r"no worker could start in [34] tries; the service ends", lines[-1]["message"])
