"""What HierarchicalBandit is made of: parameters, rule, state and memo."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from adhere.compilation import Index, Memo, Number, Part, Parts, State, Vector, inline, laid_out
from adhere.errors import InputError
from adhere.policies.base.generic import Rule
from adhere.policies.base.learner import ComplianceAwareLearner, Learner
from adhere.policies.base.parameters import flag
from adhere.policies.base.policy import AnyLearner, CompiledPolicy, Policy, TrialShape, text_of
from adhere.policies.hybrids.experts import ByEstimate, ByOne, ByProbability, Weighting
from adhere.policies.hybrids.recycling import AnyCacheRule, cache_rule
from adhere.policies.learners.exp3 import Exp3
from adhere.policies.numerics.beta import work_size
from adhere.protocols import ACTUAL, CHOSEN, COMPLY

NO_EXPERT = -1
MAX_EXPERTS = 62  # a set of them is the bits of a whole number


def set_of(members: Sequence[bool]) -> int:
    """Which experts are meant, as a number that compiled code can look up."""
    return sum(1 << i for i, is_member in enumerate(members) if is_member)


@inline
def is_in(experts: int, i: int) -> int:
    """Whether expert i belongs to a set; 0 or 1."""
    return (experts >> i) & 1


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
    estimating = Vector(lambda rule: rule.weighting.memo_size, scratch=True)  # what the top's estimate remembers


@laid_out(state=HierarchicalState, memo=HierarchicalMemo)
class HierarchicalRule(NamedTuple):
    """The rules that a hierarchy is made of."""

    top: Rule
    experts: tuple[Rule, ...]
    n_arms: int
    certified: int  # the set of experts that learn only from rounds they were drawn for
    weighting: Weighting
    cache: AnyCacheRule


def _shown(value: object) -> object:
    return str(value) if isinstance(value, Policy) else value


def _base(name: str, value: object) -> Learner | None:
    if isinstance(value, ComplianceAwareLearner):
        expected = "a learner under protocols, of which it has none; give it in experts=[…]"
        raise InputError(name, _shown(value), expected)
    if value is not None and not (isinstance(value, Learner) and value.protocol == CHOSEN):
        raise InputError(name, _shown(value), "a learner without a protocol: the hierarchy runs it under all three")
    return value


def _top(name: str, value: object) -> Learner:
    if isinstance(value, ComplianceAwareLearner):
        expected = "a learner that is told one arm: nobody disobeys the top, which has no actual arm to learn of"
        raise InputError(name, _shown(value), expected)
    if not (isinstance(value, Learner) and value.protocol == CHOSEN):
        raise InputError(
            name, _shown(value), "a learner without a protocol: the top's choice of an expert is always followed"
        )
    return value


def _experts(name: str, value: object) -> tuple[AnyLearner, ...] | None:
    if value is None:
        return None
    experts = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(experts) < 2:
        raise InputError(
            name, text_of(experts or value), "a list of at least two learners, e.g. [thompson, ucb1/actual]"
        )
    if len(experts) > MAX_EXPERTS:
        raise InputError(name, f"{len(experts)} learners", f"at most {MAX_EXPERTS}")
    for expert in experts:
        if not isinstance(expert, AnyLearner):
            raise InputError(name, str(expert), "a list of learners; a hybrid cannot be an expert")
    return experts


@dataclass(frozen=True)
class HierarchicalParameters(Policy):
    """The fields of `HierarchicalBandit`, checked, and how it is compiled."""

    base: Learner | None = field(default=None, metadata={"check": _base, "bare": True, "is_policy": True})
    top: Learner = field(default=Exp3(), metadata={"check": _top, "is_policy": True})
    experts: tuple[AnyLearner, ...] | None = field(default=None, metadata={"check": _experts, "is_policy": True})
    recycle: bool = flag(default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.base is None) == (self.experts is None):
            given = "neither" if self.base is None else "both"
            sentence = f"hierarchical needs either a base learner or experts=[…] ({given} given)"
            raise InputError("policy hierarchical", given, "either a base learner or experts=[…]", sentence)

    def learners(self) -> tuple[AnyLearner, ...]:
        """The experts, then the top."""
        return (*self.all_experts(), self.top)

    def all_experts(self) -> tuple[AnyLearner, ...]:
        """The experts, in the order of the top's arms."""
        if self.base is not None:
            return tuple(self.base.under(protocol) for protocol in (CHOSEN, ACTUAL, COMPLY))
        return self.experts or ()

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Every learner settled for its own number of arms; the top's arms are the experts."""
        top = self.top.resolved(len(self.all_experts()), horizon)
        return Policy.resolved(dataclasses.replace(self, top=top), n_arms, horizon)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """The rules of the top and of the experts; a certified expert's takes weights, unless it recycles."""
        experts = self.all_experts()
        certificates = [certified and expert.is_certified(shape.n_arms) for expert in experts]
        recycles = self.recycle and any(certificates)
        weighted = [is_certified and not recycles for is_certified in certificates]
        is_weighted = any(weight and expert.uses_weight for weight, expert in zip(weighted, experts, strict=True))
        top = self.top.assemble(TrialShape(len(experts)))
        weighting: Weighting = ByProbability() if is_weighted else ByOne()
        if is_weighted and self.top.estimates_probabilities:
            weighting = ByEstimate(memo_size=top.memo_size + top.scratch_size)
        rule = HierarchicalRule(
            top=top.rule,
            experts=tuple(
                (expert.assemble_weighted(shape) if weight else expert.assemble(shape)).rule
                for expert, weight in zip(experts, weighted, strict=True)
            ),
            n_arms=shape.n_arms,
            certified=set_of(certificates),
            weighting=weighting,
            cache=cache_rule(shape, recycles),
        )
        return CompiledPolicy(rule, tuple(str(expert) for expert in experts))
