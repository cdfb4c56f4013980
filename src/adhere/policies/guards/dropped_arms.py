"""Probabilities of the arms that remain after a look at the trial has dropped others."""

from typing import Any, Final

from adhere.compilation import Memo, State, generic_with_default, implements, inline
from adhere.policies.base.generic import Floats, Rule, probabilities, remember
from adhere.policies.guards.burn_in import BurnInRule
from adhere.policies.guards.floor import Clip, FloorRule, Mix, clip
from adhere.policies.guards.guard import prepare_shares_from
from adhere.policies.learners.thompson import Thompson
from adhere.randomness import Stream, recommendation_number

_NOTHING: Final = 1e-12  # below this sum, no shares remain
_FAR: Final = 2.0**40  # a power of two, so that the scaling can be undone exactly


@inline
def shares_left(shares: Any, dropped: Any, n_arms: int) -> None:
    """Set the shares of dropped arms to 0 and rescale the others to sum to 1; if all are 0, make them equal."""
    total, n_left = 0.0, 0
    for arm in range(n_arms):
        if not dropped[arm]:
            total += shares[arm]
            n_left += 1
    for arm in range(n_arms):
        if dropped[arm]:
            shares[arm] = 0.0
        elif total < _NOTHING:
            shares[arm] = 1.0 / n_left
        else:
            shares[arm] /= total


@generic_with_default
def probabilities_left(rule: Rule, state: State, memo: Memo, dropped: Any, out: Floats, rng: Stream) -> None:
    """Write the probability of each arm, given that dropped arms cannot be chosen (after `remember`).

    Most policies have their probabilities rescaled. A guard keeps its promises to the arms that remain.
    """
    probabilities(rule, state, memo, 1.0, out, rng)
    shares_left(out, dropped, rule.n_arms)


@implements(probabilities_left, Thompson.rule_class)
def probabilities_left_of_thompson(
    rule: Rule, state: State, memo: Memo, dropped: Any, out: Floats, rng: Stream
) -> None:
    """Write the probability that each remaining arm is the best, by making dropped arms very bad temporarily."""
    for arm in range(rule.n_arms):
        state.failures[arm] *= _FAR if dropped[arm] else 1.0
    probabilities(rule, state, memo, 1.0, out, rng)
    for arm in range(rule.n_arms):
        state.failures[arm] /= _FAR if dropped[arm] else 1.0
    shares_left(out, dropped, rule.n_arms)


@implements(probabilities_left, FloorRule)
def probabilities_left_above_floor(
    rule: Rule, state: State, memo: Memo, dropped: Any, out: Floats, rng: Stream
) -> None:
    """Write probabilities in which every remaining arm has at least its minimum."""
    remember(rule.inner, state.inner, memo.inner)
    probabilities_left(rule.inner, state.inner, memo.inner, dropped, out, rng)
    for arm in range(rule.n_arms):
        minimum = rule.control if arm == 0 else rule.share
        memo.shares[arm] = 0.0 if dropped[arm] else minimum
    kept = kept_of_left(rule.raising, rule, memo, out)
    for arm in range(rule.n_arms):
        out[arm] = memo.shares[arm] + kept * out[arm]


@generic_with_default
def kept_of_left(raising: Mix | Clip, rule: Rule, memo: Memo, of_inner: Any) -> float:
    """Return the probability that the minima of the remaining arms leave to the policy inside."""
    kept = 1.0
    for arm in range(rule.n_arms):
        kept -= memo.shares[arm]
    return max(0.0, kept)


@implements(kept_of_left, Clip)
def kept_by_clipping(raising: Clip, rule: Rule, memo: Memo, of_inner: Any) -> float:
    """Return the factor of a floor that clips, computed as if no arm had been dropped."""
    return clip(raising, rule, memo, of_inner)


@implements(probabilities_left, BurnInRule)
def probabilities_left_in_burn_in(
    rule: Rule, state: State, memo: Memo, dropped: Any, out: Floats, rng: Stream
) -> None:
    """Write the probabilities of the remaining arms in the block; after the burn-in, those of the policy inside."""
    remember(rule.inner, state.inner, memo.inner)
    if recommendation_number(rng) >= rule.patients:
        probabilities_left(rule.inner, state.inner, memo.inner, dropped, out, rng)
    else:
        prepare_shares_from(rule, state, memo, out, rng)
        for arm in range(rule.n_arms):
            out[arm] = memo.shares[arm]
        shares_left(out, dropped, rule.n_arms)
