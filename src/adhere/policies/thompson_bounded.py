"""ThompsonBounded: Thompson sampling where it is sure, another policy where it is not (Algorithm 2)."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Any, NamedTuple, Self

import numpy as np

from adhere.compilation import between, beyond, implements
from adhere.errors import InputError
from adhere.policies.generic import choose, decider, learn, probabilities, remember, repeat, update
from adhere.policies.policy import DEEPEST, Assembled, Learner, Policy, Setting, flag, policy
from adhere.policies.recycling import cache_rule, cache_size, holds_arm, remove_outcome, store_outcome, take_outcome
from adhere.policies.thompson import Thompson, draw_success
from adhere.randomness import draw_ahead


def _inner(name: str, value: object) -> Policy:
    if not isinstance(value, Policy):
        raise InputError(name, value, "a policy, e.g. thompson-bounded(hierarchical(thompson))")
    if value.depth >= DEEPEST:
        raise InputError(name, str(value), f"at most {DEEPEST} policies inside each other")
    return value


@policy("thompson-bounded")
class ThompsonBounded(Policy):
    """Draw two arms from a Thompson sampler; if they agree pull a third draw, if not the inner policy's arm.

    The sampler is *certified*: it learns, under Chosen, from its own pulls only. The inner policy is not: all
    its learners learn from every round by their protocols with weight 1, and its top from the rounds it
    decided. With `literal`, the inner policy too learns only from rounds it decided ("update algorithm used to
    pull arm"), which on the stroke trial falls far short of the paper's figure. With `recycle`, outcomes of
    the inner policy's rounds are kept; when the two draws agree and an outcome of the third draw's arm is
    kept, the sampler learns from it and the round goes to the inner policy.

    Reference: Della Penna, Reid & Balduzzi (2016), Algorithm 2 and section 3.3.

    >>> str(ThompsonBounded(Thompson(protocol="actual"), recycle=True))
    'thompson-bounded(thompson/actual, recycle=true)'
    """

    inner: Policy = field(default=None, metadata={"check": _inner, "bare": True})  # type: ignore[assignment]
    recycle: bool = flag(default=False)
    literal: bool = flag(default=False)

    @property
    def depth(self) -> int:
        """One more than the inner policy."""
        return 1 + self.inner.depth

    def learners(self) -> tuple[Learner, ...]:
        """The sampler, then the inner policy's."""
        return (Thompson(), *self.inner.learners())

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """The inner policy settled for the trial."""
        return dataclasses.replace(self, inner=self.inner.resolved(n_arms, horizon))

    def assemble(self, setting: Setting, certified: bool = True) -> Assembled:
        """The sampler's state, the inner policy's, then the cache."""
        sampler = Thompson().assemble(setting)
        inner = self.inner.assemble(setting, certified=certified and self.literal)
        cache = cache_rule(setting, self.recycle and certified)
        rule = ThompsonBoundedRule(
            sampler=sampler.rule,
            inner=inner.rule,
            cache=cache,
            n_arms=setting.n_arms,
            certified=certified,
            literal=self.literal and certified,
            first_inner=sampler.state.size,
            first_cached=sampler.state.size + inner.state.size,
        )
        state = np.concatenate([sampler.state, inner.state, np.zeros(cache_size(cache))])
        # who decided; which arm's outcome was recycled, its reward, what it taught; then the inner memo
        deciders = ("thompson (certified)", *inner.deciders)
        return Assembled(rule, state, OWN_MEMO + inner.memo_size, inner.spare_size, deciders)


class ThompsonBoundedRule(NamedTuple):
    """The compiled form of `ThompsonBounded`."""

    sampler: Any
    inner: Any
    cache: Any
    n_arms: int
    certified: bool
    literal: bool
    first_inner: int
    first_cached: int


SAMPLER, INNER, NOBODY = 0.0, 1.0, -1.0
OWN_MEMO = 4


@implements(remember, ThompsonBoundedRule)
def remember_thompson_bounded(rule: Any, state: Any, memo: Any) -> None:
    """Nobody has decided yet."""
    memo[0], memo[1], memo[2], memo[3] = NOBODY, NOBODY, 0.0, 0.0
    remember(rule.inner, between(state, rule.first_inner, rule.first_cached), beyond(memo, OWN_MEMO))


@implements(choose, ThompsonBoundedRule)
def choose_thompson_bounded(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> int:
    """A third Thompson draw if two agree, else the inner policy's arm."""
    own, nothing = between(state, 0, rule.first_inner), between(memo, 0, 0)
    agree = choose(rule.sampler, own, nothing, 1.0, rng) == choose(rule.sampler, own, nothing, 1.0, rng)
    draw_ahead(rng)
    if agree:
        third = choose(rule.sampler, own, nothing, 1.0, rng)
        kept = beyond(state, rule.first_cached)
        if not holds_arm(rule.cache, kept, third):
            memo[0] = SAMPLER
            return third
        memo[1], memo[2] = third, take_outcome(rule.cache, kept, third, rng)
        memo[3] = 1.0 if draw_success(memo[2], rng) else 0.0  # drawn here, so that `repeat` need not draw
        learn(rule.sampler, own, nothing, third, memo[3], 1.0, rng)
    memo[0] = INNER
    return choose(rule.inner, between(state, rule.first_inner, rule.first_cached), beyond(memo, OWN_MEMO), 1.0, rng)


@implements(repeat, ThompsonBoundedRule)
def repeat_thompson_bounded(rule: Any, state: Any, memo: Any, rng: Any) -> None:
    """What was recycled leaves the cache and teaches the sampler again."""
    if memo[1] != NOBODY:
        third: Any = np.int64(memo[1])
        remove_outcome(rule.cache, beyond(state, rule.first_cached), third, memo[2])
        learn(rule.sampler, between(state, 0, rule.first_inner), between(memo, 0, 0), third, memo[3], 1.0, rng)
    if memo[0] == INNER:
        repeat(rule.inner, between(state, rule.first_inner, rule.first_cached), beyond(memo, OWN_MEMO), rng)


@implements(update, ThompsonBoundedRule)
def update_thompson_bounded(
    rule: Any, state: Any, memo: Any, chosen: int, feedback: int, reward: float, weight: float, rng: Any
) -> None:
    """The sampler learns from its own pulls, the inner policy from every round (its own, if literal)."""
    if feedback <= rule.n_arms:  # the reward is new
        if memo[0] == SAMPLER or not rule.certified:
            learn(rule.sampler, between(state, 0, rule.first_inner), between(memo, 0, 0), chosen, reward, 1.0, rng)
        else:
            store_outcome(rule.cache, beyond(state, rule.first_cached), chosen, reward)
    if memo[0] == INNER or not rule.literal:
        inner_state = between(state, rule.first_inner, rule.first_cached)
        update(rule.inner, inner_state, beyond(memo, OWN_MEMO), chosen, feedback, reward, 1.0, rng)


@implements(probabilities, ThompsonBoundedRule)
def probabilities_thompson_bounded(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """With Thompson's chances p_j, the inner policy's h_j and s = Σ p_j²: s·p_j + (1 - s)·h_j.

    An arm with an outcome in the cache gives its share s·p_j to the inner policy.
    """
    k = rule.n_arms
    p, h = beyond(out, k), beyond(out, 2 * k)
    probabilities(rule.sampler, between(state, 0, rule.first_inner), between(memo, 0, 0), 1.0, p, rng)
    probabilities(
        rule.inner, between(state, rule.first_inner, rule.first_cached), beyond(memo, OWN_MEMO), 1.0, h, rng
    )
    agree = 0.0
    for arm in range(k):
        agree += p[arm] * p[arm]
    pulled = 0.0
    for arm in range(k):
        out[arm] = 0.0
        if not holds_arm(rule.cache, beyond(state, rule.first_cached), arm):
            out[arm] = agree * p[arm]
            pulled += out[arm]
    for arm in range(k):
        out[arm] += (1.0 - pulled) * h[arm]


@implements(decider, ThompsonBoundedRule)
def decider_thompson_bounded(rule: Any, memo: Any) -> int:
    """The sampler, or who decided in the inner policy."""
    return 0 if memo[0] == SAMPLER else 1 + decider(rule.inner, beyond(memo, OWN_MEMO))
