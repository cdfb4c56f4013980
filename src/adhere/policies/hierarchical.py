"""HierarchicalBandit: a bandit over bandits (Algorithm 1 of the paper)."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import Self

from adhere.compilation import guessed, implements, view
from adhere.errors import InputError
from adhere.policies.exp3 import Exp3
from adhere.policies.experts import choose_nth, is_in, probabilities_nth, remember_nth, set_of, update_nth
from adhere.policies.generic import (
    Probabilities,
    choose,
    decider,
    learn,
    probabilities,
    remember,
    replay_choice,
    replay_nothing,
    update,
)
from adhere.policies.hierarchical_rule import (
    NOBODY,
    ByOne,
    ByProbability,
    HierarchicalMemo,
    HierarchicalRule,
    HierarchicalState,
    recycle,
    weight_at,
    weight_of,
)
from adhere.policies.hybrid_arguments import check_base, check_experts, check_top
from adhere.policies.parameters import flag
from adhere.policies.policy import CompiledPolicy, Learner, Policy, TrialShape, policy
from adhere.policies.recycling import cache_rule
from adhere.protocols import ACTUAL, CHOSEN, COMPLY, credits_chosen
from adhere.randomness import Stream, draw_ahead


@policy("hierarchical", rule=HierarchicalRule, state=HierarchicalState, memo=HierarchicalMemo)
class HierarchicalBandit(Policy):
    """A top bandit draws one of several experts; the expert draws the arm.

    The top learns from every round which expert was drawn. An expert under Chosen is *certified*: it learns only from
    rounds it was drawn for, weighted by 1/p where p is the probability of being drawn. The other experts learn from
    every round.

    Parameters
    ----------
    base
        The learner that is run under Chosen, Actual and Comply.
    top
        The learner that draws the expert.
    experts
        Any learners under any protocols, instead of a base.
    recycle
        Whether certified experts also learn from rounds they were not drawn for: each picks an arm of its own and is
        told one of the outcomes kept for that arm, once every arm has one. Its weight is then 1.

    Notes
    -----
    A certified Thompson becomes `base-thompson`; ε-greedy and UCB1 have no weights.

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 1 and section 3.3.

    Examples
    --------
    >>> str(HierarchicalBandit(Exp3(), recycle=True))
    'hierarchical(exp3, recycle=true)'
    >>> from adhere import simulate
    >>> result = simulate("hierarchical(epsilon-greedy)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> sorted(result[0].experts)
    ['epsilon-greedy', 'epsilon-greedy/actual', 'epsilon-greedy/comply']

    """

    base: Learner | None = field(default=None, metadata={"check": check_base, "bare": True})
    top: Learner = field(default=Exp3(), metadata={"check": check_top})
    experts: tuple[Learner, ...] | None = field(default=None, metadata={"check": check_experts})
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

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """The rules of the top and of the experts; a certified expert's takes weights, unless it recycles."""
        experts = self._all_experts()
        certificates = [certified and credits_chosen(expert.protocol, shape.n_arms) for expert in experts]
        recycles = self.recycle and any(certificates)
        weighted = [is_certified and not recycles for is_certified in certificates]
        is_weighted = any(weight and expert.uses_weight for weight, expert in zip(weighted, experts, strict=True))
        rule = HierarchicalRule(
            top=self.top.assemble(TrialShape(len(experts))).rule,
            experts=tuple(
                (expert.assemble_weighted(shape) if weight else expert.assemble(shape)).rule
                for expert, weight in zip(experts, weighted, strict=True)
            ),
            n_arms=shape.n_arms,
            certified=set_of(certificates),
            weighting=ByProbability() if is_weighted else ByOne(),
            cache=cache_rule(shape, recycles),
        )
        return CompiledPolicy(rule, tuple(str(expert) for expert in experts))


@implements(remember, HierarchicalBandit)
def remember_hierarchical(rule: HierarchicalRule, state: HierarchicalState, memo: HierarchicalMemo) -> None:
    """Nobody was drawn yet; every part keeps what it must."""
    memo.drawn = NOBODY
    remember(rule.top, state.top, memo.top)
    for i in range(len(rule.experts)):
        remember_nth(rule.experts, i, state.experts, memo.experts)


@implements(choose, HierarchicalBandit)
def choose_hierarchical(
    rule: HierarchicalRule, state: HierarchicalState, memo: HierarchicalMemo, weight: float, rng: Stream
) -> int:
    """Draw an expert from the top and an arm from the expert."""
    drawn = guessed(choose(rule.top, state.top, memo.top, 1.0, rng))
    memo.drawn, memo.weight = drawn, 1.0
    if is_in(rule.certified, drawn):
        memo.weight = weight_of(rule.weighting, rule, state, memo, drawn, rng)
    draw_ahead(rng)
    return choose_nth(rule.experts, drawn, state.experts, memo.experts, memo.weight, rng)  # type: ignore[no-any-return]


@implements(update, HierarchicalBandit)
def update_hierarchical(
    rule: HierarchicalRule,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    chosen: int,
    feedback: int,
    reward: float,
    weight: float,
    rng: Stream,
) -> None:
    """The top learns of the expert drawn; certified experts of their own rounds, the others of all."""
    drawn, reward_is_new = memo.drawn, feedback <= rule.n_arms
    if drawn != NOBODY and reward_is_new:
        learn(rule.top, state.top, memo.top, drawn, reward, 1.0, rng)
    for i in range(len(rule.experts)):
        certified = is_in(rule.certified, i)
        if not certified or i == drawn:
            own_weight = memo.weight if certified else 1.0
            update_nth(rule.experts, i, state.experts, memo.experts, chosen, feedback, reward, own_weight, rng)
        elif reward_is_new:
            recycle(rule.cache, rule, i, state, memo, chosen, reward, rng)


@implements(probabilities, HierarchicalBandit)
def probabilities_hierarchical(
    rule: HierarchicalRule,
    state: HierarchicalState,
    memo: HierarchicalMemo,
    weight: float,
    out: Probabilities,
    rng: Stream,
) -> None:
    """The experts' probabilities, mixed by the top's."""
    of_top, of_expert = memo.top_probabilities, view(out, rule.n_arms)
    probabilities(rule.top, state.top, memo.top, 1.0, of_top, rng)
    for arm in range(rule.n_arms):
        out[arm] = 0.0
    for i in range(len(rule.experts)):
        if of_top[i] > 0.0:
            own_weight = weight_at(rule.weighting, of_top[i]) if is_in(rule.certified, i) else 1.0
            probabilities_nth(rule.experts, i, state.experts, memo.experts, own_weight, of_expert, rng)
            for arm in range(rule.n_arms):
                out[arm] += of_top[i] * of_expert[arm]


implements(replay_choice, HierarchicalBandit)(replay_nothing)


@implements(decider, HierarchicalBandit)
def decider_hierarchical(rule: HierarchicalRule, memo: HierarchicalMemo) -> int:
    """The expert drawn."""
    return memo.drawn  # type: ignore[no-any-return]
