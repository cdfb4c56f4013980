"""ε-greedy with the standard annealing schedule, or with a fixed ε."""

import math
from typing import Any

import numpy as np

from adhere.compilation import Memo, Number, PerArm, State, implements, inline, unlikely
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.parameters import parameter
from adhere.policies.numerics.selection import draw_index_of_largest, equally_likely, share_among_largest
from adhere.randomness import Stream, uniform

_END = 2**14
# Computing a logarithm at every update would take a fifth of a hierarchy's time.
_SCHEDULE = np.array([1.0 / math.log(t + 1e-7) if t > 2 else 1.0 for t in range(_END)])


class EpsilonGreedyState(State):
    """Rewards credited to each arm, and the ε of the next decision."""

    counts = PerArm()  # number of rewards credited to each arm
    totals = PerArm()  # their sum
    means = PerArm()  # their mean
    epsilon = Number(lambda rule: 1.0 if math.isnan(rule.epsilon) else rule.epsilon)  # of the next decision


@policy("epsilon-greedy", state=EpsilonGreedyState)
class EpsilonGreedy(Learner):
    """Recommend an arm at random with probability ε, otherwise the arm with the highest mean reward.

        ε_t = min(1, 1 / log(t + 10⁻⁷))

    where t is one more than the number of rewards this learner was credited with.

    Parameters
    ----------
    epsilon : float, optional
        Fixed ε from 0 to 1. The default is the schedule.
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    Thompson : Explore by posterior sampling instead.
    Ucb1 : Explore by upper confidence bounds instead.

    Notes
    -----
    An arm without a credited reward has mean 0, and ties are broken at random. The schedule explores about T / log T
    times, so neither this policy nor a hybrid built on it has O(√T) regret.

    References
    ----------
    Sutton & Barto (1998), section 2.2; schedule of Kuleshov & Precup (2014).

    Examples
    --------
    >>> str(EpsilonGreedy(epsilon=0.1, protocol="actual"))
    'epsilon-greedy(epsilon=0.1)/actual'
    >>> from adhere import simulate
    >>> result = simulate("epsilon-greedy(epsilon=0.1)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    44.25

    """

    epsilon: float | None = parameter(default=None, at_least=0, at_most=1)


@implements(choose, EpsilonGreedy)
def choose_epsilon_greedy(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> Any:
    """Explore with probability ε, otherwise exploit; one random number decides both."""
    u = uniform(rng)
    if u < state.epsilon:
        return equally_likely(u, state.epsilon, rule.n_arms)
    return draw_index_of_largest(state.means, rng)


@inline
def anneal(rule: Rule, state: State) -> None:
    """Set ε to min(1, 1 / log(t + 10⁻⁷)), where t is one more than the number of rewards. Keep a fixed ε."""
    if not unlikely(not math.isnan(rule.epsilon)):
        t = 1.0
        for arm in range(rule.n_arms):
            t += state.counts[arm]
        if unlikely(t >= _END):
            state.epsilon = 1.0 / math.log(t + 1e-7)
        else:
            state.epsilon = _SCHEDULE[np.uint64(t)]


@implements(learn, EpsilonGreedy)
def learn_epsilon_greedy(
    rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream
) -> None:
    """Update the arm's mean and anneal ε."""
    count, total = state.counts[arm] + 1.0, state.totals[arm] + reward
    state.counts[arm], state.totals[arm], state.means[arm] = count, total, total / count
    anneal(rule, state)


@implements(probabilities, EpsilonGreedy)
def probabilities_epsilon_greedy(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Write ε/k for each arm, and add an equal share of 1 - ε for each arm with the highest mean."""
    for arm in range(rule.n_arms):
        out[arm] = state.means[arm]
    share_among_largest(out, rule.n_arms)
    for arm in range(rule.n_arms):
        out[arm] = state.epsilon / rule.n_arms + (1.0 - state.epsilon) * out[arm]
