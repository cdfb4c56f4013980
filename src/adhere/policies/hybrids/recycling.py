"""The recycling trick (section 3.3): certified strategies learn from rounds that others played.

Outcomes of those rounds are kept by chosen arm and drawn at random, without replacement, so that no early,
unrepresentative outcome is used twice. The cache holds how many outcomes of each arm had each reward value,
never the outcomes themselves, so that it does not grow with the number of patients.
"""

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import Matrix, PerArm, State, generic_with_default, implements, inline, laid_out
from adhere.policies.base.policy import TrialShape
from adhere.randomness import Stream, uniform


class Cache(State):
    """How many outcomes are kept of each arm, and how many of them had each reward value."""

    totals = PerArm()
    counts = Matrix(rows=lambda rule: rule.n_arms, columns=lambda rule: rule.n_values)


@laid_out(state=Cache)
class CacheRule(NamedTuple):
    """A cache of outcomes: how many arms, and which rewards there are."""

    n_arms: int
    n_values: int
    values: Any


@laid_out()
class NoCacheRule(NamedTuple):
    """Nothing is recycled. A type of its own, so that policies without a cache compile without its code."""

    n_arms: int


AnyCacheRule = CacheRule | NoCacheRule


def cache_rule(shape: TrialShape, recycle: bool) -> AnyCacheRule:
    """The rule of a cache, or of none."""
    if not recycle:
        return NoCacheRule(shape.n_arms)
    return CacheRule(shape.n_arms, len(shape.reward_values), np.array(shape.reward_values))


@generic_with_default
def holds_arm(rule: AnyCacheRule, cache: Cache, arm: int) -> bool:
    """Whether an outcome of an arm is kept; never, without a cache."""
    return False


@generic_with_default
def take_outcome(rule: AnyCacheRule, cache: Cache, arm: int, rng: Stream) -> float:
    """Draw one of an arm's outcomes and remove it; returns its reward."""
    return 0.0


@generic_with_default
def count_outcomes(rule: AnyCacheRule, cache: Cache, arm: int, reward: float, change: int) -> None:
    """Keep (+1) the outcome of a round, if there is a cache, or remove (-1) one that was taken, by its reward.

    Where a report was corrected afterwards, the outcome may have another reward now: then a count is owed, until an
    outcome with this reward comes.
    """


@implements(holds_arm, CacheRule)
def holds_arm_in_cache(rule: CacheRule, cache: Cache, arm: int) -> bool:
    """Look at the arm's total."""
    return cache.totals[arm] > 0.0  # type: ignore[no-any-return]


@implements(count_outcomes, CacheRule)
def count_in_cache(rule: CacheRule, cache: Cache, arm: int, reward: float, change: int) -> None:
    """Change the arm's total, and its count of outcomes with this reward."""
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
    while cache.counts[arm, value] == 0.0:  # rounding may have carried the loop one value too far
        value -= 1
    cache.totals[arm] -= 1.0
    cache.counts[arm, value] -= 1.0
    return rule.values[value]  # type: ignore[no-any-return]


@inline
def holds_every_arm(rule: CacheRule, cache: Cache) -> bool:
    """Whether at least one outcome of each arm is kept."""
    for arm in range(rule.n_arms):  # noqa: SIM110  (compiled code: a plain loop)
        if cache.totals[arm] == 0.0:
            return False
    return True
