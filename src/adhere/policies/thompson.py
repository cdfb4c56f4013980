"""Thompson sampling for rewards in [0, 1]."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adhere.compilation import between, guessed, helper, implements, number_in, specialise, unlikely
from adhere.policies.beta import chances_of_being_largest, draw_largest
from adhere.policies.generic import choose, learn, probabilities
from adhere.policies.policy import Assembled, Floats, Learner, Setting, policy
from adhere.randomness import uniform


@policy("thompson")
class Thompson(Learner):
    """Draw θ_j ~ Beta(1 + successes_j, 1 + failures_j) for each arm; pick the largest.

    A reward strictly between 0 and 1 becomes a Bernoulli draw, as in Algorithm 5. With two arms nothing is
    drawn but the winner: p = P(θ_1 > θ_0) changes with each success or failure by h divided by one parameter,

        h = B(a + c, b + d) / (B(a, b) · B(c, d)),

    for θ_1 ~ Beta(a, b), θ_0 ~ Beta(c, d), and h itself by a ratio of them, so p is followed exactly (Cook,
    2005). Inside a hierarchy the certified expert is `base-thompson`, which can be weighted.

    References: Thompson (1933); Agrawal & Goyal (2012); Cook (2005), "Exact calculation of beta inequalities".

    >>> str(Thompson(protocol="actual"))
    'thompson/actual'
    """

    uses_weight: ClassVar[bool] = True

    def assemble_weighted(self, setting: Setting) -> Assembled:
        """The rule of `base-thompson`, whose steps need not be 1."""
        from adhere.policies.base_thompson import BaseThompson  # which builds on this file

        return BaseThompson(protocol=self.protocol).assemble_weighted(setting)

    def initial_state(self, n_arms: int) -> Floats:
        """Successes and failures of each arm with the prior's 1 each; then p, h and the exponent of h."""
        return np.concatenate([np.ones(2 * n_arms), [0.5, 1.0 / 6.0, 0.0]])


@helper
def draw_success(reward: float, rng: Any) -> bool:
    """A reward in [0, 1] as a success or a failure."""
    if unlikely(reward * reward != reward):  # neither 0 nor 1
        return uniform(rng) < reward
    return reward > 0.0


@implements(choose, Thompson)
def choose_thompson(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """The arm with the largest draw."""
    n_arms = rule.n_arms
    if n_arms == 2:
        return guessed(1 if uniform(rng) < state[4] else 0)  # type: ignore[no-any-return]
    return choose_by_drawing(rule, state, rng)


def choose_by_drawing(rule: Any, state: Any, rng: Any) -> int:
    """Draw a θ for each arm."""
    n_arms = rule.n_arms
    return draw_largest(between(state, 0, n_arms), between(state, n_arms, 2 * n_arms), 0.0, rng)


def never_drawn(rule: Any, state: Any, rng: Any) -> int:
    """What two arms need of it: nothing, least of all the time to compile it."""
    return 0


specialise(choose_by_drawing, lambda rule, *_: never_drawn if number_in(rule, "n_arms") == 2 else choose_by_drawing)


@implements(learn, Thompson)
def learn_thompson(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Count a success or a failure."""
    n_arms = rule.n_arms
    success = draw_success(reward, rng)
    if n_arms == 2:
        follow_p(state, arm, success)
    else:
        state[arm if success else n_arms + arm] += 1.0


# h falls below what a float can hold where the arms are far apart, but must be able to rise again when they
# close up: it is kept as h · 2^(-512 · exponent), the exponent a whole number of such steps.
_STEP = 2.0**512


@helper
def follow_p(state: Any, arm: int, success: bool) -> None:
    """Move p = P(θ_1 > θ_0) and h to where they are after one more success or failure of an arm."""
    p, h, exponent = state[4], state[5], state[6]
    second = arm == 1
    successes, failures = state[0] + state[1], state[2] + state[3]
    total = successes + failures
    own_success, own_failure = (state[1], state[3]) if second else (state[0], state[2])
    own, of_its_kind = (own_success, successes) if success else (own_failure, failures)
    share = 1.0 / (own * total)
    change = h * (share * total) if exponent == 0.0 else 0.0
    h *= of_its_kind * (own_success + own_failure) * share
    if unlikely(h < 1.0 / _STEP):
        h *= _STEP
        exponent += 1.0
    elif unlikely((h > 1.0) & (exponent > 0.0)):
        h /= _STEP
        exponent -= 1.0
    # Nothing changes by -0.0, and compilers know it.
    state[0] += 1.0 if success and not second else -0.0
    state[1] += 1.0 if success and second else -0.0
    state[2] += -0.0 if success or second else 1.0
    state[3] += 1.0 if second and not success else -0.0
    state[4], state[5], state[6] = p + (change if second == success else -change), h, exponent


@implements(probabilities, Thompson)
def probabilities_thompson(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """With two arms p itself, else by quadrature."""
    n_arms = rule.n_arms
    if n_arms == 2:
        out[1] = min(1.0, max(0.0, state[4]))  # rounding may have carried p a little too far
        out[0] = 1.0 - out[1]
    else:
        chances_of_being_largest(between(state, 0, n_arms), between(state, n_arms, 2 * n_arms), 0.0, out)
