"""HierarchicalBandit: a bandit over bandits (Algorithm 1 of the paper)."""

import dataclasses
from dataclasses import field
from typing import Any, NamedTuple, Self

from adhere.compilation import (
    Index,
    Memo,
    Number,
    Part,
    Parts,
    State,
    Vector,
    guessed,
    implements,
    laid_out,
    view,
)
from adhere.errors import InputError
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import (
    Floats,
    Rule,
    choose,
    component,
    learn,
    probabilities,
    remember,
    remember_guarded,
    update,
)
from adhere.policies.base.learner import ComplianceAwareLearner, Learner
from adhere.policies.base.parameters import flag
from adhere.policies.base.policy import AnyLearner, CompiledPolicy, Policy, TrialShape, text_of
from adhere.policies.hybrids.experts import (
    MAX_EXPERTS,
    NO_EXPERT,
    ByEstimate,
    ByOne,
    ByProbability,
    Weighting,
    choose_nth,
    is_in,
    probabilities_nth,
    recycle_nth,
    remember_guarded_nth,
    remember_nth,
    set_of,
    update_nth,
    weight_of,
)
from adhere.policies.hybrids.recycling import AnyCacheRule, cache_rule
from adhere.policies.learners.exp3 import Exp3
from adhere.policies.numerics.beta import work_size
from adhere.protocols import ACTUAL, CHOSEN, COMPLY
from adhere.randomness import Stream, draw_ahead


class HierarchicalState(State):
    """State of the top and of the experts, and the outcomes stored for each expert."""

    top = Part()
    experts = Parts()
    caches = Parts(lambda rule: (rule.cache,) * len(rule.experts))


class HierarchicalMemo(Memo):
    """The expert that was drawn, and the memos of all components."""

    drawn = Index()
    weight = Number()  # importance weight of the drawn expert
    top = Part()
    experts = Parts()
    top_probabilities = Vector(lambda rule: len(rule.experts) + work_size(len(rule.experts)), scratch=True)
    recycling = Parts(lambda rule: rule.experts, scratch=True)  # memos of choices from the cache
    estimating = Vector(lambda rule: rule.weighting.memo_size, scratch=True)  # memo of the top's estimate


@laid_out(state=HierarchicalState, memo=HierarchicalMemo)
class HierarchicalRule(NamedTuple):
    """The rules that make up a hierarchy."""

    top: Rule
    experts: tuple[Rule, ...]
    n_arms: int
    certified: int  # the set of experts that learn only from rounds they were drawn for
    weighting: Weighting
    cache: AnyCacheRule


def _base(name: str, value: object) -> Learner | None:
    of_aware = "a learner under protocols, of which it has none; give it in experts=[…]"
    return None if value is None else _told_one_arm(name, value, of_aware, "the hierarchy runs it under all three")


def _top(name: str, value: object) -> Learner:
    of_aware = "a learner that is told one arm: nobody disobeys the top, which has no actual arm to learn of"
    return _told_one_arm(name, value, of_aware, "the top's choice of an expert is always followed")


def _told_one_arm(name: str, value: object, of_aware: str, why: str) -> Learner:
    """Check that a value is a learner without a protocol; if a learner sees both arms, the message is `of_aware`."""
    if not isinstance(value, Learner) or value.protocol != CHOSEN:
        is_aware = isinstance(value, ComplianceAwareLearner)
        shown = str(value) if isinstance(value, Policy) else value
        raise InputError(name, shown, of_aware if is_aware else f"a learner without a protocol: {why}")
    return value


def _experts(name: str, value: object) -> tuple[AnyLearner, ...] | None:
    if value is None:
        return None
    experts = tuple(value) if isinstance(value, (list, tuple)) else ()
    if len(experts) < 2:
        expected = "a list of at least two learners, e.g. [thompson, ucb1/actual]"
        raise InputError(name, text_of(experts or value), expected)
    if len(experts) > MAX_EXPERTS:
        raise InputError(name, f"{len(experts)} learners", f"at most {MAX_EXPERTS}")
    for expert in experts:
        if not isinstance(expert, AnyLearner):
            raise InputError(name, str(expert), "a list of learners; a hybrid cannot be an expert")
    return experts


@policy("hierarchical", rule=HierarchicalRule)
class HierarchicalBandit(Policy):
    """Draw one of several experts with a top bandit; the expert draws the arm.

    After every round, the top learns about the expert that was drawn. An expert under Chosen is *certified*: it
    learns only from rounds it was drawn for, with weight 1/p, where p is its probability of being drawn. The other
    experts learn from every round.

    Parameters
    ----------
    base : Learner, optional
        Learner that becomes three experts, under Chosen, Actual and Comply.
    top : Learner, default Exp3()
        Learner that draws the expert.
    experts : sequence of learners, optional
        Learners under any protocols, instead of `base`.
    recycle : bool, default False
        Whether certified experts also learn from rounds they were not drawn for. Each selects an arm of its own and
        learns from a stored outcome of that arm, once every arm has one. The weight of that update is 1.

    See Also
    --------
    HierarchicalExp3 : Exponential weights over fixed experts.
    ThompsonBounded : A hybrid of two policies.

    Notes
    -----
    A certified Thompson sampler becomes `base-thompson`, which uses the weights. ε-greedy and UCB1 ignore weights.

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 1 and section 3.3.

    Examples
    --------
    >>> from adhere import Exp3, simulate
    >>> str(HierarchicalBandit(Exp3(), recycle=True))
    'hierarchical(exp3, recycle=true)'
    >>> result = simulate("hierarchical(epsilon-greedy)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> sorted(result[0].experts)
    ['epsilon-greedy', 'epsilon-greedy/actual', 'epsilon-greedy/comply']

    """

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
        """Return the experts, followed by the top."""
        return (*self.all_experts(), self.top)

    def all_experts(self) -> tuple[AnyLearner, ...]:
        """Return the experts, in the order of the top's arms."""
        if self.base is not None:
            return tuple(self.base.under(protocol) for protocol in (CHOSEN, ACTUAL, COMPLY))
        return self.experts or ()

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Resolve every learner for its own number of arms; the top's arms are the experts."""
        top = self.top.resolved(len(self.all_experts()), horizon)
        return Policy.resolved(dataclasses.replace(self, top=top), n_arms, horizon)

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the rules of the top and the experts. A certified expert's rule takes weights unless it recycles."""
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


@implements(remember, HierarchicalBandit)
def remember_hierarchical(rule: Rule, state: State, memo: Memo) -> None:
    """Mark that no expert is drawn yet, and let every component remember."""
    memo.drawn = NO_EXPERT
    remember(rule.top, state.top, memo.top)
    for i in range(len(rule.experts)):
        remember_nth(rule.experts, i, state.experts, memo.experts)


@implements(remember_guarded, HierarchicalBandit)
def remember_guarded_hierarchical(
    rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream
) -> None:
    """Pass the guard's probabilities on to the experts; the top's probabilities do not change."""
    for i in range(len(rule.experts)):
        remember_guarded_nth(rule.experts, i, state.experts, memo.experts, shares, kept, rng)


@implements(choose, HierarchicalBandit)
def choose_hierarchical(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Draw an expert from the top, then an arm from the expert."""
    drawn = guessed(choose(rule.top, state.top, memo.top, 1.0, rng))
    memo.drawn, memo.weight = drawn, 1.0
    if is_in(rule.certified, drawn):
        memo.weight = weight_of(rule.weighting, rule, state, memo, drawn, rng)
    draw_ahead(rng)
    return choose_nth(rule.experts, drawn, state.experts, memo.experts, memo.weight, rng)  # type: ignore[no-any-return]


@implements(update, HierarchicalBandit)
def update_hierarchical(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Update the top with the drawn expert, certified experts with their own rounds, and other experts with every
    round.

    If a guard outside the hierarchy decided, all experts learn with weight 1, and the top does not learn.
    """
    drawn, reward_is_new = memo.drawn, feedback <= rule.n_arms
    if drawn != NO_EXPERT and reward_is_new:
        learn(rule.top, state.top, memo.top, drawn, reward, 1.0, rng)
    for i in range(len(rule.experts)):
        certified = is_in(rule.certified, i)
        if not certified or i == drawn or drawn == NO_EXPERT:
            own_weight = memo.weight if certified and i == drawn else 1.0
            update_nth(rule.experts, i, state.experts, memo.experts, chosen, feedback, reward, own_weight, rng)
        elif reward_is_new:
            recycle_nth(rule.cache, rule, i, state, memo, chosen, reward, rng)


@implements(probabilities, HierarchicalBandit)
def probabilities_hierarchical(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the experts' probabilities, averaged with the top's probabilities as weights."""
    of_top, of_expert = memo.top_probabilities, view(out, rule.n_arms)
    probabilities(rule.top, state.top, memo.top, 1.0, of_top, rng)
    for arm in range(rule.n_arms):
        out[arm] = 0.0
    for i in range(len(rule.experts)):
        if of_top[i] > 0.0:
            is_weighted = rule.weighting.by_probability and is_in(rule.certified, i)
            own_weight = 1.0 / of_top[i] if is_weighted else 1.0
            probabilities_nth(rule.experts, i, state.experts, memo.experts, own_weight, of_expert, rng)
            for arm in range(rule.n_arms):
                out[arm] += of_top[i] * of_expert[arm]


@implements(component, HierarchicalBandit)
def component_hierarchical(rule: Rule, memo: Memo) -> int:
    """Return the drawn expert."""
    return memo.drawn  # type: ignore[no-any-return]
