"""Exports and results in a process of their own: nothing waits for it, and it ends with the service."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adhere.design.make_design import make_design
from adhere.errors import UnknownError
from adhere.policies import import_policies
from adhere.policies.base.registry import registry
from adhere.service.http.problems import ProblemError
from adhere.service.jobs import jobs
from adhere.service.jobs.child_process import NICENESS
from adhere.service.jobs.jobs import Jobs
from adhere.store import open_store
from adhere.trial.domain.commands import Recommend
from adhere.trial.writing.processor import CommandProcessor
from service.serving import ARMS, Reply, Service, as_process, in_file, wait_until

MOST_NICE = 19


@pytest.fixture(autouse=True)
def _all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_FEW_RECORDS", 0)


def processes_of(parent: int) -> list[int]:
    """The processes for jobs that a process has."""
    found = [
        int(number) for file in Path(f"/proc/{parent}/task").glob("*/children") for number in file.read_text().split()
    ]
    return [number for number in found if b"child_process" in Path(f"/proc/{number}/cmdline").read_bytes()]


class Asked:
    """Requests that are under way, each in a thread."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._threads: list[threading.Thread] = []
        self.replies: list[Reply] = []

    def ask(self, path: str, role: str) -> None:
        thread = threading.Thread(target=lambda: self.replies.append(self._service.send("GET", path, role=role)))
        thread.start()
        self._threads.append(thread)

    def wait(self) -> list[int]:
        for thread in self._threads:
            thread.join()
        return [reply.status for reply in self.replies]


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Service, str, int]]:
    """A service whose process for jobs has run once and stands still; its trial, and the process."""
    of_others = processes_of(os.getpid())  # services of other tests in this process
    with in_file(tmp_path / "trials.db") as service:
        trial = service.new_trial()
        assert service.send("GET", f"/trials/{trial}/export").status == 200
        (process,) = set(processes_of(os.getpid())) - set(of_others)
        os.kill(process, signal.SIGSTOP)
        try:
            yield service, trial, process
        finally:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def test_a_token_has_one_job_at_a_time_and_nothing_else_waits_for_it(stopped: tuple[Service, str, int]) -> None:
    service, trial, process = stopped
    service.token("statistician")
    under_way = Asked(service)
    for _ in range(2):
        under_way.ask(f"/trials/{trial}/export", "admin")
    wait_until(lambda: bool(under_way.replies))
    (refused,) = under_way.replies
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) >= 1
    under_way.ask(f"/trials/{trial}/export?format=log", "statistician")
    for path in ("/readyz", "/healthz", "/trials", f"/trials/{trial}", "/tokens"):
        assert service.send("GET", path).status == 200
    assert service.client().recommend(trial, "S-1").arm in ARMS
    assert len(under_way.replies) == 1
    os.kill(process, signal.SIGCONT)
    assert under_way.wait() == [429, 200, 200]
    # The threads that asked note their replies in any order.
    assert sorted(len(reply.body.splitlines()) for reply in under_way.replies[1:]) == [2, 5]
    assert service.send("GET", f"/trials/{trial}/results").json["recommendations"] == 1


@pytest.mark.slow
def test_a_job_whose_process_dies_can_be_asked_for_again(stopped: tuple[Service, str, int]) -> None:
    service, trial, process = stopped
    under_way = Asked(service)
    for _ in range(2):
        under_way.ask(f"/trials/{trial}/export", "admin")
    wait_until(lambda: bool(under_way.replies))
    os.kill(process, signal.SIGKILL)
    assert under_way.wait() == [429, 503]
    assert service.send("GET", f"/trials/{trial}/results").status == 200
    assert process not in processes_of(os.getpid())


@pytest.mark.slow
def test_it_is_nice_holds_no_port_and_ends_with_a_service_that_was_killed(tmp_path: Path) -> None:
    processor = CommandProcessor(store := open_store(tmp_path / "trials.db"))
    processor.create(make_design("t", "thompson/actual", ARMS))
    processor.execute([Recommend(trial="t", request_id=f"q{n}", subject=f"s{n}") for n in range(600)])
    store.close()
    with as_process(tmp_path / "trials.db", tmp_path) as running:
        reply = running.service.send("GET", "/trials/t/export?format=log")
        assert (reply.status, len(reply.body.splitlines())) == (200, 1 + 601 + 600 + 1)
        (process,) = processes_of(running.process.pid)
        assert os.getpriority(os.PRIO_PROCESS, process) == nicer_than(running.process.pid)
        opened = [str(file.readlink()) for file in Path(f"/proc/{process}/fd").iterdir()]
        assert not any(name.startswith("socket:") for name in opened)
        folder = Path(os.fsdecode(_environment(process)[b"TMPDIR"]))
        assert folder.is_dir()
        assert not list(folder.iterdir())
        running.process.kill()
        running.process.wait()
        wait_until(lambda: not Path(f"/proc/{process}").exists() and not folder.exists(), 60)


def nicer_than(parent: int) -> int:
    """The niceness of a process for jobs, which adds to that of the service; the tests may run under nice."""
    own = os.getpriority(os.PRIO_PROCESS, parent)
    assert own < MOST_NICE, "run the tests with a niceness below 19, or nothing can be nicer"
    return min(own + NICENESS, MOST_NICE)


def _environment(process: int) -> dict[bytes, bytes]:
    lines = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return dict(line.split(b"=", 1) for line in lines if b"=" in line)


def test_it_knows_policies_of_ones_own_and_passes_errors_on(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(A_POLICY)
    import_policies(file)
    store = open_store(tmp_path / "trials.db")
    processor = CommandProcessor(store)
    processor.create(make_design("t", "job-test-policy", ARMS))
    running = Jobs(processor)
    try:
        assert asyncio.run(running.call("verify", "t", n_records=1)).fault is None
        with pytest.raises(UnknownError, match="trial: got 'u'"):
            asyncio.run(running.call("results", "u", n_records=1))
        with running.turn(7), pytest.raises(ProblemError, match="one at a time"):
            asyncio.run(running.run(7, "results", "t", n_records=1))
    finally:
        del registry["job-test-policy"]
        running.close()
        store.close()
    with pytest.raises(RuntimeError, match="after shutdown"):
        asyncio.run(running.call("results", "t", n_records=1))


A_POLICY = '''
from adhere.policies import Learner, choose, implements, learn, policy


@policy("job-test-policy")
class Mine(Learner):
    """Always the first arm."""


@implements(choose, Mine)
def choose_mine(rule, state, memo, weight, rng):
    return 0


@implements(learn, Mine)
def learn_mine(rule, state, memo, arm, reward, weight, rng):
    pass
'''
