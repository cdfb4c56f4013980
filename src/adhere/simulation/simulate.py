"""Many trials at once: every policy on every population, on all cores, the same numbers whatever their count."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adhere.errors import InputError
from adhere.policies import Policy, as_policy
from adhere.populations import Population, as_population
from adhere.randomness import MAX_DECISIONS, check_seed
from adhere.simulation.kernel import Tallies
from adhere.simulation.measures import n_last, rows_of_policies
from adhere.simulation.moments import Moments
from adhere.simulation.progress import Progress, progress_on
from adhere.simulation.quantiles import QuantileSketch
from adhere.simulation.result import Config, Outcome, SimulationResult
from adhere.simulation.runners import CompiledRunner, PythonRunner, Runner, name_of

Integers = NDArray[np.int64]
_POLL_SECONDS = 0.1
_DEFAULT_POINTS = 20
_PATIENTS_PER_BLOCK, _SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 20, 16, 1024


def simulate(
    policies: object,
    populations: object,
    n_patients: int,
    n_runs: int,
    seed: int = 0,
    *,
    reference: object = None,
    grid: int | Sequence[int] | None = None,
    n_threads: int | None = None,
    progress: Progress | bool | None = None,
) -> SimulationResult:
    """Run every policy on every population, `n_runs` trials of `n_patients` each.

    All policies meet the same counterfactual patients in run r, so differences between policies carry a paired
    standard error. The same seed gives the same numbers to the bit, whatever the number of threads.

    Parameters
    ----------
    policies
        One or several policies: values, texts such as ``"thompson/actual"``, or plain objects with ``choose``
        and ``update``.
    populations
        One or several populations: values, built-in names, or paths to TOML or CSV files.
    n_patients, n_runs
        The size of a trial and how many trials to run.
    seed
        A whole number; everything random follows from it.
    reference
        The policy the others are compared with; the first one if left out.
    grid
        Numbers of patients after which to record the measures, or how many such points to spread evenly.
    n_threads
        How many threads to use; all cores if left out.
    progress
        Whether to show a progress bar, or an object that hears of the progress; left out, a bar is shown
        on a terminal.

    >>> result = simulate("thompson", "defiers", n_patients=100, n_runs=50)
    >>> result[0].surplus.mean > 40
    True

    """
    n_patients = _positive("n_patients", n_patients, MAX_DECISIONS - 1)
    n_runs = _positive("n_runs", n_runs, 2**40)
    seed = check_seed(seed)
    threads = _positive("n_threads", n_threads, 1024) if n_threads is not None else os.cpu_count() or 1
    points = _grid(grid, n_patients)
    given = [_as_runnable(policy) for policy in _several(policies)]
    listed = _several(populations)
    answering = [as_population(population) for population in listed]  # type: ignore[arg-type]
    if not given or not answering:
        field = "populations" if given else "policies"
        raise InputError(field, [], "at least one")
    names = [name_of(policy) for policy in given]
    answering = _with_names_of_their_own(answering, listed)
    for field, called in (("policies", names), ("populations", [population.name for population in answering])):
        for name in called:
            if called.count(name) > 1:
                raise InputError(field, name, "each of them once")
    reference_index = _reference(reference, given)
    designs = [
        _Design(
            population,
            tuple(_runner(policy, population, n_patients, points) for policy in given),
            reference_index,
        )
        for population in answering
    ]
    work = _Work(designs, n_patients, n_runs, seed, points)
    summaries = _run(work, threads, progress)
    config = Config(n_patients, n_runs, seed, tuple(points.tolist()), names[reference_index], version("adhere"))
    outcomes = [
        Outcome(name, runner.resolved, design.population.name, design.population.source,
                design.population.arms, runner.deciders, config.grid, *summary)
        for design, own in zip(designs, summaries, strict=True)
        for name, runner, summary in zip(names, design.runners, own, strict=True)
    ]  # fmt: skip
    return SimulationResult(config, tuple(outcomes))


Summary = tuple[Moments, QuantileSketch]


@dataclass(frozen=True)
class _Design:
    """A population and what runs each policy on it."""

    population: Population
    runners: tuple[Runner, ...]
    reference: int


@dataclass(frozen=True)
class _Work:
    """All runs, cut into blocks. How they are cut depends on the work alone, never on who does it."""

    designs: Sequence[_Design]
    n_patients: int
    n_runs: int
    seed: int
    grid: Integers

    @property
    def total_patients(self) -> int:
        return self.n_runs * self.n_patients * sum(len(design.runners) for design in self.designs)

    @property
    def block_size(self) -> int:
        return min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, _PATIENTS_PER_BLOCK // self.n_patients))

    def blocks(self) -> Iterable[tuple[int, range]]:
        """Every (design, runs), in the order in which results are merged."""
        for index in range(len(self.designs)):
            for first in range(0, self.n_runs, self.block_size):
                yield index, range(first, min(first + self.block_size, self.n_runs))

    def run_block(self, index: int, runs: range, done: Integers, stop: Integers) -> list[Summary]:
        """Run every policy of a design over a block of runs and summarise each."""
        design = self.designs[index]
        population = design.population
        tables = population.tables(self.seed, runs.start, len(runs))
        all_tallies = []
        for runner in design.runners:
            tallies = Tallies.zeros(len(runs), len(self.grid), population.n_arms, len(runner.deciders))
            runner.run(self.seed, runs.start, tables, tallies, done, stop)
            all_tallies.append(tallies)
        rows = rows_of_policies(all_tallies, tables.means, self.grid.astype(np.float64), design.reference)
        surplus = len(self.grid) - 1
        return [(Moments.of(matrix), QuantileSketch.of(matrix[:, surplus])) for matrix in rows]


def _run(work: _Work, n_threads: int, wanted: Progress | bool | None) -> list[list[Summary]]:
    """Run all blocks on threads; merge their summaries in order, so that few are held at a time."""
    stop = np.zeros(1, np.int64)
    totals: list[list[Summary]] = [[] for _ in work.designs]
    blocks = iter(work.blocks())
    waiting: deque[tuple[int, Integers, Future[list[Summary]]]] = deque()
    finished = 0
    pool = ThreadPoolExecutor(n_threads)
    with progress_on(work.total_patients, wanted) as progress:

        def show() -> None:
            progress.advance_to(finished + sum(int(done[0]) for _, done, _ in waiting))

        try:
            _wait(pool.submit(_prepare, work, progress.announce), lambda: None)
            while True:
                while len(waiting) < 2 * n_threads and (block := next(blocks, None)) is not None:
                    done = np.zeros(1, np.int64)
                    waiting.append((block[0], done, pool.submit(work.run_block, *block, done, stop)))
                if not waiting:
                    break
                index, done, future = waiting[0]
                totals[index] = _merged(totals[index], _wait(future, show))
                waiting.popleft()
                finished += int(done[0])
                show()
        finally:
            # After an error or Ctrl-C the threads leave their loops within a thousand patients.
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
    return totals


def _prepare(work: _Work, announce: Callable[[str], None]) -> None:
    for design in work.designs:
        for runner in design.runners:
            runner.prepare(announce)


def _wait(future: Future[Any], meanwhile: Callable[[], None]) -> Any:
    """Wait in short steps, so that progress shows and Ctrl-C is heard."""
    while True:
        try:
            return future.result(timeout=_POLL_SECONDS)
        except StillRunning:
            if future.done():
                raise
            meanwhile()


def _merged(earlier: list[Summary], later: list[Summary]) -> list[Summary]:
    if not earlier:
        return later
    return [
        (moments.merge(more), sketch.merge(another))
        for (moments, sketch), (more, another) in zip(earlier, later, strict=True)
    ]


def _several(given: object) -> list[object]:
    """One thing or several, as a list."""
    alone = isinstance(given, (str, Path, Policy, Population, dict)) or not isinstance(given, Iterable)
    return [given] if alone else list(given)  # type: ignore[call-overload]


def _with_names_of_their_own(populations: list[Population], given: list[object]) -> list[Population]:
    """Different populations of the same name, as files of the same name make them, are called as they were given."""
    names = [population.name for population in populations]
    return [
        replace(one, name=str(text)) if names.count(one.name) > 1 and isinstance(text, (str, Path)) else one
        for one, text in zip(populations, given, strict=True)
    ]


def _as_runnable(given: object) -> object:
    return as_policy(given) if isinstance(given, (str, dict)) else given


def _runner(policy: object, population: Population, n_patients: int, grid: Integers) -> Runner:
    if isinstance(policy, Policy):
        return CompiledRunner(policy, population, n_patients, grid, n_last(n_patients))
    return PythonRunner(policy, population, n_patients, grid, n_last(n_patients))


def _reference(reference: object, given: list[object]) -> int:
    if reference is None:
        return 0
    wanted = _as_runnable(reference)
    if wanted not in given:
        raise InputError("reference", name_of(wanted), "one of the policies simulated")
    return given.index(wanted)


def _positive(field: str, value: object, largest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= largest:
        raise InputError(field, value, f"a whole number from 1 to {largest}")
    return int(value)


def _grid(grid: int | Sequence[int] | None, n_patients: int) -> Integers:
    if grid is None:
        grid = min(_DEFAULT_POINTS, n_patients)
    if isinstance(grid, (int, np.integer)):
        n_points = _positive("grid", grid, n_patients)
        return np.unique(np.linspace(n_patients / n_points, n_patients, n_points).round().astype(np.int64))
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise InputError("grid", grid, "numbers of patients, or how many points to spread evenly")
    points = sorted({_positive("grid", point, n_patients) for point in grid} | {n_patients})
    return np.array(points, np.int64)
