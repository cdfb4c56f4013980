"""ε-greedy with the standard annealing schedule, or with a fixed ε."""

import math
from typing import Any

import numpy as np

from adhere.compilation import Memo, Number, PerArm, State, implements, unlikely
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.parameters import parameter
from adhere.policies.numerics.selection import newest_wins_tie, share_among_largest
from adhere.randomness import Stream, uniform

_BELOW_ONE = 1.0 - 2.0**-52
_SCHEDULE_END = 2**14
# A logarithm for every update would be a fifth of a hierarchy's time.
_SCHEDULE = np.array([1.0 / math.log(t + 1e-7) if t > 2 else 1.0 for t in range(_SCHEDULE_END)])


class EpsilonGreedyState(State):
    """What ε-greedy has learned."""

    counts = PerArm()  # how many rewards each arm was credited with
    totals = PerArm()  # their sum
    means = PerArm()  # and their mean
    epsilon = Number(lambda rule: 1.0 if math.isnan(rule.epsilon) else rule.epsilon)  # of the next decision


@policy("epsilon-greedy", state=EpsilonGreedyState)
class EpsilonGreedy(Learner):
    """Recommend an arm at random with probability ε, otherwise the arm with the highest mean reward.

        ε_t = min(1, 1 / log(t + 10⁻⁷))

    where t is one more than the number of rewards this learner was credited with.

    Parameters
    ----------
    epsilon
        A fixed ε from 0 to 1, instead of the schedule.
    protocol
        Which arm is credited with a reward: "chosen", "actual", "comply" or a credit table.

    Notes
    -----
    An uncredited arm has mean 0 and ties are broken at random. The schedule explores about T / log T times, so
    neither it nor a hybrid built on it has O(√T) regret.

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
    u, epsilon = uniform(rng), state.epsilon
    if u < epsilon:
        if rule.n_arms == 2:
            return 1 if u + u >= epsilon else 0
        return np.int64(u / epsilon * rule.n_arms * _BELOW_ONE)  # which keeps it below n_arms
    best, n_tied = 0, 1
    for arm in range(1, rule.n_arms):
        if state.means[arm] > state.means[best]:
            best, n_tied = arm, 1
        elif state.means[arm] == state.means[best]:
            n_tied += 1
            if newest_wins_tie(n_tied, rng):
                best = arm
    return best


@implements(learn, EpsilonGreedy)
def learn_epsilon_greedy(
    rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream
) -> None:
    """Move the arm's mean; anneal ε unless it is given."""
    count, total = state.counts[arm] + 1.0, state.totals[arm] + reward
    state.counts[arm], state.totals[arm], state.means[arm] = count, total, total / count
    if not unlikely(not math.isnan(rule.epsilon)):
        t = 1.0
        for other in range(rule.n_arms):
            t += state.counts[other]
        if unlikely(t >= _SCHEDULE_END):
            state.epsilon = 1.0 / math.log(t + 1e-7)
        else:
            state.epsilon = _SCHEDULE[np.uint64(t)]


@implements(probabilities, EpsilonGreedy)
def probabilities_epsilon_greedy(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Write ε/k for each arm, and the rest shared among the arms with the highest mean."""
    for arm in range(rule.n_arms):
        out[arm] = state.means[arm]
    share_among_largest(out, rule.n_arms)
    for arm in range(rule.n_arms):
        out[arm] = state.epsilon / rule.n_arms + (1.0 - state.epsilon) * out[arm]
