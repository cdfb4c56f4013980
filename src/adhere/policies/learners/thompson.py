"""Thompson sampling for rewards in [0, 1]."""

from __future__ import annotations

from typing import ClassVar

from adhere.compilation import (
    Memo,
    Number,
    PerArm,
    State,
    guessed,
    if_two_arms,
    implements,
    inline,
    specialise,
)
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Floats, Rule, choose, learn, probabilities
from adhere.policies.base.learner import Learner
from adhere.policies.base.policy import CompiledPolicy, TrialShape
from adhere.policies.learners.base_thompson import BaseThompson
from adhere.policies.numerics.beta import draw_largest, draw_success, probabilities_of_being_largest
from adhere.policies.numerics.beta_inequality import MAX_P, MIN_P, first_h, follow
from adhere.randomness import Stream, uniform


class ThompsonState(State):
    """The parameters of each arm's Beta, and what two arms need beside them."""

    successes = PerArm(1.0)  # with the prior's 1
    failures = PerArm(1.0)
    p = Number(0.5)  # P(θ_1 > θ_0) of two arms
    h = Number(first_h(1.0))  # by which p changes, in units of 2^(-512 · exponent)
    exponent = Number()


@policy("thompson", state=ThompsonState)
class Thompson(Learner):
    """Draw θ_j ~ Beta(1 + successes_j, 1 + failures_j) for each arm; pick the largest.

    Parameters
    ----------
    protocol
        Which arm is credited with a reward: "chosen", "actual", "comply" or a credit table.

    Notes
    -----
    A reward strictly between 0 and 1 becomes a Bernoulli draw, as in Algorithm 5. With two arms nothing is
    drawn but the winner: p = P(θ_1 > θ_0) changes with each success or failure by h divided by one parameter,

        h = B(a + c, b + d) / (B(a, b) · B(c, d)),

    for θ_1 ~ Beta(a, b), θ_0 ~ Beta(c, d), and h itself by a ratio of them, so p is followed exactly (Cook,
    2005). What it is below 10⁻¹² is rounding noise, so it is drawn with p clipped to [10⁻¹², 1 - 10⁻¹²]: no arm is
    ever impossible. Inside a hierarchy the certified expert is `base-thompson`, which can be weighted.

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
        """The rule of `base-thompson`, whose steps need not be 1."""
        return BaseThompson(protocol=self.protocol).assemble_weighted(shape)


@implements(choose, Thompson)
@inline
def choose_thompson(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """The arm with the largest draw."""
    if rule.n_arms == 2:
        # As `u < clipped p`, of which only one comparison waits for p.
        u = uniform(rng)
        return guessed(1 if ((u < state.p) & (u < MAX_P)) | (u < MIN_P) else 0)  # type: ignore[no-any-return]
    return choose_by_drawing(rule, state, rng)


def choose_by_drawing(rule: Rule, state: State, rng: Stream) -> int:
    """Draw a θ for each arm."""
    return draw_largest(state.successes, state.failures, 0.0, rng)


def never_drawn(rule: Rule, state: State, rng: Stream) -> int:
    """What two arms need of it: nothing, least of all the time to compile it."""
    return 0


specialise(choose_by_drawing, if_two_arms(never_drawn, choose_by_drawing))


@implements(learn, Thompson)
@inline
def learn_thompson(rule: Rule, state: State, memo: Memo, arm: int, reward: float, weight: float, rng: Stream) -> None:
    """Count a success or a failure."""
    success = draw_success(reward, rng)
    if rule.n_arms == 2:
        follow_p(state, arm, success)
        for other in range(2):
            # Nothing changes by -0.0, and compilers know it: all are counted without a branch.
            state.successes[other] += 1.0 if success and other == arm else -0.0
            state.failures[other] += 1.0 if other == arm and not success else -0.0
    elif success:
        state.successes[arm] += 1.0
    else:
        state.failures[arm] += 1.0


@inline
def follow_p(state: State, arm: int, success: bool) -> None:
    """Move p = P(θ_1 > θ_0) and h to where they are after one more success or failure of an arm."""
    successes, failures = state.successes[0] + state.successes[1], state.failures[0] + state.failures[1]
    own_success, own_failure = state.successes[arm], state.failures[arm]
    own, of_its_kind = (own_success, successes) if success else (own_failure, failures)
    of_arm, total, rises = own_success + own_failure, successes + failures, (arm == 1) == success
    state.p, state.h, state.exponent = follow(
        state.p, state.h, state.exponent, own, of_its_kind, of_arm, total, rises
    )


@implements(probabilities, Thompson)
@inline
def probabilities_thompson(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """With two arms p, clipped as for drawing, else by quadrature."""
    if rule.n_arms == 2:
        p = state.p if state.p > MIN_P else MIN_P
        out[1] = p if p < MAX_P else MAX_P
        out[0] = 1.0 - out[1]
    else:
        probabilities_of_being_largest(state.successes, state.failures, 0.0, out)
