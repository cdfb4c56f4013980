"""Recycling (section 3.3 of the paper): certified learners learn from rounds that others decided.

Outcomes of those rounds are stored by chosen arm and drawn at random without replacement, so that no early,
unrepresentative outcome is used twice. The cache stores counts by arm and reward value rather than single outcomes,
so its size does not depend on the number of patients.
"""

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import Matrix, PerArm, State, generic_with_default, implements, inline, laid_out
from adhere.policies.base.policy import TrialShape
from adhere.randomness import Stream, uniform


class Cache(State):
    """Number of stored outcomes of each arm, in total and by reward value."""

    totals = PerArm()
    counts = Matrix(rows=lambda rule: rule.n_arms, columns=lambda rule: rule.n_values)


@laid_out(state=Cache)
class CacheRule(NamedTuple):
    """Rule of a cache: the number of arms and the possible rewards."""

    n_arms: int
    n_values: int
    values: Any


@laid_out()
class NoCacheRule(NamedTuple):
    """Rule without a cache. A separate type, so that policies that do not recycle compile without the cache's
    code.
    """

    n_arms: int


AnyCacheRule = CacheRule | NoCacheRule


def cache_rule(shape: TrialShape, recycle: bool) -> AnyCacheRule:
    """Return the rule of a cache, or `NoCacheRule` if nothing is recycled."""
    if not recycle:
        return NoCacheRule(shape.n_arms)
    return CacheRule(shape.n_arms, len(shape.reward_values), np.array(shape.reward_values))


@generic_with_default
def holds_arm(rule: AnyCacheRule, cache: Cache, arm: int) -> bool:
    """Return whether an outcome of an arm is stored; always False without a cache."""
    return False


@generic_with_default
def take_outcome(rule: AnyCacheRule, cache: Cache, arm: int, rng: Stream) -> float:
    """Draw one of an arm's stored outcomes, remove it and return its reward."""
    return 0.0


@generic_with_default
def count_outcomes(rule: AnyCacheRule, cache: Cache, arm: int, reward: float, change: int) -> None:
    """Change the number of the arm's stored outcomes with the given reward by 1 or -1. Do nothing without a cache.

    After a correction, the reward to remove may differ from the reward that was stored. The number is then negative
    until an outcome with the given reward is stored.
    """


@implements(holds_arm, CacheRule)
def holds_arm_in_cache(rule: CacheRule, cache: Cache, arm: int) -> bool:
    """Return whether the arm's total is above 0."""
    return cache.totals[arm] > 0.0  # type: ignore[no-any-return]


@implements(count_outcomes, CacheRule)
def count_in_cache(rule: CacheRule, cache: Cache, arm: int, reward: float, change: int) -> None:
    """Change the arm's total, and its count of outcomes with the given reward."""
    value = 0
    while value < rule.n_values - 1 and rule.values[value] < reward:
        value += 1
    cache.totals[arm] += change
    cache.counts[arm, value] += change


@implements(take_outcome, CacheRule)
def take_from_cache(rule: CacheRule, cache: Cache, arm: int, rng: Stream) -> float:
    """Draw a reward in proportion to its count."""
    left = uniform(rng) * cache.totals[arm]
    value = 0
    while value < rule.n_values - 1 and left >= cache.counts[arm, value]:
        left -= cache.counts[arm, value]
        value += 1
    while cache.counts[arm, value] == 0.0:  # rounding may have moved the loop one value too far
        value -= 1
    cache.totals[arm] -= 1.0
    cache.counts[arm, value] -= 1.0
    return rule.values[value]  # type: ignore[no-any-return]


@inline
def holds_every_arm(rule: CacheRule, cache: Cache) -> bool:
    """Return whether at least one outcome of each arm is stored."""
    for arm in range(rule.n_arms):  # noqa: SIM110  (compiled code: a plain loop)
        if cache.totals[arm] == 0.0:
            return False
    return True
