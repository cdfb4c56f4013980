"""UCB1: optimism in the face of uncertainty."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adhere.compilation import implements
from adhere.policies.generic import choose, keeps_tie, learn, probabilities, share_among_largest
from adhere.policies.policy import Floats, Learner, policy


@policy("ucb1")
class Ucb1(Learner):
    """The arm with the highest upper confidence bound.

        mean_j + √(2 ln n / n_j)

    where n counts the rewards this learner was credited with and n_j those of arm j. An uncredited arm has an
    infinite index; ties are broken at random.

    Reference: Auer, Cesa-Bianchi & Fischer (2002), "Finite-time analysis of the multiarmed bandit problem".

    >>> str(Ucb1(protocol="comply"))
    'ucb1/comply'
    """

    def initial_state(self, n_arms: int) -> Floats:
        """Rewards credited to each arm: how many and their sum; last 2 ln n."""
        return np.zeros(2 * n_arms + 1)


@implements(choose, Ucb1)
def choose_ucb1(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """The arm with the highest index."""
    n_arms = rule.n_arms
    best, n_tied, highest = 0, 0, -1.0
    for arm in range(n_arms):
        index = math.inf
        if state[arm] > 0.0:
            index = state[n_arms + arm] / state[arm] + math.sqrt(state[2 * n_arms] / state[arm])
        if index > highest:
            best, n_tied, highest = arm, 1, index
        elif index == highest:
            n_tied += 1
            if keeps_tie(n_tied, rng):
                best = arm
    return best


@implements(learn, Ucb1)
def learn_ucb1(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Move the arm's mean and the confidence of all."""
    n_arms = rule.n_arms
    state[arm] += 1.0
    state[n_arms + arm] += reward
    n = 0.0
    for other in range(n_arms):
        n += state[other]
    state[2 * n_arms] = 2.0 * math.log(n)


@implements(probabilities, Ucb1)
def probabilities_ucb1(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """Shared equally among the arms with the highest index."""
    n_arms = rule.n_arms
    for arm in range(n_arms):
        out[arm] = math.inf
        if state[arm] > 0.0:
            out[arm] = state[n_arms + arm] / state[arm] + math.sqrt(state[2 * n_arms] / state[arm])
    share_among_largest(out[:n_arms], out)
