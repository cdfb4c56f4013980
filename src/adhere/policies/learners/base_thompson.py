"""Base Thompson Sampler: Thompson sampling with importance weights (Algorithm 5 of the paper)."""

from typing import ClassVar

from adhere.compilation import Memo, PerArm, State, implements
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.policy import CompiledPolicy, TrialShape
from adhere.policies.base.registry import lookup
from adhere.policies.numerics.beta import draw_largest, draw_success, probabilities_of_being_largest
from adhere.randomness import Stream


class BaseThompsonState(State):
    """Weighted counts of successes and failures, without the prior counts."""

    successes = PerArm()
    failures = PerArm()


@policy("base-thompson", state=BaseThompsonState)
class BaseThompson(Learner):
    """Thompson sampling in steps of 1/p, where p is the probability that a hierarchy draws this learner.

        θ_j ~ Beta(S_j + 1/p, F_j + 1/p),    S_j or F_j ← S_j or F_j + 1/p

    Parameters
    ----------
    protocol : str, Protocol or credit table, default "chosen"
        Rule that decides which arm is credited with a reward.

    See Also
    --------
    Thompson : The same policy on its own, with a faster rule.
    HierarchicalBandit : The hybrid that needs a weighted Thompson sampler.

    Notes
    -----
    The prior's counts are also 1/p, with the p of the present decision. Outside a hierarchy p = 1, and this policy is
    the same as `thompson`, whose faster rule it then uses. Its own rule is used for a certified expert of a
    hierarchy.

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 5.

    Examples
    --------
    >>> str(BaseThompson())
    'base-thompson'
    >>> from adhere import simulate
    >>> on_its_own = simulate(["base-thompson", "thompson"], "defiers", n_patients=100, n_runs=20, progress=False)
    >>> on_its_own[0].surplus.mean == on_its_own[1].surplus.mean
    True

    """

    uses_weight: ClassVar[bool] = True
    matches_probability: ClassVar[bool] = True

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the rule of `thompson`, since only a hierarchy draws this learner with a probability below 1."""
        thompson: CompiledPolicy = lookup("thompson")(protocol=self.protocol).assemble(shape)
        return thompson._replace(components=(str(self),))

    def assemble_weighted(self, shape: TrialShape) -> CompiledPolicy:
        """Return the rule that takes weights."""
        return super().assemble(shape)


@implements(choose, BaseThompson)
def choose_base_thompson(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Return the arm with the largest draw."""
    return draw_largest(state.successes, state.failures, weight, rng)


@implements(learn, BaseThompson)
def learn_base_thompson(
    rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream
) -> None:
    """Count a success or a failure 1/p times."""
    if draw_success(reward, rng):
        state.successes[arm] += weight
    else:
        state.failures[arm] += weight


@implements(probabilities, BaseThompson)
def probabilities_base_thompson(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Write the probabilities that each arm's draw is the largest, computed by quadrature."""
    probabilities_of_being_largest(state.successes, state.failures, weight, out)
