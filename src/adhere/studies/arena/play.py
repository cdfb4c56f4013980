"""Simulate one policy in one cell of the arena. Finished plays are stored on disk, in one file each."""

import hashlib
import io
import json
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from adhere.compilation.sources import fingerprint
from adhere.files import write_file
from adhere.policies import Policy
from adhere.populations.population import Floats
from adhere.processors import usable_processors
from adhere.simulation.execution.backend import ThreadBackend, run_plan
from adhere.simulation.execution.plan import Integers
from adhere.simulation.execution.progress import Progress
from adhere.simulation.simulation_plan import SimulationPlan, SimulationRunner, grid_points
from adhere.studies.arena.cells import Cell, MeanRewards
from adhere.studies.arena.families import Family

_POINTS_PER_DECADE = 4


@dataclass(frozen=True, eq=False)
class Played:
    """The arms that a policy recommended in a cell, by unit (see `MeanRewards`).

    Attributes
    ----------
    shares
        float64[half, unit, grid, arm], each arm's mean share of the recommendations so far, in every other run of a
        unit
        and in the remaining runs. One half selects the worst populations; the other measures how bad they are.
    spread
        float64[unit], the standard deviation over runs of a patient's final reward; NaN for a single run.
    n_runs
        Number of runs per unit.
    grid
        The numbers of patients at the points of the grid.
    seconds, compile_seconds
        Duration of the play, and of the compilation before it.
    n_threads
        Number of threads that shared the work.

    """

    shares: Floats
    spread: Floats
    n_runs: int
    grid: Floats
    seconds: float
    compile_seconds: float
    n_threads: int

    @property
    def share(self) -> Floats:
        """Each arm's mean share of the recommendations in all runs, as [unit, grid, arm]."""
        first = (self.n_runs + 1) // 2
        if self.n_runs == 1:
            only: Floats = self.shares[0]
            return only
        mean: Floats = (self.shares[0] * first + self.shares[1] * (self.n_runs - first)) / self.n_runs
        return mean


def play(
    policy: Policy, cell: Cell, seed: int, progress: Progress, *, device: str = "cpu", n_threads: int | None = None
) -> Played:
    """Simulate a policy in a cell. Run r plays unit r mod the number of units."""
    grid = grid_points(arena_grid(cell.n_patients), cell.n_patients)
    n_runs = cell.truth.n_units * cell.n_runs
    threads = n_threads or usable_processors()
    who = (policy,), (cell.population,)
    runner = SimulationRunner(
        SimulationPlan(*who, 0, cell.n_patients, n_runs, seed, grid, False, device, keep_grid=True)
    )
    began = time.perf_counter()
    backend = ThreadBackend(runner, None, threads)
    backend.prepare(progress.announce)
    compiled = time.perf_counter()
    allocations = run_plan(runner, backend, progress)[0, 0].kept[0].T
    took = time.perf_counter() - compiled
    return fold(allocations, cell.truth, grid, took, compiled - began, 1 if device == "cuda" else threads)


def fold(
    allocations: Floats, truth: MeanRewards, grid: Integers, seconds: float, compile_seconds: float, n_threads: int
) -> Played:
    """Group runs by unit. `allocations` are [arm and point of the grid, run]."""
    n_units, n_arms = truth.recommendation.shape
    by_unit = allocations.reshape(n_arms, len(grid), -1, n_units).transpose(2, 3, 1, 0)  # [run, unit, grid, arm]
    n_runs = len(by_unit)
    halves = [by_unit[half::2].mean(axis=0) for half in range(min(2, n_runs))]
    final = (by_unit[:, :, -1] * truth.recommendation).sum(axis=2)
    spread = final.std(axis=0, ddof=1) if n_runs > 1 else np.full(n_units, np.nan)
    return Played(np.stack(halves), spread, n_runs, grid.astype(np.float64), seconds, compile_seconds, n_threads)


def arena_grid(n_patients: int) -> list[int]:
    """Return the points of a curve: several per decade, including a tenth of the horizon.

    >>> arena_grid(12), arena_grid(2000)
    ([1, 2, 4, 7, 12], [1, 2, 4, 6, 11, 20, 36, 63, 112, 200, 356, 632, 1125, 2000])
    """
    decades = np.arange(int(np.log10(n_patients) * _POINTS_PER_DECADE), -1, -1) / _POINTS_PER_DECADE
    return sorted({max(1, round(float(n_patients / 10**back))) for back in decades})


FOLDER = "played"
_CHECKSUM = 4  # bytes at the end of a file, which the file's own checksums do not cover


def comes_with_adhere(policy: Policy) -> bool:
    """Return whether all parts of a policy belong to adhere."""
    return all(type(part).__module__.startswith("adhere.") for part in policy.parts())


class KeptPlays:
    """The stored plays of one seed on one device, in a folder."""

    def __init__(self, out: Path, seed: int, device: str) -> None:
        self._folder, self._key = out / FOLDER, [fingerprint(frozenset(), Played.__module__), seed, device]

    def load(self, policy: Policy, cell: Cell) -> Played | None:
        """Load a play. Return None unless its code, seed and device are the same and its file is intact."""
        path = self._path(policy, cell)
        if path is None:
            return None
        try:
            content = path.read_bytes()
            if zlib.crc32(content[:-_CHECKSUM]) != int.from_bytes(content[-_CHECKSUM:], "little"):
                return None
            with np.load(io.BytesIO(content[:-_CHECKSUM]), allow_pickle=False) as held:
                return Played(
                    held["shares"], held["spread"], int(held["n_runs"]), held["grid"],
                    float(held["seconds"]), float(held["compile_seconds"]), int(held["n_threads"]),
                )  # fmt: skip
        except Exception:  # a damaged file costs one play, not the whole run
            return None

    def save(self, policy: Policy, cell: Cell, played: Played) -> None:
        """Store a play of a policy of adhere. A user's policy may depend on files whose changes are not noticed."""
        path = self._path(policy, cell)
        if path is not None:
            content = io.BytesIO()
            np.savez_compressed(content, **vars(played))
            held = content.getvalue()
            write_file(path, held + zlib.crc32(held).to_bytes(_CHECKSUM, "little"))

    def _path(self, policy: Policy, cell: Cell) -> Path | None:
        if not comes_with_adhere(policy):
            return None
        population = cell.population
        people = population.digest if isinstance(population, Family) else population.name
        key = [*self._key, str(policy), people, asdict(cell)]
        name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:16]
        return self._folder / f"{cell.family}-{cell.n_patients}-{name}.npz"
