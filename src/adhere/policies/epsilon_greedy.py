"""ε-greedy with the standard annealing schedule, or with a fixed ε."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adhere.compilation import implements, unlikely
from adhere.policies.generic import choose, keeps_tie, learn, pick, probabilities, put, share_among_largest
from adhere.policies.policy import Floats, Learner, parameter, policy
from adhere.randomness import uniform

_SCHEDULE_END = 2**14


def _epsilon(t: float) -> float:
    return 1.0 / math.log(t + 1e-7) if t > 2.0 else 1.0


# A logarithm for every lesson would be a fifth of a hierarchy's time.
_SCHEDULE = np.array([_epsilon(float(t)) for t in range(_SCHEDULE_END)])


@policy("epsilon-greedy")
class EpsilonGreedy(Learner):
    """With probability ε an arm at random, else the arm with the highest mean reward.

        ε_t = min(1, 1 / log(t + 10⁻⁷))

    where t is one more than the number of rewards this learner was credited with. An uncredited arm has mean
    0 and ties are broken at random. With `epsilon` given, ε is fixed. The schedule explores about T / log T
    times, so neither it nor a hybrid built on it has O(√T) regret.

    Reference: Sutton & Barto (1998), section 2.2; schedule of Kuleshov & Precup (2014).

    >>> str(EpsilonGreedy(epsilon=0.1, protocol="actual"))
    'epsilon-greedy(epsilon=0.1)/actual'
    """

    epsilon: float | None = parameter(default=None, at_least=0, at_most=1)

    def initial_state(self, n_arms: int) -> Floats:
        """Rewards credited to each arm: how many, their sum and mean; last the ε of the next decision."""
        return np.append(np.zeros(3 * n_arms), 1.0 if self.epsilon is None else self.epsilon)


@implements(choose, EpsilonGreedy)
def choose_epsilon_greedy(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> Any:
    """Explore with probability ε, else exploit."""
    n_arms = rule.n_arms
    # One number decides whether to explore and, scaled up to [0, 1) again, which arm to explore.
    u, epsilon = uniform(rng), state[3 * n_arms]
    if u < epsilon:
        if n_arms == 2:
            return 1 if u + u >= epsilon else 0
        return np.int64(u / epsilon * n_arms * (1.0 - 2.0**-52))  # the factor keeps it below n_arms
    best, n_tied = 0, 1
    for arm in range(1, n_arms):
        if state[2 * n_arms + arm] > state[2 * n_arms + best]:
            best, n_tied = arm, 1
        elif state[2 * n_arms + arm] == state[2 * n_arms + best]:
            n_tied += 1
            if keeps_tie(n_tied, rng):
                best = arm
    return best


@implements(learn, EpsilonGreedy)
def learn_epsilon_greedy(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Move the arm's mean; anneal ε."""
    n_arms = rule.n_arms
    count, total = pick(state, 0, n_arms, arm) + 1.0, pick(state, n_arms, n_arms, arm) + reward
    put(state, 0, n_arms, arm, count)
    put(state, n_arms, n_arms, arm, total)
    put(state, 2 * n_arms, n_arms, arm, total / count)
    if not unlikely(not math.isnan(rule.epsilon)):
        t = 1.0
        for other in range(n_arms):
            t += state[other]
        if unlikely(t >= _SCHEDULE_END):
            state[3 * n_arms] = 1.0 / math.log(t + 1e-7)
        else:
            state[3 * n_arms] = _SCHEDULE[np.uint64(t)]


@implements(probabilities, EpsilonGreedy)
def probabilities_epsilon_greedy(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """ε/k each, and the rest shared among the arms with the highest mean."""
    n_arms = rule.n_arms
    epsilon = state[3 * n_arms]
    share_among_largest(state[2 * n_arms : 3 * n_arms], out)
    for arm in range(n_arms):
        out[arm] = epsilon / n_arms + (1.0 - epsilon) * out[arm]
