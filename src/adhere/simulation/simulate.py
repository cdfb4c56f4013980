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
from adhere.simulation.arguments import grid_points, positive, several
from adhere.simulation.kernel import Tallies
from adhere.simulation.measures import Floats, n_last, pooled_rows, rows_of_policies
from adhere.simulation.moments import Moments
from adhere.simulation.progress import Progress, progress_on
from adhere.simulation.quantiles import QuantileSketch
from adhere.simulation.result import Config, Outcome, SimulationResult
from adhere.simulation.runners import CompiledRunner, PythonRunner, Runner, name_of

Integers = NDArray[np.int64]
POOLED = "pooled"
_POLL_SECONDS = 0.1
_PATIENTS_PER_BLOCK, _SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 20, 16, 4096


def simulate(
    policies: object,
    populations: object,
    n_patients: int,
    n_runs: int,
    seed: int = 0,
    *,
    reference: object = None,
    grid: int | Sequence[int] | None = None,
    pooled: bool = False,
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
    pooled
        Whether to report the mean over all populations too, taken run by run, as one more population called
        ``"pooled"``.
    n_threads
        How many threads to use; all cores if left out.
    progress
        Whether to show a progress bar, or an object that hears of the progress; left out, a bar is shown
        on a terminal.

    >>> result = simulate("thompson", "defiers", n_patients=100, n_runs=50)
    >>> result[0].surplus.mean > 40
    True

    """
    n_patients = positive("n_patients", n_patients, MAX_DECISIONS - 1)
    n_runs = positive("n_runs", n_runs, 2**40)
    seed = check_seed(seed)
    threads = positive("n_threads", n_threads, 1024) if n_threads is not None else os.cpu_count() or 1
    points = grid_points(grid, n_patients)
    given = [_as_runnable(policy) for policy in several(policies)]
    listed = several(populations)
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
    if pooled and len(answering) < 2:
        raise InputError("pooled", pooled, "at least two populations to pool")
    reference_index = _reference(reference, given)
    designs = [
        _Design(
            population,
            tuple(_runner(policy, population, n_patients, points) for policy in given),
            reference_index,
        )
        for population in answering
    ]
    work = _Work(designs, n_patients, n_runs, seed, points, pooled)
    summaries = _run(work, threads, progress)
    config = Config(n_patients, n_runs, seed, tuple(points.tolist()), names[reference_index], version("adhere"))
    outcomes = [
        Outcome(name, runner.resolved, design.population.name, design.population.source,
                design.population.arms, runner.deciders, config.grid, *summary)
        for design, own in zip(designs, summaries, strict=False)
        for name, runner, summary in zip(names, design.runners, own, strict=True)
    ]  # fmt: skip
    for averaged in summaries[len(designs) :]:
        sources = "; ".join(dict.fromkeys(one.source for one in answering if one.source))
        outcomes += [
            Outcome(name, name, POOLED, sources, (), (), config.grid, *summary)
            for name, summary in zip(names, averaged, strict=True)
        ]
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
    pooled: bool

    @property
    def n_summaries(self) -> int:
        """One list of summaries for each population, and one for their average."""
        return len(self.designs) + self.pooled

    @property
    def total_patients(self) -> int:
        return self.n_runs * self.n_patients * sum(len(design.runners) for design in self.designs)

    @property
    def block_size(self) -> int:
        return min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, _PATIENTS_PER_BLOCK // self.n_patients))

    def blocks(self) -> Iterable[tuple[range, range]]:
        """Every (designs, runs), in the order in which results are merged; designs to be pooled go together."""
        size = len(self.designs) if self.pooled else 1
        for index in range(0, len(self.designs), size):
            for first in range(0, self.n_runs, self.block_size):
                yield range(index, index + size), range(first, min(first + self.block_size, self.n_runs))

    def run_block(self, indices: range, runs: range, done: Integers, stop: Integers) -> dict[int, list[Summary]]:
        """Run every policy of some designs over a block of runs and summarise each, by design."""
        rows = {index: self._rows(self.designs[index], runs, done, stop) for index in indices}
        if self.pooled:
            by_policy = zip(*rows.values(), strict=True)
            rows[len(self.designs)] = [pooled_rows(matrices, len(self.grid)) for matrices in by_policy]
        surplus = len(self.grid) - 1
        return {
            index: [(Moments.of(matrix), QuantileSketch.of(matrix[:, surplus])) for matrix in matrices]
            for index, matrices in rows.items()
        }

    def _rows(self, design: _Design, runs: range, done: Integers, stop: Integers) -> list[Floats]:
        population = design.population
        tables = population.tables(self.seed, runs.start, len(runs))
        all_tallies = []
        for runner in design.runners:
            tallies = Tallies.zeros(len(runs), len(self.grid), population.n_arms, len(runner.deciders))
            runner.run(self.seed, runs.start, tables, tallies, done, stop)
            all_tallies.append(tallies)
        return rows_of_policies(all_tallies, tables.means, self.grid.astype(np.float64), design.reference)


def _run(work: _Work, n_threads: int, wanted: Progress | bool | None) -> list[list[Summary]]:
    """Run all blocks on threads; merge their summaries in order, so that few are held at a time."""
    stop = np.zeros(1, np.int64)
    totals: list[list[Summary]] = [[] for _ in range(work.n_summaries)]
    blocks = iter(work.blocks())
    waiting: deque[tuple[Integers, Future[dict[int, list[Summary]]]]] = deque()
    finished = 0
    pool = ThreadPoolExecutor(n_threads)
    with progress_on(work.total_patients, wanted) as progress:

        def show() -> None:
            progress.advance_to(finished + sum(int(done[0]) for done, _ in waiting))

        try:
            _wait(pool.submit(_prepare, work, progress.announce), lambda: None)
            while True:
                while len(waiting) < 2 * n_threads and (block := next(blocks, None)) is not None:
                    done = np.zeros(1, np.int64)
                    waiting.append((done, pool.submit(work.run_block, *block, done, stop)))
                if not waiting:
                    break
                done, future = waiting[0]
                for index, summaries in _wait(future, show).items():
                    totals[index] = _merged(totals[index], summaries)
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
