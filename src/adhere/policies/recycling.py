"""The recycling trick (section 3.3): certified strategies learn from rounds that others played.

Outcomes of those rounds are kept by chosen arm and drawn at random, without replacement, so that no early,
unrepresentative outcome is used twice. The cache holds how many outcomes of each arm had each reward value,
never the outcomes themselves, so that it does not grow with the number of patients.

Layout, for k arms and m reward values: k totals, then k rows of m counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import generic, helper, implements
from adhere.policies.policy import Setting
from adhere.randomness import uniform


class CacheRule(NamedTuple):
    """A cache of outcomes: how many arms, and which rewards there are."""

    n_arms: int
    values: Any


class NoCacheRule(NamedTuple):
    """Nothing is recycled. A type of its own, so that policies without a cache compile without its code."""

    n_arms: int


def cache_rule(setting: Setting, recycle: bool) -> CacheRule | NoCacheRule:
    """The rule of a cache, or of none."""
    return CacheRule(setting.n_arms, np.array(setting.reward_values)) if recycle else NoCacheRule(setting.n_arms)


def cache_size(rule: CacheRule | NoCacheRule) -> int:
    """How many numbers a cache holds."""
    return rule.n_arms * (1 + len(rule.values)) if isinstance(rule, CacheRule) else 0


@generic
def holds_arm(rule: Any, cache: Any, arm: int) -> bool:
    """Whether an outcome of an arm is kept."""
    raise NotImplementedError


@generic
def store_outcome(rule: Any, cache: Any, arm: int, reward: float) -> None:
    """Keep the outcome of a round."""


@generic
def take_outcome(rule: Any, cache: Any, arm: int, rng: Any) -> float:
    """Draw one of an arm's outcomes and remove it; returns its reward."""
    raise NotImplementedError


@generic
def remove_outcome(rule: Any, cache: Any, arm: int, reward: float) -> None:
    """Remove an outcome that was taken, by its reward.

    Where a report was corrected afterwards, the outcome may have another reward now: then a count is owed, until an
    outcome with this reward comes.
    """


@implements(holds_arm, CacheRule)
def holds_arm_in_cache(rule: Any, cache: Any, arm: int) -> bool:
    """Look at the arm's total."""
    return cache[arm] > 0.0  # type: ignore[no-any-return]


@implements(holds_arm, NoCacheRule)
def holds_nothing(rule: Any, cache: Any, arm: int) -> bool:
    """Never."""
    return False


@implements(store_outcome, CacheRule)
def store_in_cache(rule: Any, cache: Any, arm: int, reward: float) -> None:
    """Count the outcome under its reward."""
    count_outcome(rule, cache, arm, reward, 1.0)


@implements(remove_outcome, CacheRule)
def remove_from_cache(rule: Any, cache: Any, arm: int, reward: float) -> None:
    """Count one less under its reward."""
    count_outcome(rule, cache, arm, reward, -1.0)


@helper
def count_outcome(rule: Any, cache: Any, arm: int, reward: float, change: float) -> None:
    """Change the arm's total, and its count of outcomes with this reward."""
    value = 0
    while value < rule.values.size - 1 and rule.values[value] < reward:
        value += 1
    cache[arm] += change
    cache[rule.n_arms + arm * rule.values.size + value] += change


@implements(store_outcome, NoCacheRule)
def store_nowhere(rule: Any, cache: Any, arm: int, reward: float) -> None:
    """Forget it."""


@implements(remove_outcome, NoCacheRule)
def remove_nothing(rule: Any, cache: Any, arm: int, reward: float) -> None:
    """There was nothing to take."""


@implements(take_outcome, CacheRule)
def take_from_cache(rule: Any, cache: Any, arm: int, rng: Any) -> float:
    """Draw a reward in proportion to its count."""
    left = uniform(rng) * cache[arm]
    row = rule.n_arms + arm * rule.values.size
    value = 0
    while value < rule.values.size - 1 and left >= cache[row + value]:
        left -= cache[row + value]
        value += 1
    while cache[row + value] == 0.0:  # rounding may have carried the loop one value too far
        value -= 1
    cache[arm] -= 1.0
    cache[row + value] -= 1.0
    return rule.values[value]  # type: ignore[no-any-return]


@implements(take_outcome, NoCacheRule)
def take_nothing(rule: Any, cache: Any, arm: int, rng: Any) -> float:
    """There is nothing to take."""
    return 0.0


@helper
def has_every_arm(rule: Any, cache: Any) -> bool:
    """Whether at least one outcome of each arm is kept."""
    for arm in range(rule.n_arms):  # noqa: SIM110  (compiled code: a plain loop)
        if cache[arm] == 0.0:
            return False
    return True
