"""The patients on whom policies are checked."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from adhere.populations import ComplianceType, ComplianceTypes, Count, Counts, Population

GRADED = (0.0, 0.3, 1.0)
_REWARDS = (0.0, 1.0, 1.0, 0.3)
_ARMS = ("arm a", "arm b")

# How patients answer: a function of the arm chosen, the possible feedback codes of the arm taken, and random numbers,
# which returns feedback and a reward.
Answer = Callable[[int, Sequence[int], np.random.Generator], tuple[int, float]]


def answer_mixed(chosen: int, known: Sequence[int], rng: np.random.Generator) -> tuple[int, float]:
    """Return an answer of patients who mostly take the recommended arm, with all rewards occurring."""
    actual = chosen if rng.random() < 0.6 else known[int(rng.integers(len(known)))]
    return actual, _REWARDS[rng.integers(len(_REWARDS))]


# After `answer_mixed`, which reaches every branch, patients who are all alike.
ALIKE: dict[str, Answer] = {
    "defiers": lambda chosen, known, rng: (0 if chosen else 1, _REWARDS[rng.integers(len(_REWARDS))]),
    "never-takers without success": lambda chosen, known, rng: (0, 0.0),
    "compliers with success": lambda chosen, known, rng: (chosen, 1.0),
}


def populations() -> list[Population]:
    """Return populations of two arms, which share one compiled loop: one mixed, others with identical patients."""
    alike = {
        "defiers": ComplianceType("defiers", 1.0, (1, 0), (0.3, 0.6)),
        "never-takers without success": ComplianceType("never-takers", 1.0, (0, 0), (0.0, None)),
        "compliers with success": ComplianceType("compliers", 1.0, (0, 1), (1.0, 1.0)),
    }
    return [mixed(2), *(ComplianceTypes(name, _ARMS, [compliance_type]) for name, compliance_type in alike.items())]


@cache
def mixed(n_arms: int, rewards: tuple[float, ...] = GRADED) -> Population:
    """Return a population that mostly complies, with patients in every cell (chosen, actual, reward).

    All cells differ in size, and a fractional reward makes learners draw. Every branch is therefore reached.
    """
    arms = tuple(f"arm {letter}" for letter in "abcdefgh"[:n_arms])

    def patients(chosen: int, actual: int, place: int) -> int:
        return 1 + (3 * chosen + 5 * actual + 7 * place) % 6 + 9 * (chosen == actual)

    rows = [
        Count(arms[chosen], arms[actual], reward, patients(chosen, actual, place))
        for chosen in range(n_arms)
        for actual in range(n_arms)
        for place, reward in enumerate(rewards)
    ]
    return Counts("mixed", arms, rows)
