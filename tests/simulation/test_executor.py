"""Any backend, with any number of workers: the same numbers to the bit, and the executor left in order."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from adhere import InputError, PolicyError, SimulationResult, import_policies, simulate
from adhere.compilation import sources
from adhere.compilation.sources import noted_digest
from adhere.policies import Policy
from adhere.populations import as_population, defiers
from adhere.simulation.execution.backend import wait_for
from adhere.simulation.execution.cluster import WorkersLostError
from adhere.simulation.execution.executor import pack, unpack
from adhere.simulation.simulation_plan import SimulationPlan, SimulationRunner
from compilation.processes import write_fixed
from evaluation.evaluations import evaluate_designs, numbers

from .executors import Chance, Faulty, LastFirst, arm_seven, die, divide, processes, raise_particular

POLICIES, POPULATIONS = ["thompson", "uniform"], ["defiers", "rich-and-poor"]


def run(executor: Executor | None, *, pooled: bool = False, progress: Heard | None = None) -> SimulationResult:
    # 9 blocks for each population, sent three at a time.
    return simulate(
        POLICIES, POPULATIONS, 1000, 9000, seed=4, grid=5, pooled=pooled, executor=executor, progress=progress
    )


class Heard:
    """Writes down what it hears of the progress."""

    def __init__(self) -> None:
        self.patients: list[int] = []

    def announce(self, message: str) -> None:
        """Nothing is said of it here."""

    def advance_to(self, n_patients: int) -> None:
        self.patients.append(n_patients)


@pytest.fixture(scope="module")
def on_threads() -> SimulationResult:
    return run(None)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with processes(2) as executor:
        yield executor


def test_two_processes(pool: ProcessPoolExecutor, on_threads: SimulationResult) -> None:
    heard = Heard()
    assert run(pool, progress=heard) == on_threads
    assert heard.patients == sorted(heard.patients)
    assert heard.patients[-1] == 4 * 9000 * 1000
    assert len(set(heard.patients)) > 1


def test_a_task_that_finishes_while_progress_is_shown_is_not_lost() -> None:
    task: Future[int] = Future()
    assert wait_for(task, lambda: task.set_result(7)) == 7


def test_a_task_that_is_cancelled_meanwhile_is_not_waited_for() -> None:
    task: Future[int] = Future()
    cancelled: list[bool] = []
    with pytest.raises(CancelledError):
        wait_for(task, lambda: cancelled.append(task.cancel()))


def test_an_error_of_a_task_that_looks_like_waiting_is_not_waited_for() -> None:
    failed: Future[int] = Future()
    failed.set_exception(StillRunning("the policy's own"))
    with pytest.raises(StillRunning, match="the policy's own"):
        wait_for(failed, lambda: None)


@pytest.mark.slow
def test_trials_of_a_design(pool: ProcessPoolExecutor) -> None:
    """The same loop runs another kind of plan."""
    heard = Heard()
    assert numbers(evaluate_designs(executor=pool, progress=heard)) == numbers(evaluate_designs())
    assert heard.patients == sorted(heard.patients)


def test_means_over_populations(pool: ProcessPoolExecutor) -> None:
    assert run(pool, pooled=True) == run(None, pooled=True)


def test_threads_of_the_users_own(on_threads: SimulationResult) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert run(executor) == on_threads
        assert executor.submit(divmod, 7, 2).result() == (3, 1)


@pytest.mark.slow
def test_tasks_that_finish_in_another_order(on_threads: SimulationResult) -> None:
    with LastFirst() as executor:
        assert run(executor) == on_threads
    # Few tasks are handed out at a time, and little travels: a sketch alone has 55 kB of counts.
    assert 1 < executor.most_waiting <= 2 * executor.num_workers
    assert max(executor.sent) < 10_000
    assert max(executor.returned) < 20_000


def test_small_plans_are_sent_in_one_task() -> None:
    with LastFirst() as executor:
        simulate("thompson", ["defiers", "rich-and-poor"], 20, 10_000, executor=executor)
    assert len(executor.sent) == 1


def test_a_plain_python_policy(pool: ProcessPoolExecutor) -> None:
    alone, together = (simulate([Chance(), "thompson"], POPULATIONS, 30, 90, executor=one) for one in (None, pool))
    assert alone == together


def test_a_class_that_only_this_process_knows(pool: ProcessPoolExecutor) -> None:
    class Local(Chance):
        pass

    alone, together = (simulate(Local(), "defiers", 5, 50, executor=one) for one in (None, pool))
    assert alone == together


@pytest.mark.slow
def test_a_large_policy_does_not_travel_with_every_task() -> None:
    populations = [replace(as_population("defiers"), name=f"{i}") for i in range(20)]  # a task for each
    with LastFirst() as executor:
        sent = simulate(Chance(1 << 20), populations, 5, 10, executor=executor)
    assert sent == simulate(Chance(), populations, 5, 10)
    with_policy = [n_bytes for n_bytes in executor.sent if n_bytes > 1 << 20]
    assert 1 <= len(with_policy) <= 2 * executor.num_workers
    assert len(executor.sent) == 20 + len(with_policy)


@pytest.mark.slow
def test_a_policy_file_goes_along(pool: ProcessPoolExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files in turn declare the same name, and workers outlive both: each must run its own."""
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path / "cache"))
    with processes(1) as executor:
        for arm in (0, 1):
            write_fixed(tmp_path / f"file{arm}.py", arm=str(arm))
            import_policies(tmp_path / f"file{arm}.py")
            outcome = simulate("fixed/actual", "defiers", 10, 20, executor=executor)[0]
            assert list(outcome.allocation.values())[arm].mean == 1.0


def test_what_cannot_be_sent_is_refused(pool: ProcessPoolExecutor) -> None:
    policy = Chance()
    policy.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"^policies: got 'chance', expected one that can be pickled"):
        simulate(policy, "defiers", 3, 1, executor=pool)


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [
        (arm_seven, InputError, r"^arm chosen by faulty: got 7, expected a whole number from 0 to 1$"),
        (divide, PolicyError, r"^faulty failed at .*executors\.py line \d+: ZeroDivisionError: integer division"),
        (raise_particular, PolicyError, r"^faulty failed at .* line \d+: Particular: this and that"),
    ],
)
def test_errors_of_a_worker_reach_the_caller(
    pool: ProcessPoolExecutor, fault: Callable[[], int], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        simulate([Faulty(fault), "uniform"], POPULATIONS, 10, 90, executor=pool)
    assert simulate("uniform", "defiers", 10, 10, executor=pool).config.n_runs == 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_pool_that_breaks_is_explained() -> None:
    with (
        processes(1) as executor,
        pytest.raises(WorkersLostError, match=r"^a worker died .* make a new executor and simulate again$"),
    ):
        simulate(Faulty(die), "defiers", 10, 10, executor=executor)


@pytest.mark.slow
def test_an_executor_that_drops_its_tasks_is_explained() -> None:
    class Dropping(LastFirst):
        def submit(self, fn: Callable[..., object], /, *args: object, **kwargs: object):  # type: ignore[no-untyped-def]
            future = super().submit(fn, *args, **kwargs)
            future.cancel()
            return future

    with Dropping() as executor, pytest.raises(WorkersLostError, match="dropped the simulation"):
        run(executor)


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_that_is_shut_down_is_explained(kind: type[Executor]) -> None:
    executor = kind()
    executor.shutdown()
    with pytest.raises(WorkersLostError, match=r"^the executor is shut down: make a new one and simulate again$"):
        run(executor)


def test_a_worker_that_holds_an_older_module_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is known to workers by its name; they must not run what it was before an edit."""
    write_fixed(tmp_path / "held_module.py", arm="0")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("held_module")
    assert noted_digest("held_module")
    packed = pack(SimulationRunner(_plan(module)))
    assert unpack(packed).plan.policies == _plan(module).policies
    monkeypatch.setitem(
        sources._noted, tmp_path / "held_module.py", sources._Source("of another content", frozenset())
    )
    with pytest.raises(InputError, match=r"^executor: got 'a worker with another held_module'"):
        unpack(packed)


def _plan(module: ModuleType) -> SimulationPlan:
    (policy,) = (
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Policy) and one.__module__ == "held_module"
    )
    return SimulationPlan((policy(),), (defiers(),), 0, 3, 1, 0, np.array([3]), False)


def test_threads_and_an_executor_are_a_contradiction(pool: ProcessPoolExecutor) -> None:
    with pytest.raises(InputError, match=r"^n_threads: got 2, expected none together with executor"):
        simulate("uniform", "defiers", 3, 1, executor=pool, n_threads=2)
    with pytest.raises(InputError, match=r"^executor: got 4, expected a concurrent\.futures\.Executor"):
        simulate("uniform", "defiers", 3, 1, executor=4)  # type: ignore[arg-type]


INTERRUPTED = """
import multiprocessing, signal, sys, time
from concurrent.futures import {kind}
import adhere

class Bell:
    def announce(self, message): pass
    def advance_to(self, n_patients):
        if n_patients:
            print("working", flush=True)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with {kind}(2) as executor:
        executor.submit(abs, 1).result()
        try:
            adhere.simulate("uniform", "defiers", 100_000, 100_000, executor=executor, progress=Bell())
        except KeyboardInterrupt:
            print("stopped", flush=True)
        result = adhere.simulate("uniform", "defiers", 10, 10, executor=executor)
        print("usable", result == adhere.simulate("uniform", "defiers", 10, 10), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent in another way there")
@pytest.mark.parametrize("kind", ["ProcessPoolExecutor", "ThreadPoolExecutor"])
def test_ctrl_c_leaves_the_executor_usable(tmp_path: Path, kind: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(kind=kind))
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        # It submits another task now; an interrupt in there may leave a lock of the pool itself held for ever.
        time.sleep(0.05)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        while (line := process.stdout.readline()) == "working\n":
            pass
        assert line == "stopped\n"
        assert time.monotonic() - pressed < 1.5
        assert process.stdout.readline() == "usable True\n"
    assert process.returncode == 0
