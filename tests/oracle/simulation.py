"""Playing trials, one patient at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random

from .makers import PolicyMaker
from .policy import Policy

DrawPatient = Callable[[int, Random], tuple[int, float]]  # (chosen, rng) → (actual, reward)
Population = Sequence[Sequence[tuple[float, int, float]]]  # [chosen] → (probability, actual, reward) …


def drawer(chosen_distributions: Population) -> DrawPatient:
    """Patients who answer a chosen arm with an (actual, reward) of the given probability."""
    outcomes = [[(actual, reward) for _, actual, reward in row] for row in chosen_distributions]
    cumulated = [list(accumulate(probability for probability, _, _ in row)) for row in chosen_distributions]

    def draw_patient(chosen: int, rng: Random) -> tuple[int, float]:
        return rng.choices(outcomes[chosen], cum_weights=cumulated[chosen])[0]

    return draw_patient


def play(policy: Policy, draw_patient: DrawPatient, n_patients: int, rng: Random) -> list[int]:
    """One trial: the arms chosen, in order."""
    arms = []
    for _ in range(n_patients):
        chosen = policy.choose(rng)
        actual, reward = draw_patient(chosen, rng)
        policy.update(chosen, actual, reward, rng)
        arms.append(chosen)
    return arms


def simulate(
    policy_maker: PolicyMaker, chosen_distributions: Population, n_patients: int, n_runs: int, seed: int
) -> list[list[int]]:
    """Many trials: counts[run][arm] of how often each arm was chosen."""
    n_arms = len(chosen_distributions)
    draw_patient = drawer(chosen_distributions)
    counts = []
    for run in range(n_runs):
        rng = Random(f"{seed}/{run}")
        arms = play(policy_maker(n_arms, n_patients), draw_patient, n_patients, rng)
        counts.append([arms.count(arm) for arm in range(n_arms)])
    return counts
