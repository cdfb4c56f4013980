"""Base Thompson Sampler: Thompson sampling with importance weights (Algorithm 5 of the paper)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adhere.compilation import between, implements
from adhere.policies.beta import chances_of_being_largest, draw_largest
from adhere.policies.generic import choose, learn, probabilities
from adhere.policies.policy import Assembled, Floats, Learner, Setting, policy
from adhere.policies.thompson import Thompson, draw_success


@policy("base-thompson")
class BaseThompson(Learner):
    """Thompson sampling in steps of 1/p, where p is the probability that this learner is asked at all.

        θ_j ~ Beta(S_j + 1/p, F_j + 1/p),    S_j or F_j ← S_j or F_j + 1/p

    The prior's count is 1/p too, with the p of the decision at hand. On its own p = 1, and it is `thompson`, whose
    faster rule it then runs; its own rule is for the certified expert of a hierarchy.

    Reference: Della Penna, Reid & Balduzzi (2016), Algorithm 5.

    >>> str(BaseThompson())
    'base-thompson'
    """

    uses_weight: ClassVar[bool] = True

    def initial_state(self, n_arms: int) -> Floats:
        """Weighted successes S and failures F of each arm, without the prior."""
        return np.zeros(2 * n_arms)

    def assemble(self, setting: Setting, certified: bool = True) -> Assembled:
        """The rule of `thompson`: nobody but a hierarchy asks with a probability below 1."""
        return Thompson(protocol=self.protocol).assemble(setting)._replace(deciders=(str(self),))

    def assemble_weighted(self, setting: Setting) -> Assembled:
        """The rule that takes weights."""
        return super().assemble(setting)


@implements(choose, BaseThompson)
def choose_base_thompson(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """The arm with the largest draw."""
    return draw_largest(between(state, 0, rule.n_arms), between(state, rule.n_arms, 2 * rule.n_arms), weight, rng)


@implements(learn, BaseThompson)
def learn_base_thompson(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Count a success or a failure, 1/p times."""
    state[arm if draw_success(reward, rng) else rule.n_arms + arm] += weight


@implements(probabilities, BaseThompson)
def probabilities_base_thompson(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """By quadrature."""
    n_arms = rule.n_arms
    chances_of_being_largest(between(state, 0, n_arms), between(state, n_arms, 2 * n_arms), weight, out)
