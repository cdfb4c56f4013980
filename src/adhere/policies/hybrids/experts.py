"""The experts of a hierarchy in compiled code: a tuple of rules, which may have different types.

State and memo contain one slice for each expert. Experts of one type are picked by index. Experts of several types
are picked by recursion over the tuple, which the compiler unrolls.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numba import types

from adhere.compilation import (
    FEW_ON_GPU,
    Memo,
    State,
    generic_with_default,
    implements,
    inline,
    memo_of,
    specialise,
    state_of,
    strip,
    view,
)
from adhere.policies.base.generic import (
    Rule,
    choose,
    learn_recycled,
    probabilities,
    remember,
    remember_guarded,
    update,
)
from adhere.policies.hybrids.recycling import AnyCacheRule, CacheRule, count_outcomes, holds_every_arm, take_outcome
from adhere.randomness import Stream, use_own_keys, use_public_keys

NO_EXPERT = -1
MAX_EXPERTS = 62  # a set of experts is the bits of an integer


def set_of(members: Sequence[bool]) -> int:
    """Return a set of experts as the bits of an integer, for use in compiled code."""
    return sum(1 << i for i, is_member in enumerate(members) if is_member)


@inline
def is_in(experts: int, i: int) -> int:
    """Return 1 if expert i belongs to a set, otherwise 0."""
    return (experts >> i) & 1


def for_nth_expert(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a generic function that takes (experts, n, states, memos, …) and acts on the nth expert."""

    def by_index(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        expert, n = experts[nth], len(experts)
        return function(expert, state_of(expert, strip(states, nth, n)), memo_of(expert, strip(memos, nth, n)), *rest)

    def on_nth(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        return by_index(experts, nth, states, memos, *rest)

    def the_only(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        return function(experts[0], state_of(experts[0], states), memo_of(experts[0], memos), *rest)

    def by_recursion(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        if nth == 0:
            return function(experts[0], state_of(experts[0], states), memo_of(experts[0], memos), *rest)
        n = len(experts)
        return on_nth(experts[1:], nth - 1, view(states, states.size // n), view(memos, memos.size // n), *rest)

    def one_by_one(experts: Any, *_: Any) -> Callable[..., Any]:
        return the_only if len(experts) == 1 else by_recursion

    def on_cpu(experts: Any, *rest: Any) -> Callable[..., Any]:
        return by_index if isinstance(experts, types.UniTuple) else one_by_one(experts)

    def on_gpu(experts: Any, *rest: Any) -> Callable[..., Any]:
        # A GPU has enough registers for the slices of a few experts, but only at addresses known to the compiler.
        return one_by_one(experts) if len(experts) <= FEW_ON_GPU else on_cpu(experts)

    specialise(on_nth, on_gpu)
    specialise(on_nth, on_cpu, target="cpu")
    return on_nth


remember_nth = for_nth_expert(remember)
remember_guarded_nth = for_nth_expert(remember_guarded)
choose_nth = for_nth_expert(choose)
probabilities_nth = for_nth_expert(probabilities)
learn_recycled_nth = for_nth_expert(learn_recycled)
update_nth = for_nth_expert(update)


class ByProbability(NamedTuple):
    """Weighting of a certified expert's updates by one over its probability of being drawn."""

    by_probability: bool = True
    memo_size: int = 0  # of a second memo beside the top's own


class ByEstimate(NamedTuple):
    """Weighting like `ByProbability`, for a top whose probabilities must be estimated by choosing again."""

    by_probability: bool = True
    memo_size: int = 0  # as large as the top's own memo


class ByOne(NamedTuple):
    """No weighting, since no expert uses weights: the code for the top's probabilities is not even compiled."""

    by_probability: bool = False
    memo_size: int = 0


Weighting = ByProbability | ByEstimate | ByOne


@generic_with_default
def weight_of(weighting: Weighting, rule: Rule, state: State, memo: Memo, drawn: int, rng: Stream) -> float:
    """Return the importance weight of the certified expert that was drawn, or 1 if no expert needs a weight."""
    return 1.0


@implements(weight_of, ByProbability)
def weight_from_top(weighting: ByProbability, rule: Rule, state: State, memo: Memo, drawn: int, rng: Stream) -> float:
    """Return one over the top's probability of drawing the expert."""
    probabilities(rule.top, state.top, memo.top, 1.0, memo.top_probabilities, rng)
    return 1.0 / memo.top_probabilities[drawn]  # type: ignore[no-any-return]


@implements(weight_of, ByEstimate)
def weight_from_estimate(
    weighting: ByEstimate, rule: Rule, state: State, memo: Memo, drawn: int, rng: Stream
) -> float:
    """Return one over the top's estimated probability of drawing the expert, using a second memo for the draws."""
    beside = memo_of(rule.top, memo.estimating)
    remember(rule.top, state.top, beside)
    own = use_public_keys(rng)
    probabilities(rule.top, state.top, beside, 1.0, memo.top_probabilities, rng)
    use_own_keys(rng, own)
    return 1.0 / memo.top_probabilities[drawn]  # type: ignore[no-any-return]


@generic_with_default
def recycle_nth(
    cache: AnyCacheRule, rule: Rule, nth: int, state: State, memo: Memo, chosen: int, reward: float, rng: Stream
) -> None:
    """Let the nth expert, if certified, recycle a round it was not drawn for. Without a cache, do nothing."""


@implements(recycle_nth, CacheRule)
def recycle_outcome(
    cache: CacheRule, rule: Rule, nth: int, state: State, memo: Memo, chosen: int, reward: float, rng: Stream
) -> None:
    """If every arm has a stored outcome, let the expert choose an arm and learn from a stored outcome of that arm.
    Then store the new outcome.
    """
    kept = state_of(cache, strip(state.caches, nth, len(rule.experts)))
    if holds_every_arm(cache, kept):
        # The choice is made now rather than at the time of the round, so it needs a memo of its own.
        remember_nth(rule.experts, nth, state.experts, memo.recycling)
        own_arm = choose_nth(rule.experts, nth, state.experts, memo.recycling, 1.0, rng)
        outcome = take_outcome(cache, kept, own_arm, rng)
        learn_recycled_nth(rule.experts, nth, state.experts, memo.recycling, own_arm, outcome, 1.0, rng)
    count_outcomes(cache, kept, chosen, reward, +1)
