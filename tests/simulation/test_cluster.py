"""A simulation on a Dask cluster: the same numbers to the bit, whatever happens to its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from adhere import InputError, SimulationResult, simulate
from adhere.simulation.execution.cluster import WorkersLostError
from evaluation.evaluations import evaluate_designs, numbers
from slow import slow

from .dask_processes import DaskProcesses, dask_processes
from .executors import Chance, Faulty, arm_seven, die

POLICIES, POPULATIONS = ["thompson", "uniform"], ["defiers", "rich-and-poor"]


class Meanwhile:
    """Does something once, when the first tasks are finished."""

    def __init__(self, something: Callable[[], None]) -> None:
        self._something: Callable[[], None] | None = something
        self.said: list[str] = []

    def announce(self, message: str) -> None:
        self.said.append(message)

    def advance_to(self, n_patients: int) -> None:
        if n_patients and self._something is not None:
            something, self._something = self._something, None
            something()


def run(executor: Executor | None, progress: Meanwhile | None = None) -> SimulationResult:
    # 12 blocks for each population, sent three at a time.
    return simulate(POLICIES, POPULATIONS, 1000, 12_000, seed=5, grid=5, executor=executor, progress=progress)


@pytest.fixture(scope="module")
def on_threads() -> SimulationResult:
    return run(None)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    with dask_processes(tmp_path_factory.mktemp("dask"), "first", "second") as processes:
        yield processes


@pytest.fixture
def client(dask: DaskProcesses) -> Iterator[Any]:
    from distributed import Client

    with Client(dask.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        yield client


@pytest.mark.parametrize("workers", [slow(["first"]), ["first", "second"]])
def test_the_number_of_workers_does_not_matter(client: Any, workers: list[str], on_threads: SimulationResult) -> None:
    assert run(client.get_executor(workers=workers)) == on_threads


@pytest.mark.slow
def test_trials_of_a_design(client: Any) -> None:
    assert numbers(evaluate_designs(executor=client.get_executor())) == numbers(evaluate_designs())


@pytest.mark.slow
def test_a_worker_killed_in_the_middle(client: Any, dask: DaskProcesses, on_threads: SimulationResult) -> None:
    dask.add("doomed")
    address = next(key for key, one in client.scheduler_info()["workers"].items() if one["name"] == "doomed")
    lost = []

    def kill() -> None:
        lost.extend(client.processing()[address])
        dask.kill("doomed")

    assert run(client.get_executor(), Meanwhile(kill)) == on_threads
    assert lost  # it was at work
    assert address not in client.nthreads()


def test_a_large_policy_of_plain_python(client: Any) -> None:
    populations = [*POPULATIONS, "stroke-aspirin", "uniform-other"]
    policy = Chance(1 << 20)
    sent = simulate(policy, populations, 20, 20, executor=client.get_executor())
    assert sent == simulate(policy, populations, 20, 20)


def test_a_class_that_only_this_process_knows(client: Any) -> None:
    class Local(Chance):
        pass

    alone, together = (simulate(Local(), "defiers", 5, 50, executor=one) for one in (None, client.get_executor()))
    assert alone == together


def test_errors_of_a_worker_reach_the_caller(client: Any) -> None:
    with pytest.raises(InputError, match=r"^arm chosen by faulty: got 7, expected a whole number from 0 to 1$"):
        simulate(Faulty(arm_seven), "defiers", 10, 10, executor=client.get_executor())


@pytest.mark.slow
def test_workers_that_die_again_and_again_are_explained(client: Any, dask: DaskProcesses) -> None:
    dask.add("one", "two")
    executor = client.get_executor(workers=["one", "two"])
    with pytest.raises(WorkersLostError, match=r"^2 workers of the cluster died at one task"):
        simulate(Faulty(die), "defiers", 10, 10, executor=executor)
    assert simulate("uniform", "defiers", 10, 10, executor=client.get_executor()).config.n_runs == 10


@pytest.mark.slow
def test_all_workers_gone_and_another_come(tmp_path: Path, on_threads: SimulationResult) -> None:
    from distributed import Client

    with (
        dask_processes(tmp_path, "only") as dask,
        Client(dask.address, set_as_default=False) as client,  # type: ignore[no-untyped-call]
    ):
        progress = Meanwhile(lambda: dask.kill("only"))
        said = progress.announce

        def announce(message: str) -> None:
            said(message)
            dask.add("other")

        progress.announce = announce  # type: ignore[method-assign]
        assert run(client.get_executor(), progress) == on_threads
        assert progress.said == ["all workers are gone; waiting for others"]


@pytest.mark.slow
def test_a_cluster_without_workers_is_refused_at_once(tmp_path: Path) -> None:
    from distributed import Client

    with (
        dask_processes(tmp_path) as dask,
        Client(dask.address, set_as_default=False) as client,  # type: ignore[no-untyped-call]
        pytest.raises(InputError, match=r"executor: .*at least one worker"),
    ):
        run(client.get_executor(), Meanwhile(lambda: None))


@pytest.mark.slow
def test_a_scheduler_that_dies_is_explained(tmp_path: Path) -> None:
    from distributed import Client

    with (
        dask_processes(tmp_path, "only") as dask,
        Client(dask.address, set_as_default=False) as client,  # type: ignore[no-untyped-call]
        pytest.raises(WorkersLostError, match=r"its scheduler can no longer be reached|connection .* is lost"),
    ):
        run(client.get_executor(), Meanwhile(dask.scheduler.kill))
