"""KL-UCB: optimism with the confidence bound that Bernoulli rewards allow."""

import math

from adhere.compilation import Memo, Number, PerArm, State, implements, no_inline
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.parameters import parameter
from adhere.policies.numerics.selection import choose_largest_index, index_of, probabilities_of_largest_index
from adhere.randomness import Stream

# Each step of Newton's method roughly doubles the number of correct digits. Eight steps reach rounding error for any
# mean.
_STEPS = 8


class KlUcbState(State):
    """Counts and sums of rewards, and the width that all bounds share."""

    pulls = PerArm()  # number of rewards credited to each arm
    totals = PerArm()  # their sum
    exploration = Number()  # log t + c log log t, where t is the number of rewards of all arms


@policy("kl-ucb", state=KlUcbState)
class KlUcb(Learner):
    """Recommend the arm with the highest upper confidence bound by Bernoulli divergence.

        max {q : n_j · d(mean_j, q) ≤ log t + c · log log t},
        d(p, q) = p log(p/q) + (1 - p) log((1 - p)/(1 - q))

    where t is the number of rewards this learner was credited with, and n_j the number credited to arm j. Rewards are
    from 0 to 1.

    Parameters
    ----------
    c : float, default 0
        Weight of log log t, at least 0. The regret bound is proved for c = 3. The paper recommends 0 in practice.
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    Ucb1 : A simpler bound, which is never tighter.

    Notes
    -----
    For Bernoulli rewards, its regret is asymptotically the smallest possible (Lai & Robbins, 1985), and never larger
    than that of `ucb1`. A reward between 0 and 1 is used unchanged, and the divergence is then an upper bound of the
    true one.

    The paper tries every arm once, in order. Here an arm without a reward has an infinite bound, and ties are broken
    at random, as in `ucb1`. The bound is computed by eight steps of Newton's method, from above.

    References
    ----------
    Garivier & Cappé (2011), "The KL-UCB algorithm for bounded stochastic bandits and beyond", Algorithm 1.

    Examples
    --------
    >>> str(KlUcb(c=3, protocol="actual"))
    'kl-ucb(c=3)/actual'
    >>> from adhere import simulate
    >>> result = simulate("kl-ucb", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    49.0

    """

    c: float = parameter(default=0.0, at_least=0)


@no_inline
def largest_within(mean: float, radius: float) -> float:
    """Return the largest q with d(mean, q) ≤ radius.

    d is convex in q, so Newton's method stays above the solution when it starts above it. The start is the smaller of
    two upper bounds on q: one from Pinsker's inequality, the other from d(p, q) ≥ -(1 - p) log(1 - q) - H(p), where H
    is the entropy.
    """
    if mean >= 1.0:
        return 1.0
    minus_entropy = (1.0 - mean) * math.log1p(-mean) + (mean * math.log(mean) if mean > 0.0 else 0.0)
    q = min(mean + math.sqrt(radius / 2.0), -math.expm1((minus_entropy - radius) / (1.0 - mean)))
    for _ in range(_STEPS):
        if q <= mean or q >= 1.0:
            return max(mean, min(q, 1.0))
        divergence = minus_entropy - mean * math.log(q) - (1.0 - mean) * math.log1p(-q)
        q -= (divergence - radius) * q * (1.0 - q) / (q - mean)
    return max(mean, q)


@implements(index_of, KlUcb.rule_class)
def upper_bound(rule: Rule, state: State, arm: int) -> float:
    """Return the largest mean that an arm's rewards allow, or infinity if the arm has no reward."""
    if state.pulls[arm] == 0.0:
        return math.inf
    return largest_within(state.totals[arm] / state.pulls[arm], state.exploration / state.pulls[arm])


implements(choose, KlUcb)(choose_largest_index)
implements(probabilities, KlUcb)(probabilities_of_largest_index)


@implements(learn, KlUcb)
def learn_kl_ucb(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Count the reward and widen every arm's confidence bound."""
    state.pulls[arm] += 1.0
    state.totals[arm] += reward
    t = 0.0
    for other in range(rule.n_arms):
        t += state.pulls[other]
    exploration = math.log(t)
    if rule.c > 0.0 and t > 1.0:
        exploration += rule.c * math.log(math.log(t))
    state.exploration = max(exploration, 0.0)
