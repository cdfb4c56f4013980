"""What ThompsonBounded is made of: parameters, rule, state and memo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from adhere.compilation import Index, Memo, Number, Part, State, laid_out
from adhere.policies.base.generic import Rule
from adhere.policies.base.inner import any_policy
from adhere.policies.base.parameters import flag
from adhere.policies.base.policy import AnyLearner, CompiledPolicy, Policy, TrialShape
from adhere.policies.hybrids.recycling import AnyCacheRule, cache_rule
from adhere.policies.learners.thompson import Thompson

SAMPLER, INNER, NONE = 0, 1, -1


class ThompsonBoundedState(State):
    """What the sampler and the inner policy have learned, and the outcomes kept for the sampler."""

    sampler = Part()
    inner = Part()
    cache = Part()


class ThompsonBoundedMemo(Memo):
    """Who decided, what was recycled, and what the parts remember."""

    decided = Index()  # SAMPLER, INNER or NONE
    recycled_arm = Index()  # or NONE
    recycled_reward = Number()
    recycled_success = Number()  # what the sampler learned of it
    sampler = Part()
    inner = Part()


@laid_out(state=ThompsonBoundedState, memo=ThompsonBoundedMemo)
class ThompsonBoundedRule(NamedTuple):
    """The compiled form of `ThompsonBounded`."""

    sampler: Rule
    inner: Rule
    cache: AnyCacheRule
    n_arms: int
    certified: bool
    literal: bool


@dataclass(frozen=True)
class ThompsonBoundedParameters(Policy):
    """The fields of `ThompsonBounded`, checked, and how it is compiled."""

    inner: Policy = field(default=None, metadata=any_policy("thompson-bounded(hierarchical(thompson))"))  # type: ignore[assignment]
    recycle: bool = flag(default=False)
    literal: bool = flag(default=False)

    def learners(self) -> tuple[AnyLearner, ...]:
        """The sampler, then the inner policy's."""
        return (Thompson(), *self.inner.learners())

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """The rules of the sampler, the inner policy and the cache."""
        inner = self.inner.assemble(shape, certified=certified and self.literal)
        rule = ThompsonBoundedRule(
            sampler=Thompson().assemble(shape).rule,
            inner=inner.rule,
            cache=cache_rule(shape, self.recycle and certified),
            n_arms=shape.n_arms,
            certified=certified,
            literal=self.literal and certified,
        )
        return CompiledPolicy(rule, ("thompson (certified)", *inner.deciders))
