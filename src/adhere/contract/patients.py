"""The population on which policies are checked."""

from __future__ import annotations

from functools import cache

from adhere.populations import Count, Counts, Population

GRADED = (0.0, 0.3, 1.0)


@cache
def mixed(n_arms: int, rewards: tuple[float, ...] = GRADED) -> Population:
    """Most comply; every cell (chosen, actual, reward) has patients, so that every branch is met.

    All cells are irregular, and a fractional reward makes learners draw.
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
