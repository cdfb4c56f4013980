"""The experts of a hierarchy, as compiled code sees them: a tuple of rules, alike or not.

State and memo hold one strip for each expert. Experts of one type are picked by index; experts of several types by
recursion over the tuple, which the compiler unrolls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba import types

from adhere.compilation import FEW_ON_GPU, inline, next_strips, part_at, specialise
from adhere.policies import generic


def for_nth_expert(function: Callable[..., Any]) -> Callable[..., Any]:
    """A generic function that takes (experts, n, states, memos, …) and acts on the nth expert."""

    def by_index(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        expert = experts[nth]
        return function(expert, part_at(states, nth, expert), part_at(memos, nth, expert), *rest)

    def on_nth(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        return by_index(experts, nth, states, memos, *rest)

    def the_only(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        return function(experts[0], part_at(states, 0, experts[0]), part_at(memos, 0, experts[0]), *rest)

    def by_recursion(experts: Any, nth: int, states: Any, memos: Any, *rest: Any) -> Any:
        if nth == 0:
            return function(experts[0], part_at(states, 0, experts[0]), part_at(memos, 0, experts[0]), *rest)
        return on_nth(experts[1:], nth - 1, next_strips(states), next_strips(memos), *rest)

    def one_by_one(experts: Any, *_: Any) -> Callable[..., Any]:
        return the_only if len(experts) == 1 else by_recursion

    def on_cpu(experts: Any, *rest: Any) -> Callable[..., Any]:
        return by_index if isinstance(experts, types.UniTuple) else one_by_one(experts)

    def on_gpu(experts: Any, *rest: Any) -> Callable[..., Any]:
        # A GPU has registers enough for the strips of a few experts, but only at places known beforehand.
        return one_by_one(experts) if len(experts) <= FEW_ON_GPU else on_cpu(experts)

    specialise(on_nth, on_gpu)
    specialise(on_nth, on_cpu, target="cpu")
    return on_nth


remember_nth = for_nth_expert(generic.remember)
choose_nth = for_nth_expert(generic.choose)
probabilities_nth = for_nth_expert(generic.probabilities)
learn_nth = for_nth_expert(generic.learn)
update_nth = for_nth_expert(generic.update)


MAX_EXPERTS = 62  # a set of them is the bits of a whole number


def set_of(members: Sequence[bool]) -> int:
    """Which experts are meant, as a number that compiled code can look up."""
    return sum(1 << i for i, is_member in enumerate(members) if is_member)


@inline
def is_in(experts: int, i: int) -> int:
    """Whether expert i belongs to a set; 0 or 1."""
    return (experts >> i) & 1
