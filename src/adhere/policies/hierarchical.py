"""HierarchicalBandit: a bandit over bandits (Algorithm 1 of the paper)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import field
from typing import Any, NamedTuple, Self

import numpy as np

from adhere.compilation import between, beyond, generic, guessed, implements
from adhere.errors import InputError
from adhere.policies.beta import work_size
from adhere.policies.exp3 import Exp3
from adhere.policies.experts import (
    choose_nth,
    learn_nth,
    probabilities_nth,
    remember_nth,
    update_nth,
)
from adhere.policies.generic import choose, decider, learn, probabilities, remember, repeat, repeat_nothing, update
from adhere.policies.policy import Assembled, Learner, Policy, Setting, flag, policy
from adhere.policies.protocols import ACTUAL, CHOSEN, COMPLY, credits_chosen
from adhere.policies.recycling import (
    CacheRule,
    NoCacheRule,
    cache_rule,
    cache_size,
    has_every_arm,
    store_outcome,
    take_outcome,
)
from adhere.randomness import draw_ahead

MOST_EXPERTS = 62  # which of them are certified is said by the bits of a whole number


def _shown(value: object) -> object:
    return str(value) if isinstance(value, Policy) else value


def _base(name: str, value: object) -> Learner | None:
    if value is not None and not (isinstance(value, Learner) and value.protocol == CHOSEN):
        raise InputError(name, _shown(value), "a learner without a protocol: the hierarchy runs it under all three")
    return value


def _top(name: str, value: object) -> Learner:
    if not (isinstance(value, Learner) and value.protocol == CHOSEN):
        raise InputError(name, _shown(value), "a learner without a protocol: nobody disobeys the top")
    return value


def _experts(name: str, value: object) -> tuple[Learner, ...] | None:
    if value is None:
        return None
    experts = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(experts) < 2:
        raise InputError(name, value, "a list of at least two learners")
    if len(experts) > MOST_EXPERTS:
        raise InputError(name, f"{len(experts)} learners", f"at most {MOST_EXPERTS}")
    for expert in experts:
        if not isinstance(expert, Learner):
            raise InputError(name, str(expert), "a list of learners; a hybrid cannot be an expert")
    return experts


@policy("hierarchical")
class HierarchicalBandit(Policy):
    """A top bandit draws one of several experts; the expert draws the arm.

    The experts are the base learner under Chosen, Actual and Comply, or any list of learners. The top learns
    from every round which expert was drawn. An expert under Chosen is *certified*: it learns only from rounds
    it was drawn for, weighted by 1/p where p is the chance of being drawn (Thompson becomes `base-thompson`;
    ε-greedy and UCB1 have no weights). The other experts learn from every round. With `recycle`, a certified
    expert also learns from rounds it was not drawn for: it picks an arm of its own and is told one of the
    outcomes kept for that arm, once every arm has one; it then learns every round, so its weight is 1.

    Reference: Della Penna, Reid & Balduzzi (2016), Algorithm 1 and section 3.3.

    >>> str(HierarchicalBandit(Exp3(), recycle=True))
    'hierarchical(exp3, recycle=true)'
    """

    base: Learner | None = field(default=None, metadata={"check": _base, "bare": True})
    top: Learner = field(default=Exp3(), metadata={"check": _top})
    experts: tuple[Learner, ...] | None = field(default=None, metadata={"check": _experts})
    recycle: bool = flag(default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.base is None) == (self.experts is None):
            given = "neither" if self.base is None else "both"
            raise InputError("policy hierarchical", given, "either a base learner or experts=[…]")

    def learners(self) -> tuple[Learner, ...]:
        """The experts, then the top."""
        return (*self._all_experts(), self.top)

    @property
    def depth(self) -> int:
        """Learners are one level below."""
        return 2

    def _all_experts(self) -> tuple[Learner, ...]:
        if self.base is not None:
            return tuple(self.base.under(protocol) for protocol in (CHOSEN, ACTUAL, COMPLY))
        return self.experts or ()

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Every learner settled for its own number of arms; the top's arms are the experts."""
        return dataclasses.replace(
            self,
            base=self.base and self.base.resolved(n_arms, horizon),
            top=self.top.resolved(len(self._all_experts()), horizon),
            experts=self.experts and tuple(expert.resolved(n_arms, horizon) for expert in self.experts),
        )

    def assemble(self, setting: Setting, certified: bool = True) -> Assembled:
        """The top, then the experts' strips, then a cache for each certified expert that recycles."""
        experts = self._all_experts()
        drawn_only = [certified and credits_chosen(expert.protocol, setting.n_arms) for expert in experts]
        recycles = self.recycle and any(drawn_only)
        weighted = [only and not recycles for only in drawn_only]
        parts = [
            expert.assemble_weighted(setting) if weight else expert.assemble(setting)
            for expert, weight in zip(experts, weighted, strict=True)
        ]
        lengths = (max(part.state.size for part in parts), max(part.memo_size for part in parts))
        top = self.top.assemble(Setting(len(experts)))
        cache = cache_rule(setting, recycles)
        needs_chance = any(weight and expert.uses_weight for weight, expert in zip(weighted, experts, strict=True))
        rule = HierarchicalRule(
            top=top.rule,
            experts=tuple(part.rule for part in parts),
            n_arms=setting.n_arms,
            drawn_only=sum(1 << i for i, only in enumerate(drawn_only) if only),
            weighting=ByChance() if needs_chance else ByOne(),
            cache=cache,
            top_lengths=(top.state.size, top.memo_size),
            lengths=lengths,
            cache_length=cache_size(cache),
        )
        strips = [np.pad(part.state, (0, lengths[0] - part.state.size)) for part in parts]
        state = np.concatenate([top.state, *strips, np.zeros(cache_size(cache) * len(experts))])
        # The memo: drawn expert, its weight, the top's memo, the experts' memos. The spare: a memo to recycle
        # with, or the top's chances.
        memo_size = 2 + top.memo_size + lengths[1] * len(experts)
        spare_size = max(lengths[1], len(experts) + work_size(len(experts)))
        return Assembled(rule, state, memo_size, spare_size, tuple(str(expert) for expert in experts))


class ByChance(NamedTuple):
    """A certified expert's lessons are weighted by one over its chance of being drawn."""

    certified_weight: float = math.nan


class ByOne(NamedTuple):
    """No expert needs a weight, so that the top's chances need not be computed, nor their code compiled."""

    certified_weight: float = 1.0


class HierarchicalRule(NamedTuple):
    """The compiled form of `HierarchicalBandit`."""

    top: Any
    experts: tuple[Any, ...]
    n_arms: int
    drawn_only: int  # bit i: expert i learns only from rounds it was drawn for
    weighting: Any
    cache: Any
    top_lengths: tuple[int, int]
    lengths: tuple[int, int]
    cache_length: int


@implements(remember, HierarchicalRule)
def remember_hierarchical(rule: Any, state: Any, memo: Any) -> None:
    """Nobody was drawn yet; every part keeps what it must."""
    n = len(rule.experts)
    memo[0] = -1.0
    first_state, first_memo = rule.top_lengths[0], 2 + rule.top_lengths[1]
    remember(rule.top, between(state, 0, first_state), between(memo, 2, first_memo))
    for i in range(n):
        remember_nth(rule.experts, i, rule.lengths, beyond(state, first_state), beyond(memo, first_memo))


@implements(choose, HierarchicalRule)
def choose_hierarchical(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """Draw an expert from the top and an arm from the expert."""
    n = len(rule.experts)
    first_state, first_memo = rule.top_lengths[0], 2 + rule.top_lengths[1]
    top_state, top_memo = between(state, 0, first_state), between(memo, 2, first_memo)
    drawn = guessed(choose(rule.top, top_state, top_memo, 1.0, rng))
    chances = beyond(memo, first_memo + rule.lengths[1] * n)
    memo[0], memo[1] = drawn, 1.0
    if (rule.drawn_only >> drawn) & 1:
        memo[1] = weight_of(rule.weighting, rule.top, top_state, top_memo, drawn, chances, rng)
    states, memos = beyond(state, first_state), beyond(memo, first_memo)
    draw_ahead(rng)
    return choose_nth(rule.experts, drawn, rule.lengths, states, memos, memo[1], rng)  # type: ignore[no-any-return]


@implements(update, HierarchicalRule)
def update_hierarchical(
    rule: Any, state: Any, memo: Any, chosen: int, feedback: int, reward: float, weight: float, rng: Any
) -> None:
    """The top learns of the expert drawn; certified experts of their own rounds, the others of all."""
    n = len(rule.experts)
    first_state, first_memo = rule.top_lengths[0], 2 + rule.top_lengths[1]
    states, memos = beyond(state, first_state), beyond(memo, first_memo)
    drawn, reward_is_new = np.int64(memo[0]), feedback <= rule.n_arms
    if drawn >= 0 and reward_is_new:
        learn(rule.top, between(state, 0, first_state), between(memo, 2, first_memo), drawn, reward, 1.0, rng)
    for i in range(n):
        drawn_only = (rule.drawn_only >> i) & 1
        if not drawn_only or i == drawn:
            own_weight = memo[1] if drawn_only else 1.0
            update_nth(rule.experts, i, rule.lengths, states, memos, chosen, feedback, reward, own_weight, rng)
        elif reward_is_new:
            recycle_nth(rule.cache, rule, i, states, memos, chosen, reward, rng)


@generic
def weight_of(weighting: Any, top: Any, state: Any, memo: Any, drawn: int, chances: Any, rng: Any) -> float:
    """The importance weight of the certified expert that was drawn."""
    raise NotImplementedError


@implements(weight_of, ByChance)
def weight_by_chance(weighting: Any, top: Any, state: Any, memo: Any, drawn: int, chances: Any, rng: Any) -> float:
    """One over the top's chance of drawing it."""
    probabilities(top, state, memo, 1.0, chances, rng)
    return 1.0 / chances[drawn]  # type: ignore[no-any-return]


@implements(weight_of, ByOne)
def weight_by_one(weighting: Any, top: Any, state: Any, memo: Any, drawn: int, chances: Any, rng: Any) -> float:
    """One."""
    return 1.0


@generic
def recycle_nth(
    cache: Any, rule: Any, nth: int, states: Any, memos: Any, chosen: int, reward: float, rng: Any
) -> None:
    """What a certified expert makes of a round it was not drawn for."""


@implements(recycle_nth, CacheRule)
def recycle_from_cache(
    cache: Any, rule: Any, nth: int, states: Any, memos: Any, chosen: int, reward: float, rng: Any
) -> None:
    """It picks an arm and is told an outcome kept for it, once there is one for each; this one is kept."""
    n, lengths = len(rule.experts), rule.lengths
    first = lengths[0] * n + rule.cache_length * nth
    kept = between(states, first, first + rule.cache_length)
    if has_every_arm(cache, kept):
        spare = beyond(memos, lengths[1] * (n - nth))  # this choice is made now, not when the round's was
        remember_nth(rule.experts, nth, lengths, states, spare)
        arm = choose_nth(rule.experts, nth, lengths, states, spare, 1.0, rng)
        outcome = take_outcome(cache, kept, arm, rng)
        learn_nth(rule.experts, nth, lengths, states, spare, arm, outcome, 1.0, rng)
    store_outcome(cache, kept, chosen, reward)


@implements(recycle_nth, NoCacheRule)
def recycle_nothing(
    cache: Any, rule: Any, nth: int, states: Any, memos: Any, chosen: int, reward: float, rng: Any
) -> None:
    """Nothing."""


@implements(probabilities, HierarchicalRule)
def probabilities_hierarchical(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """The experts' chances, mixed by the top's."""
    n, k = len(rule.experts), rule.n_arms
    first_state, first_memo = rule.top_lengths[0], 2 + rule.top_lengths[1]
    chances, one = beyond(memo, first_memo + rule.lengths[1] * n), beyond(out, k)
    probabilities(rule.top, between(state, 0, first_state), between(memo, 2, first_memo), 1.0, chances, rng)
    for arm in range(k):
        out[arm] = 0.0
    for i in range(n):
        if chances[i] > 0.0:
            drawn_weight = 1.0
            if (rule.drawn_only >> i) & 1 and math.isnan(rule.weighting.certified_weight):
                drawn_weight = 1.0 / chances[i]
            states, memos = beyond(state, first_state), beyond(memo, first_memo)
            probabilities_nth(rule.experts, i, rule.lengths, states, memos, drawn_weight, one, rng)
            for arm in range(k):
                out[arm] += chances[i] * one[arm]


implements(repeat, HierarchicalRule)(repeat_nothing)


@implements(decider, HierarchicalRule)
def decider_hierarchical(rule: Any, memo: Any) -> Any:
    """The expert drawn."""
    return np.int64(memo[0])
