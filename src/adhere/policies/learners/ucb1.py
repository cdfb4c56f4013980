"""UCB1: optimism in the face of uncertainty."""

import math

from adhere.compilation import Memo, Number, PerArm, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.numerics.selection import choose_largest_index, index_of, probabilities_of_largest_index
from adhere.randomness import Stream


class Ucb1State(State):
    """Counts and sums of rewards, and the logarithm that all bounds share."""

    pulls = PerArm()  # number of rewards credited to each arm
    totals = PerArm()  # their sum
    two_log_n = Number()  # 2 ln n, where n is the number of rewards of all arms


@policy("ucb1", state=Ucb1State)
class Ucb1(Learner):
    """Recommend the arm with the highest upper confidence bound.

        mean_j + √(2 ln n / n_j)

    where n is the number of rewards this learner was credited with, and n_j the number credited to arm j.

    Parameters
    ----------
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    KlUcb : A tighter bound for rewards of 0 and 1.
    HacUcb : Upper confidence bounds that use the arm taken.

    Notes
    -----
    The paper tries every arm once, in order. Here an arm without a reward has an infinite bound, and ties are broken
    at random. This also supports protocols that do not credit the chosen arm.

    References
    ----------
    Auer, Cesa-Bianchi & Fischer (2002), "Finite-time analysis of the multiarmed bandit problem".

    Examples
    --------
    >>> str(Ucb1(protocol="comply"))
    'ucb1/comply'
    >>> from adhere import simulate
    >>> result = simulate("ucb1", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    44.0

    """


@implements(index_of, Ucb1.rule_class)
def upper_bound(rule: Rule, state: State, arm: int) -> float:
    """Return an arm's mean plus the width of its confidence bound, or infinity if the arm has no reward."""
    if state.pulls[arm] == 0.0:
        return math.inf
    return state.totals[arm] / state.pulls[arm] + math.sqrt(state.two_log_n / state.pulls[arm])  # type: ignore[no-any-return]


implements(choose, Ucb1)(choose_largest_index)
implements(probabilities, Ucb1)(probabilities_of_largest_index)


@implements(learn, Ucb1)
def learn_ucb1(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Count the reward and widen every arm's confidence bound."""
    state.pulls[arm] += 1.0
    state.totals[arm] += reward
    n = 0.0
    for other in range(rule.n_arms):
        n += state.pulls[other]
    state.two_log_n = 2.0 * math.log(n)
