"""The compiled form of HierarchicalBandit: its rule, its state and memo, and how certified experts are weighted."""

from __future__ import annotations

from typing import NamedTuple

from adhere.compilation import Index, Memo, Number, Part, Parts, State, Vector, generic, implements, part_at
from adhere.policies.beta import work_size
from adhere.policies.experts import choose_nth, learn_nth, remember_nth
from adhere.policies.generic import Rule, probabilities
from adhere.policies.recycling import (
    AnyCacheRule,
    CacheRule,
    NoCacheRule,
    holds_every_arm,
    store_outcome,
    take_outcome,
)
from adhere.randomness import Stream

NOBODY = -1


class HierarchicalState(State):
    """What the top and the experts have learned, and the outcomes kept for each expert."""

    top = Part()
    experts = Parts()
    caches = Parts(lambda rule: (rule.cache,) * len(rule.experts))


class HierarchicalMemo(Memo):
    """Which expert was drawn, and what every part remembers."""

    drawn = Index()
    weight = Number()  # the importance weight of the expert drawn
    top = Part()
    experts = Parts()
    top_probabilities = Vector(lambda rule: len(rule.experts) + work_size(len(rule.experts)), scratch=True)
    recycling = Parts(lambda rule: rule.experts, scratch=True)  # what a choice from the cache remembers


class ByProbability(NamedTuple):
    """A certified expert's lessons are weighted by one over its probability of being drawn."""


class ByOne(NamedTuple):
    """No expert needs a weight, so that the top's probabilities need not be computed, nor their code compiled."""


class HierarchicalRule(NamedTuple):
    """The rules that a hierarchy is made of."""

    top: Rule
    experts: tuple[Rule, ...]
    n_arms: int
    certified: int  # the set of experts that learn only from rounds they were drawn for
    weighting: ByProbability | ByOne
    cache: AnyCacheRule


@generic
def weight_at(weighting: ByProbability | ByOne, probability: float) -> float:
    """The importance weight of a certified expert that is drawn with this probability."""
    raise NotImplementedError


@implements(weight_at, ByProbability)
def weight_by_probability(weighting: ByProbability, probability: float) -> float:
    """One over it."""
    return 1.0 / probability


@implements(weight_at, ByOne)
def weight_by_one(weighting: ByOne, probability: float) -> float:
    """One."""
    return 1.0


@generic
def weight_of(
    weighting: ByProbability | ByOne,
    rule: HierarchicalRule,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    drawn: int,
    rng: Stream,
) -> float:
    """The importance weight of the certified expert that was drawn."""
    raise NotImplementedError


@implements(weight_of, ByProbability)
def weight_from_top(
    weighting: ByProbability,
    rule: HierarchicalRule,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    drawn: int,
    rng: Stream,
) -> float:
    """One over the top's probability of drawing it."""
    probabilities(rule.top, state.top, memo.top, 1.0, memo.top_probabilities, rng)
    return weight_at(weighting, memo.top_probabilities[drawn])


@implements(weight_of, ByOne)
def weight_of_one(
    weighting: ByOne,
    rule: HierarchicalRule,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    drawn: int,
    rng: Stream,
) -> float:
    """One."""
    return 1.0


@generic
def recycle(
    cache: AnyCacheRule,
    rule: HierarchicalRule,
    i: int,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    chosen: int,
    reward: float,
    rng: Stream,
) -> None:
    """What certified expert i makes of a round it was not drawn for."""


@implements(recycle, CacheRule)
def recycle_outcome(
    cache: CacheRule,
    rule: HierarchicalRule,
    i: int,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    chosen: int,
    reward: float,
    rng: Stream,
) -> None:
    """It picks an arm and is told an outcome kept for it, once there is one for each; this one is kept."""
    kept = part_at(state.caches, i, cache)
    if holds_every_arm(cache, kept):
        # The choice is made now, not when the round's was: it remembers on its own.
        remember_nth(rule.experts, i, state.experts, memo.recycling)
        own_arm = choose_nth(rule.experts, i, state.experts, memo.recycling, 1.0, rng)
        outcome = take_outcome(cache, kept, own_arm, rng)
        learn_nth(rule.experts, i, state.experts, memo.recycling, own_arm, outcome, 1.0, rng)
    store_outcome(cache, kept, chosen, reward)


@implements(recycle, NoCacheRule)
def recycle_nothing(
    cache: NoCacheRule,
    rule: HierarchicalRule,
    i: int,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    chosen: int,
    reward: float,
    rng: Stream,
) -> None:
    """Nothing."""
