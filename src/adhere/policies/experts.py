"""The experts of a hierarchy, as compiled code sees them: a tuple of rules, alike or not.

State and memo hold one strip for each expert, all strips of the same length. Experts of one type are picked by
index; experts of several types by recursion over the tuple, which the compiler unrolls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from adhere.compilation import between, beyond, specialise
from adhere.policies import generic
from adhere.policies.generic import FEW


def for_nth_expert(function: Callable[..., Any]) -> Callable[..., Any]:
    """A generic function that takes (experts, n, strip lengths, state, memo, …) and acts on the nth expert."""

    def by_index(experts: Any, nth: int, lengths: Any, state: Any, memo: Any, *rest: Any) -> Any:
        own_state = between(state, lengths[0] * nth, lengths[0] * (nth + 1))
        own_memo = between(memo, lengths[1] * nth, lengths[1] * (nth + 1))
        return function(experts[nth], own_state, own_memo, *rest)

    def on_nth(experts: Any, nth: int, lengths: Any, state: Any, memo: Any, *rest: Any) -> Any:
        return by_index(experts, nth, lengths, state, memo, *rest)

    def the_only(experts: Any, nth: int, lengths: Any, state: Any, memo: Any, *rest: Any) -> Any:
        return function(experts[0], between(state, 0, lengths[0]), between(memo, 0, lengths[1]), *rest)

    def by_recursion(experts: Any, nth: int, lengths: Any, state: Any, memo: Any, *rest: Any) -> Any:
        if nth == 0:
            return function(experts[0], between(state, 0, lengths[0]), between(memo, 0, lengths[1]), *rest)
        return on_nth(experts[1:], nth - 1, lengths, beyond(state, lengths[0]), beyond(memo, lengths[1]), *rest)

    def one_by_one(experts: Any, *_: Any) -> Callable[..., Any]:
        return the_only if len(experts) == 1 else by_recursion

    def on_processors(experts: Any, *rest: Any) -> Callable[..., Any]:
        return by_index if isinstance(experts, types.UniTuple) else one_by_one(experts)

    def on_gpus(experts: Any, *rest: Any) -> Callable[..., Any]:
        # A GPU has registers enough for the strips of a few experts, but only at places known beforehand.
        return one_by_one(experts) if len(experts) <= FEW else on_processors(experts)

    specialise(on_nth, on_gpus)
    specialise(on_nth, on_processors, target="cpu")
    return on_nth


remember_nth = for_nth_expert(generic.remember)
choose_nth = for_nth_expert(generic.choose)
probabilities_nth = for_nth_expert(generic.probabilities)
learn_nth = for_nth_expert(generic.learn)
update_nth = for_nth_expert(generic.update)
