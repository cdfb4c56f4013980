"""How a design would behave, simulated by the service in a process of its own, one at a time."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import adhere
from adhere.service.http.problems import ProblemError
from adhere.service.jobs.child_process import reap, spawn
from adhere.service.jobs.simulations import Simulations
from service.both_clients import BOTH, MakeClient
from service.holding import files_of, hold, release, release_until_more_are_done, simulations_of
from service.serving import ARMS, Service, as_process, in_file, wait_until
from service.test_jobs import nicer_than
from slow import slow

DESIGN: dict[str, Any] = {"name": "never made", "policy": "thompson", "arms": ARMS, "n_patients": 100}
GRID = {"effect": [0.3], "compliance": [0.8]}
OF_A_FILE = 'name = "a"\npolicy = "uniform"\narms = ["a", "b"]\n[scenarios]\npopulations = ["/etc/hosts"]'
LONG: dict[str, Any] = {"design": {**DESIGN, "n_patients": 2_000}, "scenarios": {}, "n_trials": 5_000}


@pytest.fixture(scope="module")
def simulating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with in_file(tmp_path_factory.mktemp("simulating") / "trials.db") as running:
        running.token("statistician")
        yield running


def state_of(service: Service, number: int, role: str = "admin") -> dict[str, Any]:
    found: dict[str, Any] = service.send("GET", f"/simulations/{number}", role=role).json
    return found


@pytest.mark.parametrize("make", [BOTH["Client"], slow(BOTH["AsyncClient"])], ids=BOTH)
def test_it_finds_what_evaluate_finds_with_the_same_seed(
    simulating: Service, make: MakeClient, tmp_path: Path
) -> None:
    expected = adhere.evaluate(adhere.load_design(DESIGN), GRID, n_trials=200, seed=7, progress=False).to_json()
    with make(simulating.url, simulating.admin) as client:
        started = client.start_simulation(DESIGN, GRID, n_trials=200, seed=7)
        wait_until(lambda: client.simulation(started.id).state == "done", 240)
        found = client.simulation(started.id)
        client.simulation_report(started.id, tmp_path / "report.html")
        client.stop_simulation(started.id)
        with pytest.raises(adhere.UnknownError, match="simulation"):
            client.simulation(started.id)
    assert (found.seed, found.n_trials, found.done, found.total) == ("7", 200, 60_000, 60_000)
    assert found.scenarios is not None
    assert [one.name for one in found.scenarios] == [one["name"] for one in expected["scenarios"]]
    assert {one.baseline for one in found.scenarios} == {0.5}
    for ours, theirs in zip(found.scenarios, expected["results"], strict=True):
        assert ours.to_dict()["characteristics"] == theirs["characteristics"]
    assert "never made" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_progress_rises_a_second_one_waits_and_both_stop(simulating: Service) -> None:
    first = simulating.send("POST", "/simulations", LONG)
    assert first.status == 201, first.json
    number = first.json["id"]
    refused = simulating.send("POST", "/simulations", LONG)
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert "not done yet" in refused.json["detail"]
    second = simulating.send("POST", "/simulations", LONG, role="statistician").json["id"]
    listed = simulating.client().simulations()[0]
    assert (listed.id, listed.name, listed.state in ("waiting", "running")) == (number, LONG["design"]["name"], True)
    assert [one.id for one in simulating.client("statistician").simulations()] == [second]
    process = hold(os.getpid(), number)
    done = [state_of(simulating, number).get("done", 0)]
    for _ in range(2):
        release_until_more_are_done(process)
        done.append(state_of(simulating, number)["done"])
    assert 0 == done[0] < done[1] < done[2] <= 2_000 * 5_000 * 2 == state_of(simulating, number)["total"]
    assert state_of(simulating, second, "statistician")["state"] == "waiting"
    assert second not in simulations_of(os.getpid())
    assert os.getpriority(os.PRIO_PROCESS, process) == nicer_than(os.getpid())
    assert simulating.send("GET", f"/simulations/{number}/report").status == 404
    for one, role in ((second, "statistician"), (number, "admin")):
        assert simulating.send("GET", f"/simulations/{one}", role="other").status == 403
        assert simulating.send("DELETE", f"/simulations/{one}", role=role).status == 204
        assert state_of(simulating, one, role)["state"] == "stopped"
    assert simulating.send("GET", f"/simulations/{number}", role="statistician").status == 404
    assert {number, second}.isdisjoint(simulations_of(os.getpid()))


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"n_trials": 100_000}, "n_trials", "at most 5,000 trials"),
        ({"design": {**DESIGN, "n_patients": None}}, "n_patients", "needed to simulate"),
        ({"scenarios": {"effect": [0.9]}}, "scenarios", "expected from 0 to 1"),
        ({"scenarios": {"baseline": [0.3, 1.5]}}, "scenarios.baseline", "a number from 0 to 1"),
        ({"design": OF_A_FILE, "scenarios": None}, "scenarios.populations", "a grid"),
    ],
)
def test_what_is_too_much_or_wrong_is_refused_before_it_starts(
    simulating: Service, change: dict[str, Any], field: str, said: str
) -> None:
    body = {"design": {**DESIGN, "n_patients": 2_000}, "scenarios": {}, "n_trials": 10, **change}
    reply = simulating.send("POST", "/simulations", body)
    assert (reply.status, reply.json["field"]) == (422, field)
    assert said in reply.json["detail"]


def test_processes_of_one_service_share_what_they_simulate(tmp_path: Path) -> None:
    first, second = Simulations(str(tmp_path)), Simulations(str(tmp_path))
    design = adhere.load_design({**DESIGN, "n_patients": 2_000})
    try:
        running = first.start(1, design, {}, 5_000, 0, total=20_000_000)
        hold(os.getpid(), running)
        assert second.find(1, running)[1].state == "running"
        waiting = second.start(2, design, {}, 5_000, 0, total=20_000_000)
        with pytest.raises(ProblemError, match="not done yet"):
            second.start(1, design, {}, 5_000, 0, total=20_000_000)
        assert first.find(2, waiting)[1].state == "waiting"
        later = first.start(3, design, {}, 5_000, 0, total=20_000_000)
        second.stop(1, running)
        assert first.find(1, running)[1].state == "stopped"
        held = hold(os.getpid(), waiting)
        assert second.find(3, later)[1].state == "waiting"  # one after the other
        first.stop(3, later)
        os.kill(held, signal.SIGKILL)
        wait_until(lambda: first.find(2, waiting)[1].state == "failed")
        assert first.find(2, waiting)[1].reason == "its process ended, perhaps for lack of memory"
        last = first.start(2, design, {}, 5_000, 0, total=20_000_000)
    finally:
        second.close()
        first.close()
    assert first.find(2, last)[1].state == "stopped"
    assert {running, waiting, last}.isdisjoint(simulations_of(os.getpid()))


@pytest.mark.slow
def test_it_ends_with_a_service_that_was_killed_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with as_process(tmp_path / "trials.db", tmp_path) as running:
        service = running.service
        number = service.send("POST", "/simulations", LONG).json["id"]
        process = hold(running.process.pid, number)
        files = files_of(process)
        assert files is not None
        assert state_of(service, number)["state"] == "running"
        running.process.kill()
        running.process.wait()
        release(process)
        wait_until(lambda: not Path(f"/proc/{process}").exists() and not files.folder.parent.exists(), 60)


def test_it_leaves_nothing_behind_where_the_service_is_killed_before_it_has_said_what_to_simulate(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "simulations" / "7"
    folder.mkdir(parents=True)
    (folder / "state").write_text("{}")
    process = spawn("adhere.service.jobs.simulation_process", str(folder), is_shared=True)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0
    reap(process)
    assert not folder.parent.exists()
