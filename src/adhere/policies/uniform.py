"""Uniform randomisation, the baseline of every trial."""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.compilation import implements
from adhere.policies.generic import choose, learn, probabilities
from adhere.policies.policy import Learner, policy
from adhere.randomness import uniform


@policy("uniform")
class Uniform(Learner):
    """Each arm with the same chance, whatever was seen.

    >>> str(Uniform())
    'uniform'
    """


@implements(choose, Uniform)
def choose_uniform(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> Any:
    """An arm at random."""
    return np.int64(uniform(rng) * rule.n_arms)


@implements(learn, Uniform)
def learn_nothing(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """There is nothing to learn."""


@implements(probabilities, Uniform)
def probabilities_uniform(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """1/k each."""
    for arm in range(rule.n_arms):
        out[arm] = 1.0 / rule.n_arms
