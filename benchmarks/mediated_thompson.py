"""How `mediated-thompson` fares by its odds, and whether it stops filling the cells that would refute it.

    python -m benchmarks.mediated_thompson [families] [arms] [refuting] [stroke] [--device cuda]

prints tables, all of them if none is named. docs/explanation/what-taken-is-worth.md shows a part of them. The
populations follow the arena's laws, with a seed of their own: defaults are chosen here and judged there. On two cores
it plays 200 populations of each family in some minutes; on a GPU it plays the 4,000 of the page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adhere import ComplianceType, ComplianceTypes, Counts, simulate
from adhere.intervals import Z95
from adhere.populations.counts import Count
from adhere.studies.arena.families import family

SEED = 31415926
ON_GPU = "cuda" in sys.argv
HOW: dict[str, Any] = {"seed": SEED, "progress": False, "device": "cuda" if ON_GPU else "cpu"}
N_POPULATIONS, N_RUNS = (4000, 40) if ON_GPU else (200, 10)
TWO_ARMS = (
    "unconfounded",
    "confounded",
    "mildly-confounded",
    "corrective",
    "weak-compliance",
    "strong-compliance",
    "defiers-present",
)
MORE_ARMS = ("unconfounded-3", "confounded-3", "unconfounded-5", "confounded-5")
DEFAULT = "mediated-thompson"
NEVER_DOUBTS = "mediated-thompson(odds=inf)"
HYBRIDS = (
    "hierarchical(epsilon-greedy)",
    "thompson-bounded(hierarchical(epsilon-greedy))",
    "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)",
)
ODDS = tuple(f"mediated-thompson(odds={odds})" for odds in ("inf", "1", "0.3", "0.2", "0.15", "0.1", "0.05", "0.01"))
FADING = tuple(f"mediated-thompson(fading_odds={odds})" for odds in (5, 10, 20))
GUARDED = (
    f"thompson-bounded({DEFAULT})",
    f"floor({DEFAULT}, share=0.05)",
    f"burn-in({DEFAULT}, patients=60)",
)

# Populations in which what was taken points to the wrong arm. In the first, well-off always-takers make a harmful
# treatment look good; the others are the worst of 4,000 that were searched: little confounding, and rewards that
# are rare under one arm. Cells: P(second arm taken) by arm chosen, then the mean reward by arm chosen and taken.
ALWAYS_TAKERS = ComplianceTypes(
    "well-off always-takers",
    ("control", "treatment"),
    [ComplianceType("always-taker", 0.5, reward=(None, 0.75)), ComplianceType("complier", 0.5, reward=(0.5, 0.3))],
)
CELLS = {
    "little confounding": ((0.24, 0.38), ((0.62, 0.44), (0.67, 0.49))),
    "rare rewards": ((0.13, 0.29), ((0.32, 0.005), (0.42, 0.005))),
}


def counts(name: str) -> Counts:
    """A population of cells, as a million patients an arm."""
    takes_second, rewards = CELLS[name]
    rows: list[Count] = []
    for chosen, (second, means) in enumerate(zip(takes_second, rewards, strict=True)):
        for actual, (share, mean) in enumerate(zip((1 - second, second), means, strict=True)):
            patients = round(1e6 * share)
            successes = round(patients * mean)
            rows += [
                Count(f"{chosen}", f"{actual}", 1.0, successes),
                Count(f"{chosen}", f"{actual}", 0.0, patients - successes),
            ]
    return Counts(name, ("0", "1"), rows)


def row(cells: Sequence[object]) -> None:
    """One row of a Markdown table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def against_thompson(names: Sequence[str], policies: Sequence[str], n_runs: int, n_patients: int = 2000) -> None:
    """Shares of the best possible surplus, less Thompson's: mean, 95 % interval over populations, worst 5 %."""
    told: dict[str, list[str]] = {policy: [policy] for policy in policies}
    for name in names:
        people = family(name, seed=SEED, n_populations=N_POPULATIONS)
        entrants, n = ["thompson", *policies], n_runs * N_POPULATIONS
        runs = simulate(entrants, people, n_patients, n, keep_runs=True, **HOW).runs
        means = people.tables(0, 0, N_POPULATIONS).means
        best = n_patients * (means.max(axis=1) - means.mean(axis=1))
        shares = [one.columns["surplus"].reshape(n_runs, -1).mean(axis=0) / best for one in runs.by_outcome]
        for policy, share in zip(policies, shares[1:], strict=True):
            told[policy].append(summary(share - shares[0]))
    row(["policy", *names])
    row(["---"] * (len(names) + 1))
    for cells in told.values():
        row(cells)


def summary(difference: NDArray[np.float64]) -> str:
    """Mean ± half the interval, and the mean of the worst 5 %."""
    half = Z95 * difference.std(ddof=1) / len(difference) ** 0.5
    worst = np.sort(difference)[: len(difference) // 20].mean()
    return f"{difference.mean():+.3f} ± {half:.3f}, {worst:+.2f}"


def families() -> None:
    """Two arms, every odds."""
    against_thompson(TWO_ARMS, [*ODDS, *FADING, *GUARDED, *HYBRIDS], N_RUNS)


def arms() -> None:
    """Three and five arms."""
    policies = [DEFAULT, *ODDS[-3:], "mediated-thompson(fading_odds=10)", *HYBRIDS]
    against_thompson(MORE_ARMS, policies, N_RUNS // 2)


def refuting() -> None:
    """How many are told the worse arm where what was taken misleads, after 10,000 and after 100,000 patients."""
    inner = [
        NEVER_DOUBTS,
        "mediated-thompson(odds=1)",
        DEFAULT,
        "mediated-thompson(odds=0.1)",
        "mediated-thompson(fading_odds=10)",
    ]
    floors = [f"floor({policy}, share={share})" for policy in (NEVER_DOUBTS, DEFAULT) for share in (0.01, 0.05, 0.1)]
    policies = ["thompson", *inner, *floors, f"thompson-bounded({DEFAULT})"]
    populations = [ALWAYS_TAKERS, *(counts(name) for name in CELLS)]
    n_runs = 25 * N_RUNS if ON_GPU else 40
    result = simulate(policies, populations, 10**5, n_runs, grid=[10**4, 10**5], **HOW)
    row(["policy", *(population.name for population in populations)])
    row(["---"] * (len(populations) + 1))
    for policy in policies:
        told: list[str] = []
        for population in populations:
            regret = result[population.name, policy].trajectory("regret").mean
            gap = float(np.ptp(population.mean_given_chosen()))
            told.append(", ".join(f"{100 * wrong:.1f}%" for wrong in regret / gap / np.array([1e4, 1e5])))
        row([policy, *told])


def stroke() -> None:
    """Lives among 10,000 patients of both stroke trials."""
    policies = ["thompson", DEFAULT, *ODDS, *FADING, *HYBRIDS]
    populations = ["stroke-aspirin", "stroke-heparin"]
    result = simulate(policies, populations, 10**4, 100 * N_RUNS, pooled=True, **HOW)
    row(["policy", *populations, "pooled"])
    row(["---"] * 4)
    for policy in policies:
        surplus = [result[name, policy].surplus for name in (*populations, "pooled")]
        row([policy, *(f"{one.mean:.1f} ± {Z95 * (one.se or 0.0):.1f}" for one in surplus)])


EXPERIMENTS: dict[str, Callable[[], None]] = {
    "families": families,
    "arms": arms,
    "refuting": refuting,
    "stroke": stroke,
}

if __name__ == "__main__":
    for experiment in [word for word in sys.argv[1:] if word in EXPERIMENTS] or EXPERIMENTS:
        print(f"\n## {experiment}\n")
        EXPERIMENTS[experiment]()
