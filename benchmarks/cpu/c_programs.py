"""The two C programs: compiled here and now, given adhere's own tables, and held against adhere's results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from benchmarks.cpu.measuring import Subject, Timed, timed
from benchmarks.cpu.ours import ADHERE, GREEDY, N_PATIENTS, SEED, THOMPSON, TWO_ARMS, simulate

from adhere.populations import as_population
from adhere.simulation import SimulationResult

LIKE_FOR_LIKE, LIMIT, LANES = "C, like for like", "C, limit, one trial at a time", "C, limit, vector lanes"
FLAGS = ("-O3", "-march=native")
_SOURCES = Path(__file__).parents[1] / "c"
_MODES = {LIMIT: "one", LANES: "lanes"}
_LANES_AS_MANY = {THOMPSON: 8, GREEDY: 20}  # times the runs of the others, so that it takes as long


class DisagreementError(Exception):
    """A C program and adhere did not do the same."""


@dataclass(frozen=True)
class Programs:
    """The compiled programs and the file that tells them what to do."""

    folder: Path
    compiler: str

    @staticmethod
    def compiled_in(folder: Path) -> Programs:
        """Compile both; `-ffp-contract=off` keeps the roundings of the first those of adhere."""
        compiler = os.environ.get("CC") or shutil.which("cc") or "cc"
        for name, extra in (("like_for_like", ["-ffp-contract=off"]), ("limit", [])):
            source, program = _SOURCES / f"{name}.c", folder / name
            subprocess.run([compiler, *FLAGS, *extra, str(source), "-o", str(program), "-lm"], check=True)
        said = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
        return Programs(folder, said.splitlines()[0])

    def write_job(self, grid: tuple[int, ...], n_last: int) -> None:
        """Say in a file what to simulate, numbers to the bit."""
        tables = as_population(TWO_ARMS).tables(SEED, 0, 1)
        lines = [f"{N_PATIENTS} {n_last} {len(grid)}", " ".join(map(str, grid))]
        for arm in range(2):
            numbers = [*tables.cumulative[0, arm], *tables.reward[arm], tables.means[0, arm]]
            lines.append(" ".join(float(number).hex() for number in numbers))
        (self.folder / "job").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(self, program: str, *arguments: object) -> dict[str, Any]:
        """What a program prints."""
        command = [str(self.folder / program), *map(str, arguments)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def subjects(programs: Programs, n_runs: int) -> list[Subject]:
    """Two-armed Thompson and ε-greedy: ours, the same in C, and the limit; every round is held against the first."""
    found = []
    for policy in (THOMPSON, GREEDY):
        result = simulate(policy, TWO_ARMS, N_PATIENTS, n_runs)
        programs.write_job(result.config.grid, _n_last())
        found += [
            _ours(policy, n_runs),
            _same_in_c(programs, policy, n_runs, totals(result)),
            *(_limit(programs, maker, policy, n_runs, result) for maker in _MODES),
        ]
    return found


def _n_last() -> int:
    from adhere.simulation.measures.measure import n_last

    return n_last(N_PATIENTS)


def totals(result: SimulationResult) -> dict[str, Any]:
    """What all runs together add up to, at every point of the grid: whole numbers, told from means over runs."""
    outcome, n_runs = result[0], result.config.n_runs
    control, treatment = outcome.arms
    reward, realised = outcome.trajectory("reward").mean, outcome.trajectory("realised_surplus").mean
    shares = {arm: outcome.allocation_trajectory(arm).mean for arm in outcome.arms}
    return {
        "favour_1": _whole(n_runs * outcome.favours_best_arm.mean),
        "pulls_0": [_whole(n_runs * t * share) for t, share in zip(outcome.grid, shares[control], strict=True)],
        "pulls_1": [_whole(n_runs * t * share) for t, share in zip(outcome.grid, shares[treatment], strict=True)],
        "rewards": [_whole(n_runs * mean) for mean in reward],
        "both_arms_rewards": [_whole(2 * n_runs * baseline) for baseline in reward - realised],
    }


def _whole(value: float) -> int:
    if abs(value - round(value)) > 1e-3:
        raise DisagreementError(f"adhere's totals should be whole numbers, but {value!r} is not")
    return round(value)


def _ours(policy: str, n_runs: int) -> Subject:
    def run() -> Timed:
        return Timed(timed(lambda: simulate(policy, TWO_ARMS, N_PATIENTS, n_runs)), n_runs * N_PATIENTS)

    return Subject(ADHERE, policy, run)


def _same_in_c(programs: Programs, policy: str, n_runs: int, expected: Mapping[str, Any]) -> Subject:
    def run() -> Timed:
        found = programs.run("like_for_like", policy, programs.folder / "job", n_runs, SEED)
        for name, value in expected.items():
            if found[name] != value:
                raise DisagreementError(f"{policy}, {name}: adhere has {value}, the C program {found[name]}")
        return Timed(found["seconds"], n_runs * N_PATIENTS)

    return Subject(LIKE_FOR_LIKE, policy, run)


def _limit(programs: Programs, maker: str, policy: str, n_runs: int, ours: SimulationResult) -> Subject:
    outcome = ours[0]
    pulls, reward = outcome.allocation[outcome.arms[1]], outcome.reward
    asked = n_runs * (_LANES_AS_MANY[policy] if maker == LANES else 1)

    def run() -> Timed:
        found = programs.run("limit", policy, _MODES[maker], programs.folder / "job", asked, SEED)
        runs = found["runs"]
        for name, estimate, theirs in (
            ("share of arm 1", pulls, found["pulls_1"] / runs / N_PATIENTS),
            ("reward", reward, found["rewards"] / runs),
        ):
            error = (estimate.se or 0.0) * sqrt(1 + ours.config.n_runs / runs)
            if abs(estimate.mean - theirs) > 5 * error:
                raise DisagreementError(f"{maker}, {policy}, {name}: adhere has {estimate}, the C program {theirs}")
        return Timed(found["seconds"], runs * N_PATIENTS)

    return Subject(maker, policy, run)
