"""Populations in which every cell (chosen, actual, reward) has patients, so that every branch is met."""

from __future__ import annotations

from functools import cache

from adhere.populations import Count, Counts, Population

from .policies_under_test import recycles

GRADED = (0.0, 0.3, 1.0)
BINARY = (0.0, 1.0)


def graded_rewards(policy: str) -> tuple[float, ...]:
    """Rewards, one of them fractional, with which a policy shares its compiled code with those of other tests.

    A policy that recycles is compiled for each number of different rewards, and most tests have two.
    """
    return GRADED[1:] if recycles(policy) else GRADED


@cache
def mixed(n_arms: int, rewards: tuple[float, ...] = GRADED) -> Population:
    """Most comply, all other cells are irregular; a fractional reward makes learners draw."""
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
