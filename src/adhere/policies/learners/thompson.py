"""Thompson sampling for rewards in [0, 1]."""

from typing import ClassVar

from adhere.compilation import Memo, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.policy import CompiledPolicy, TrialShape
from adhere.policies.learners.base_thompson import BaseThompson
from adhere.policies.numerics.beta import draw_success
from adhere.policies.numerics.beta_posterior import BetaPosterior, count, draw_best, probabilities_of_best
from adhere.randomness import Stream


@policy("thompson", state=BetaPosterior)
class Thompson(Learner):
    """Draw θ_j ~ Beta(1 + successes_j, 1 + failures_j) for each arm, and recommend the arm with the largest draw.

    Parameters
    ----------
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    BaseThompson : The weighted form, for hierarchies.
    TopTwoThompson : Learn more about the second-best arm.
    MediatedThompson : Learn from both the arm recommended and the arm taken.

    Notes
    -----
    A reward strictly between 0 and 1 becomes a Bernoulli draw, as in Algorithm 5 of the paper. With two arms, only
    the winner is drawn. For θ_1 ~ Beta(a, b) and θ_0 ~ Beta(c, d), each success or failure changes p = P(θ_1 > θ_0)
    by h divided by one of the parameters, where

        h = B(a + c, b + d) / (B(a, b) · B(c, d)).

    h itself changes by a ratio of parameters, so p is updated exactly (Cook, 2005). Below 10⁻¹² it is only rounding
    noise, so p is clipped to [10⁻¹², 1 - 10⁻¹²] before the draw, and every arm remains possible. Inside a hierarchy,
    the certified expert is `base-thompson`, which supports weights.

    References
    ----------
    Thompson (1933); Agrawal & Goyal (2012); Cook (2005), "Exact calculation of beta inequalities".

    Examples
    --------
    >>> str(Thompson(protocol="actual"))
    'thompson/actual'
    >>> from adhere import simulate
    >>> result = simulate("thompson", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> round(result[0].surplus.mean, 2)
    48.2

    """

    uses_weight: ClassVar[bool] = True
    matches_probability: ClassVar[bool] = True
    algorithm_version: ClassVar[int] = 2  # since p is clipped

    def assemble_weighted(self, shape: TrialShape) -> CompiledPolicy:
        """Return the rule of `base-thompson`, whose steps may differ from 1."""
        return BaseThompson(protocol=self.protocol).assemble_weighted(shape)


@implements(choose, Thompson)
def choose_thompson(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Draw the arm whose θ is the largest."""
    return draw_best(rule, state, rng)


@implements(learn, Thompson)
def learn_thompson(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Count a success or a failure."""
    count(rule, state, arm, draw_success(reward, rng))


@implements(probabilities, Thompson)
def probabilities_thompson(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the posterior probability that each arm is the best."""
    probabilities_of_best(rule, state, out)
