"""More arms than are compiled in: one kernel for all of them, and what was found when each number had its own."""

from __future__ import annotations

import pytest

from adhere import simulate
from adhere.compilation import Kernel
from adhere.populations import ComplianceType, ComplianceTypes, Count, Counts, Population
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.patient_loop import run_block
from adhere.simulation.measures.measure import MEASURES
from golden.digests import digest

POLICIES = ["thompson/actual", "hierarchical(thompson, recycle=true)"]


def names(n_arms: int) -> tuple[str, ...]:
    return tuple(f"arm {arm}" for arm in range(n_arms))


def counted(n_arms: int) -> Counts:
    """Anyone may take anything: a draw for each arm, which lands among many cells."""
    arms = names(n_arms)
    rows = [
        Count(arms[chosen], arms[actual], reward, 1 + (3 * chosen + 5 * actual + 7 * place) % 6)
        for chosen in range(n_arms)
        for actual in range(n_arms)
        for place, reward in enumerate((0.0, 0.3, 1.0))
    ]
    return Counts("counted", arms, rows)


def as_told(n_arms: int) -> ComplianceTypes:
    """A draw for each arm, which lands in one of two cells."""
    means = tuple(0.2 + 0.6 * arm / n_arms for arm in range(n_arms))
    return ComplianceTypes("as told", names(n_arms), [ComplianceType("as told", 1.0, tuple(range(n_arms)), means)])


def shifting(n_arms: int) -> ComplianceTypes:
    """One draw for the whole patient."""
    types = [
        ComplianceType(f"by {by}", 1 / n_arms, tuple((arm // 4 * 4 + by) % n_arms for arm in range(n_arms)),
                tuple(float((arm * by) % 3 == 0) for arm in range(n_arms)))
        for by in range(n_arms)
    ]  # fmt: skip
    return ComplianceTypes("shifting", names(n_arms), types)


def found(population: Population, policy: str) -> str:
    outcome = simulate(policy, population, 700, 5, seed=4, progress=False)[0]
    measured = [outcome.trajectory(measure).mean.tolist() for measure in MEASURES]
    return digest([measured, [outcome.allocation_trajectory(arm).mean.tolist() for arm in population.arms]])


@pytest.mark.slow
def test_many_arms_compile_once_and_give_what_a_kernel_for_each_number_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(run_block, static=True)
    monkeypatch.setattr(CompiledRunner, "loop", kernel)
    populations = [counted(20), as_told(20), shifting(20), as_told(40), shifting(60)]
    results = {policy: [found(population, policy) for population in populations] for policy in POLICIES}
    assert results == EXPECTED
    assert sum(len(dispatcher.overloads) for dispatcher in kernel._dispatchers.values()) == len(POLICIES)


# Found by the code before there was one kernel for all.
EXPECTED = {
    "thompson/actual": [
        "d07d0152e3508e7f",
        "320d5b246067ca4f",
        "ac01cbbe0047ed06",
        "bc5fca3f43e6eb30",
        "88f5fceba7a979d4",
    ],
    "hierarchical(thompson, recycle=true)": [
        "580463d8a7f9e9eb",
        "01b4fc2a55d0956c",
        "07215a8fedc97443",
        "a947a71423f7ae62",
        "01377361649fcccf",
    ],
}
