"""One policy in one cell of the arena, simulated run by run; finished plays are kept on disk, a file each."""

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
    """How a policy played: the arms it recommended, by unit (see `MeanRewards`).

    Attributes
    ----------
    shares
        float64[half, unit, grid, arm], each arm's mean share of the recommendations so far, in every other run of a
        unit and in the rest. One half chooses the worst populations, the other says how bad they are.
    spread
        float64[unit], the standard deviation over its runs of the final reward of a patient; NaN of a single run.
    n_runs
        Runs of each unit.
    grid
        The numbers of patients of the points of the grid.
    seconds, compile_seconds
        How long it took, and before that to compile.
    n_threads
        How many threads shared the work.

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
    """Simulate a policy in a cell; run r plays unit r mod their number."""
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
    """Runs by unit: `allocations` are [arm and point of the grid, run]."""
    n_units, n_arms = truth.recommendation.shape
    by_unit = allocations.reshape(n_arms, len(grid), -1, n_units).transpose(2, 3, 1, 0)  # [run, unit, grid, arm]
    n_runs = len(by_unit)
    halves = [by_unit[half::2].mean(axis=0) for half in range(min(2, n_runs))]
    final = (by_unit[:, :, -1] * truth.recommendation).sum(axis=2)
    spread = final.std(axis=0, ddof=1) if n_runs > 1 else np.full(n_units, np.nan)
    return Played(np.stack(halves), spread, n_runs, grid.astype(np.float64), seconds, compile_seconds, n_threads)


def arena_grid(n_patients: int) -> list[int]:
    """The points of a curve: some in each decade, a tenth of the horizon among them.

    >>> arena_grid(12), arena_grid(2000)
    ([1, 2, 4, 7, 12], [1, 2, 4, 6, 11, 20, 36, 63, 112, 200, 356, 632, 1125, 2000])
    """
    decades = np.arange(int(np.log10(n_patients) * _POINTS_PER_DECADE), -1, -1) / _POINTS_PER_DECADE
    return sorted({max(1, round(float(n_patients / 10**back))) for back in decades})


FOLDER = "played"
_CHECKSUM = 4  # bytes behind a file, which its own checksums do not cover


def comes_with_adhere(policy: Policy) -> bool:
    """Whether no part of a policy is a user's own."""
    return all(type(part).__module__.startswith("adhere.") for part in policy.parts())


class KeptPlays:
    """The plays of one seed on one device in a folder."""

    def __init__(self, out: Path, seed: int, device: str) -> None:
        self._folder, self._key = out / FOLDER, [fingerprint(frozenset(), Played.__module__), seed, device]

    def load(self, policy: Policy, cell: Cell) -> Played | None:
        """How a policy played a cell, if it did so with the same code, seed and device, and the file is whole."""
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
        except Exception:  # whatever is wrong with a file, it costs a play and not a run
            return None

    def save(self, policy: Policy, cell: Cell, played: Played) -> None:
        """Keep a play of a policy that comes with adhere: others may lean on files that nobody watches."""
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
