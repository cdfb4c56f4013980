"""Type I error and power of group-sequential designs, simulated, against published tables.

Fixed 1:1 allocation in permuted blocks, a two-sided z-test of level 0.05, boundaries of O'Brien & Fleming and of
Pocock. Jennison & Turnbull (2000), "Group Sequential Methods with Applications to Clinical Trials", say in Tables 2.2
and 2.4 by how much the largest sample must exceed that of a single look for a power of 0.8 or 0.9. Here the sample is
given, and the difference between the arms is the one for which that holds. The tables are for normal outcomes of
known variance; what binomial ones make of it is computed too, exactly.

    python benchmarks/group_sequential.py [TRIALS] > benchmarks/results/group_sequential.md
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from statistics import NormalDist

import numpy as np
from scipy import stats

from adhere import ComplianceType, ComplianceTypes
from adhere.design.design import Design
from adhere.design.parts import Boundary, Looks, Stopping
from adhere.evaluation.kernels.trial_runner import TrialRunner
from adhere.looks.group_sequential import critical_values

ARMS = ("old", "new")
PER_ARM = 900
MEAN = 0.2  # of both arms; with equal numbers of patients around 1/2, z has few values, and jumps over critical ones
# R_P(K, 0.05, β) and R_B(K, 0.05, β)
INFLATION: dict[tuple[Boundary, int], dict[float, float]] = {
    ("obrien-fleming", 3): {0.8: 1.017, 0.9: 1.016},
    ("obrien-fleming", 5): {0.8: 1.028, 0.9: 1.026},
    ("pocock", 3): {0.8: 1.166, 0.9: 1.151},
    ("pocock", 5): {0.8: 1.229, 0.9: 1.207},
}


def design_of(boundary: Boundary, n_looks: int, per_arm: int = PER_ARM) -> Design:
    """Equally spaced looks, the last at the end."""
    n = 2 * per_arm
    stopping = Stopping(by="z-test", boundary=boundary, alpha=0.05)
    at = tuple(n * look // n_looks for look in range(1, n_looks))
    return Design("trial", f"burn-in(uniform, patients={n})", ARMS, n, looks=Looks(at=at), stopping=stopping)


def difference_for(power: float, inflation: float, per_arm: int = PER_ARM) -> float:
    """Between proportions around MEAN, for which a sample inflated so much has the power."""
    normal = NormalDist()
    drift = (normal.inv_cdf(0.975) + normal.inv_cdf(power)) * math.sqrt(inflation)
    return drift * math.sqrt(2.0 * MEAN * (1.0 - MEAN) / per_arm)


def found(design: Design, difference: float, n_trials: int, seed: int) -> tuple[float, float]:
    """How often the arms were found to differ, in either direction, and the mean number of patients."""
    means = (MEAN - difference / 2, MEAN + difference / 2)
    population = ComplianceTypes("compliers", ARMS, [ComplianceType("complier", 1.0, takes=(0, 1), reward=means)])
    runner = TrialRunner(design, population, np.array([design.n_patients]), None)
    runner.prepare(lambda message: None)
    tables = population.tables(seed, 0, 1)

    def block(start: int) -> tuple[int, int]:
        runs = range(start, min(start + 1000, n_trials))
        outcomes = runner.start(seed, runs, tables, np.zeros(1, np.int64), np.zeros(1, np.int64))()
        return int(np.sum(outcomes.decision != 0)), int(outcomes.n_patients.sum())

    with ThreadPoolExecutor() as pool:
        claims, patients = zip(*pool.map(block, range(0, n_trials, 1000)), strict=True)
    return sum(claims) / n_trials, sum(patients) / n_trials


def exact(boundary: Boundary, n_looks: int, difference: float) -> float:
    """How often the arms are found to differ, from the binomial law of the successes of both at each look."""
    group, weights, claimed = PER_ARM // n_looks, np.ones((1, 1)), 0.0
    fractions = tuple((look + 1) / n_looks for look in range(n_looks))
    for look, critical in enumerate(critical_values(boundary, 0.05, fractions)):
        n = group * (look + 1)
        for mean in (MEAN - difference / 2, MEAN + difference / 2):
            more = stats.binom.pmf(np.arange(group + 1), group, mean)
            step = np.zeros((n + 1, n - group + 1))
            for before in range(n - group + 1):
                step[before : before + group + 1, before] = more
            weights = (step @ weights).T  # twice: first the old arm's successes, then the new one's
        old, new = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        pooled = (old + new) / (2 * n)
        spread = np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12) * 2 / n)
        is_claimed = np.abs(new - old) / n >= critical * spread
        claimed += float(weights[is_claimed].sum())
        weights = np.where(is_claimed, 0.0, weights)
    return claimed


def main() -> None:
    n_trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"# Group-sequential designs: {n_trials:,} trials each, {PER_ARM:,} patients an arm\n")
    print("| boundary | looks | table | exact | simulated | Monte Carlo error | mean size |")
    print("|---|---|---|---|---|---|---|")
    for number, ((boundary, n_looks), inflation) in enumerate(INFLATION.items()):
        design = design_of(boundary, n_looks)
        for expected, difference in [(0.05, 0.0), *((p, difference_for(p, r)) for p, r in inflation.items())]:
            seed = 100 * number + round(100 * expected)  # or all would be off in the same direction
            rate, size = found(design, difference, n_trials, seed)
            error = math.sqrt(expected * (1 - expected) / n_trials)
            law = exact(boundary, n_looks, difference)
            print(
                f"| {boundary} | {n_looks} | {expected} | {law:.4f} | {rate:.4f} | {error:.4f} | {size:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
