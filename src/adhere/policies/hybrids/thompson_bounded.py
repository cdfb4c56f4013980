"""ThompsonBounded: Thompson sampling where it is certain, another policy where it is not (Algorithm 2)."""

from dataclasses import field
from typing import Any, NamedTuple

from adhere.compilation import Index, Memo, Number, Part, State, implements, laid_out, view
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import (
    Floats,
    Rule,
    choose,
    component,
    learn,
    note_allocation,
    probabilities,
    remember,
    remember_guarded,
    replay_choice,
    update,
)
from adhere.policies.base.parameters import any_policy, flag
from adhere.policies.base.policy import AnyLearner, CompiledPolicy, Policy, TrialShape
from adhere.policies.hybrids.recycling import AnyCacheRule, cache_rule, count_outcomes, holds_arm, take_outcome
from adhere.policies.learners.thompson import Thompson
from adhere.policies.numerics.beta import draw_success
from adhere.randomness import Stream, draw_ahead, use_own_keys, use_public_keys

SAMPLER, INNER, NONE = 0, 1, -1


class ThompsonBoundedState(State):
    """State of the sampler and of the inner policy, and the outcomes stored for the sampler."""

    sampler = Part()
    inner = Part()
    cache = Part()


class ThompsonBoundedMemo(Memo):
    """The component that decided, the recycled outcome, and the memos of both components."""

    decided = Index()  # SAMPLER, INNER or NONE
    recycled_arm = Index()  # or NONE
    recycled_reward = Number()
    recycled_success = Number()  # whether the sampler learned it as a success
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


@policy("thompson-bounded", rule=ThompsonBoundedRule)
class ThompsonBounded(Policy):
    """Draw two arms from a Thompson sampler; if they agree, recommend a third draw, otherwise the inner policy's arm.

    The sampler is *certified*: it learns only from its own pulls, under Chosen. The inner policy is not certified.
    All its learners learn from every round by their protocols with weight 1, and its top learns from the rounds it
    decided.

    Parameters
    ----------
    inner : Policy
        Policy that decides if the two draws differ.
    recycle : bool, default False
        Whether outcomes of the inner policy's rounds are stored. If the two draws agree and the third draw's arm has
        a stored outcome, the sampler learns from that outcome, and the inner policy decides the round.
    literal : bool, default False
        Whether the inner policy learns only from rounds it decided ("update algorithm used to pull arm"). On the
        stroke trial, this gives much less than the figure in the paper.

    See Also
    --------
    HierarchicalBandit : A hybrid that selects one of several experts.
    Thompson : The sampler that bounds the inner policy.

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 2 and section 3.3.

    Examples
    --------
    >>> from adhere import Thompson, simulate
    >>> str(ThompsonBounded(Thompson(protocol="actual"), recycle=True))
    'thompson-bounded(thompson/actual, recycle=true)'
    >>> result = simulate("thompson-bounded(thompson/actual)", "defiers", n_patients=100, n_runs=20, progress=False)
    >>> sorted(result[0].experts)
    ['thompson (certified)', 'thompson/actual']

    """

    inner: Policy = field(default=None, metadata=any_policy("thompson-bounded(hierarchical(thompson))"))  # type: ignore[assignment]
    recycle: bool = flag(default=False)
    literal: bool = flag(default=False)

    def learners(self) -> tuple[AnyLearner, ...]:
        """Return the sampler, followed by the inner policy's learners."""
        return (Thompson(), *self.inner.learners())

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the rules of the sampler, the inner policy and the cache."""
        inner = self.inner.assemble(shape, certified=certified and self.literal)
        rule = ThompsonBoundedRule(
            sampler=Thompson().assemble(shape).rule,
            inner=inner.rule,
            cache=cache_rule(shape, self.recycle and certified),
            n_arms=shape.n_arms,
            certified=certified,
            literal=self.literal and certified,
        )
        return CompiledPolicy(rule, ("thompson (certified)", *inner.components))


@implements(remember, ThompsonBounded)
def remember_thompson_bounded(rule: Rule, state: State, memo: Memo) -> None:
    """Mark that neither the sampler nor the inner policy has decided, and let the inner policy remember."""
    memo.decided, memo.recycled_arm, memo.recycled_reward, memo.recycled_success = NONE, NONE, 0.0, 0.0
    remember(rule.inner, state.inner, memo.inner)


@implements(remember_guarded, ThompsonBounded)
def remember_guarded_thompson_bounded(
    rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream
) -> None:
    """Pass the guard's probabilities on to the inner policy; the sampler uses no weights."""
    remember_guarded(rule.inner, state.inner, memo.inner, shares, kept, rng)


@implements(choose, ThompsonBounded)
def choose_thompson_bounded(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Return a third Thompson draw if two draws agree, otherwise the inner policy's arm."""
    first = choose(rule.sampler, state.sampler, memo.sampler, 1.0, rng)
    second = choose(rule.sampler, state.sampler, memo.sampler, 1.0, rng)
    draw_ahead(rng)
    if first == second:
        third = choose(rule.sampler, state.sampler, memo.sampler, 1.0, rng)
        if not holds_arm(rule.cache, state.cache, third):
            memo.decided = SAMPLER
            return third
        own = use_public_keys(rng)  # drawing the recycled outcome is part of learning
        reward = take_outcome(rule.cache, state.cache, third, rng)
        success = 1.0 if draw_success(reward, rng) else 0.0  # drawn here, so that `replay_choice` need not draw
        use_own_keys(rng, own)
        memo.recycled_arm, memo.recycled_reward, memo.recycled_success = third, reward, success
        learn(rule.sampler, state.sampler, memo.sampler, third, success, 1.0, rng)
    memo.decided = INNER
    return choose(rule.inner, state.inner, memo.inner, 1.0, rng)


@implements(replay_choice, ThompsonBounded)
def replay_choice_thompson_bounded(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Remove the recycled outcome from the cache and teach it to the sampler again."""
    third = memo.recycled_arm
    if third != NONE:
        count_outcomes(rule.cache, state.cache, third, memo.recycled_reward, -1)
        learn(rule.sampler, state.sampler, memo.sampler, third, memo.recycled_success, 1.0, rng)
    if memo.decided == INNER:
        replay_choice(rule.inner, state.inner, memo.inner, rng)


@implements(note_allocation, ThompsonBounded)
def note_allocation_thompson_bounded(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Pass the arm on to the inner policy, since a burn-in inside counts the sampler's arms too."""
    note_allocation(rule.inner, state.inner, arm, rng)


@implements(update, ThompsonBounded)
def update_thompson_bounded(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Update the sampler with its own rounds, and the inner policy with all rounds (only its own if `literal`).

    If a guard around both decided, both learn.
    """
    decided = memo.decided
    if feedback <= rule.n_arms:  # the reward is new
        if decided != INNER or not rule.certified:
            learn(rule.sampler, state.sampler, memo.sampler, chosen, reward, 1.0, rng)
        else:
            count_outcomes(rule.cache, state.cache, chosen, reward, +1)
    if decided != SAMPLER or not rule.literal:
        update(rule.inner, state.inner, memo.inner, chosen, feedback, reward, 1.0, rng)


@implements(probabilities, ThompsonBounded)
def probabilities_thompson_bounded(
    rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream
) -> None:
    """Write s·p_j + (1 - s)·h_j, for Thompson's probabilities p_j, the inner policy's h_j and s = Σ p_j².

    An arm with an outcome in the cache passes its share s·p_j on to the inner policy.
    """
    p = view(out, rule.n_arms)
    h = view(p, rule.n_arms)
    probabilities(rule.sampler, state.sampler, memo.sampler, 1.0, p, rng)
    probabilities(rule.inner, state.inner, memo.inner, 1.0, h, rng)
    agree = 0.0
    for arm in range(rule.n_arms):
        agree += p[arm] * p[arm]
    pulled = 0.0
    for arm in range(rule.n_arms):
        out[arm] = 0.0
        if not holds_arm(rule.cache, state.cache, arm):
            out[arm] = agree * p[arm]
            pulled += out[arm]
    for arm in range(rule.n_arms):
        out[arm] += (1.0 - pulled) * h[arm]


@implements(component, ThompsonBounded)
def component_thompson_bounded(rule: Rule, memo: Memo) -> int:
    """Return 0 if the sampler decided, otherwise 1 plus the component that decided in the inner policy."""
    return 0 if memo.decided == SAMPLER else 1 + component(rule.inner, memo.inner)
