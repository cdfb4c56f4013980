"""A job that fails leaves nothing broken behind: Polars that has panicked fails for as long as its process lives."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from polars.exceptions import PanicException

from adhere.design.make_design import make_design
from adhere.policies import import_policies
from adhere.policies.base.registry import registry
from adhere.service.jobs import job_functions
from adhere.service.jobs.child_process import ChildProcess, JobProcessError
from adhere.service.jobs.job_functions import FUNCTIONS
from adhere.service.jobs.jobs import Jobs
from adhere.store import open_store
from adhere.trial.writing.processor import CommandProcessor
from service.serving import ARMS, Service, in_file, in_thread
from service.test_jobs import A_POLICY, processes_of

# What a process for jobs imports: in the first one, every table fails once one did.
FAILING = (
    A_POLICY.replace("job-test-policy", "failing-job-policy")
    + """
import sys
from pathlib import Path

from polars.exceptions import ComputeError, PanicException

first = Path(__file__).with_name("first")


def fail(*arguments):
    raise ERROR("a thread could not be started")


if "child_process" in " ".join(sys.orig_argv) and not first.exists():
    from adhere.service.jobs.job_functions import FUNCTIONS

    first.touch()
    FUNCTIONS["table"] = fail
"""
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "told_as", "saying"),
    [("PanicException", JobProcessError, "broke off: PanicException"), ("ComputeError", Exception, "thread")],
)
def test_a_process_in_which_a_job_failed_is_replaced(
    tmp_path: Path, error: str, told_as: type[Exception], saying: str
) -> None:
    file = tmp_path / f"failing_{error.lower()}.py"
    file.write_text(FAILING.replace("ERROR", error))
    import_policies(file)
    store = open_store(tmp_path / "trials.db")
    processor = CommandProcessor(store)
    processor.create(make_design("t", "thompson/actual", ARMS))
    jobs = Jobs(processor)
    table = ("table", "t", "csv", str(tmp_path / "t.csv"))
    try:
        with pytest.raises(told_as, match=saying):
            asyncio.run(jobs.call(*table, n_records=1))
        assert len(asyncio.run(jobs.call(*table, n_records=1))) == 64  # the head's hash
    finally:
        del registry["failing-job-policy"]
        jobs.close()
        store.close()


def test_a_process_that_cannot_start_says_why_in_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    away = f"postgresql://nobody@127.0.0.1:{port}/trials"
    process = ChildProcess(job_functions.__name__, lambda: (away, None, []))
    try:
        for _ in range(2):  # the next job starts another, which fails alike
            with pytest.raises(JobProcessError, match="cannot start: ") as raised:
                process.call("results", "t")
            assert "\n" not in str(raised.value)
    finally:
        process.close()
    assert capfd.readouterr().err == ""


def test_tables_of_few_records_are_not_made_in_the_service_itself(tmp_path: Path) -> None:
    of_others = set(processes_of(os.getpid()))  # services of other tests in this process
    with in_file(tmp_path / "trials.db") as service:
        trial = service.new_trial()
        assert service.send("GET", f"/trials/{trial}/export?format=log").status == 200
        assert service.send("GET", f"/trials/{trial}/results").status == 200
        assert set(processes_of(os.getpid())) <= of_others
        assert service.send("GET", f"/trials/{trial}/export?format=parquet").status == 200
        assert len(set(processes_of(os.getpid())) - of_others) == 1


def test_a_panic_in_the_service_itself_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a store in memory, which no other process can read."""

    def panic(*_: Any) -> None:
        raise PanicException("a thread could not be started")

    with in_thread(open_store()) as service:
        trial = service.new_trial()
        with monkeypatch.context() as patched:
            patched.setitem(FUNCTIONS, "table", panic)
            reply = service.send("GET", f"/trials/{trial}/export")
        assert (reply.status, reply.headers.get("retry-after")) == (503, "1")
        assert service.send("GET", f"/trials/{trial}/export").status == 200


def test_a_token_may_ask_for_the_next_export_as_soon_as_it_has_one(service: Service) -> None:
    path = f"/trials/{service.new_trial()}/export?format=log"
    assert [service.send("GET", path).status for _ in range(100)] == [200] * 100
