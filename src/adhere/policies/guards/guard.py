"""Shared code of guards: policies that decide some rounds themselves and leave the others to the policy inside.

A guard draws arm j itself with probability s_j and leaves the round to the policy inside with probability c. If that
policy would choose arm j with probability p_j, the arm is recommended with probability

    p'_j = s_j + c · p_j.

The guard's own draws are keyed by the purpose GUARD and do not use the stream of the policy inside. That policy
therefore chooses as it would without the guard.

On rounds that the guard decided, every learner inside learns by its protocol with weight 1, including certified
experts and Thompson samplers, but the top of a hierarchy does not learn. On other rounds only importance weights
differ: a learner that divides by the probability p_j of its arm divides by s_j + c · p_j instead
(`remember_guarded`). A certified expert that the top draws with probability q keeps its weight 1/q on its own rounds
and has weight 1 on the guard's. Every round then counts once on average, and the estimate for an arm is unbiased:

    c · q · p_j · (1/q) · r / (s_j + c · p_j) + s_j · r / (s_j + c · p_j) = r.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from adhere.compilation import (
    Index,
    Memo,
    Part,
    State,
    Vector,
    generic,
    generic_with_default,
    implementation,
    implements,
    inline,
    specialise,
)
from adhere.policies.base.generic import (
    Floats,
    Rule,
    component,
    note_allocation,
    probabilities,
    remember,
    remember_guarded,
    replay_choice,
    update,
)
from adhere.policies.base.parameters import any_policy
from adhere.policies.base.policy import AnyLearner, CompiledPolicy, Policy, TrialShape
from adhere.randomness import GUARD, Stream, uniform_at

GUARDED, INNER, NOBODY, OTHER = 0, 1, -1, -2
_DRAWS = 2**17  # draws of each guard; at most eight are nested


class GuardState(State):
    """State of a guard: the state of the policy inside, since a guard learns nothing."""

    inner = Part()


class GuardMemo(Memo):
    """The component that decided, and the memo of the policy inside."""

    decided = Index()  # GUARDED, INNER, NOBODY (not yet decided), or OTHER: a guard outside this one
    inner = Part()
    shares = Vector(lambda rule: rule.n_arms, scratch=True)  # the s_j


@generic
def prepare_shares(rule: Rule, state: State, memo: Memo, rng: Stream) -> float:
    """Write the share s_j of each arm into `memo.shares` before the policy inside chooses, and return c."""
    raise NotImplementedError


@generic
def prepare_shares_from(rule: Rule, state: State, memo: Memo, of_inner: Any, rng: Stream) -> float:
    """Do the same as `prepare_shares`, given the probabilities p_j of the policy inside."""
    raise NotImplementedError


@generic_with_default
def note_own_allocation(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Change the guard's own state after an arm was allocated; most guards have no state of their own."""


@inline
def first_draw(nth: int) -> int:
    """Return the index of the first random draw of a guard with n guards inside it."""
    return nth * _DRAWS


@inline
def guard_uniform(rule: Rule, number: Any, rng: Stream) -> float:
    """Return the guard's own uniform number in [0, 1) for a recommendation."""
    return uniform_at(rng, number, GUARD, first_draw(rule.nth))


@dataclass(frozen=True)
class Guard(Policy):
    """Base of the guards. A subclass implements `choose`, `prepare_shares` and `prepare_shares_from`."""

    kind: ClassVar[str] = "guard"
    inner: Policy = field(default=None, metadata=any_policy("floor(thompson)"))  # type: ignore[assignment]

    def learners(self) -> tuple[AnyLearner, ...]:
        """Return the learners of the policy inside."""
        return self.inner.learners()

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """Return the guard's rule around the rule of the policy inside."""
        inner = self.inner.assemble(shape, certified)
        nth = sum(isinstance(part, Guard) for part in self.inner.parts())
        return CompiledPolicy(self.guard_rule(inner.rule, shape.n_arms, nth), (self.name, *inner.components))

    def guard_rule(self, inner: Rule, n_arms: int, nth: int) -> NamedTuple:
        """Return the rule of a guard with n guards inside it."""
        raise NotImplementedError

    @classmethod
    def declared(cls) -> None:
        """Register the functions that all guards share."""
        implements(remember, cls.rule_class)(remember_in_guard)
        implements(remember_guarded, cls.rule_class)(remember_guarded_in_guard)
        implements(replay_choice, cls.rule_class)(replay_choice_guarded)
        implements(note_allocation, cls.rule_class)(note_allocation_guarded)
        implements(update, cls.rule_class)(update_guarded)
        implements(probabilities, cls.rule_class)(probabilities_guarded)
        implements(component, cls.rule_class)(component_guarded)


def inside_guards(policy: Policy) -> Policy:
    """Return the policy inside all guards."""
    while isinstance(policy, Guard):
        policy = policy.inner
    return policy


def remember_in_guard(rule: Rule, state: State, memo: Memo) -> None:
    """Mark the decision as open, and let the policy inside remember."""
    memo.decided = NOBODY
    remember(rule.inner, state.inner, memo.inner)


def remember_guarded_in_guard(rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream) -> None:
    """Pass on the shares of an outer guard. If this guard has not decided yet, pass on its own shares first."""
    if memo.decided == NOBODY:
        memo.decided = OTHER
        remember_own_guard(rule, state, memo, rng)
    remember_guarded(rule.inner, state.inner, memo.inner, shares, kept, rng)


def remember_own_guard(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Tell the policy inside how this guard changes its probabilities."""
    kept = prepare_shares(rule, state, memo, rng)
    remember_guarded(rule.inner, state.inner, memo.inner, memo.shares, kept, rng)


def tell_nobody(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Do nothing: no learner inside remembers its probabilities, and computing them may take long."""


def _pick_by_learners(rule: Any, *_: Any) -> Any:
    return remember_own_guard if _keeps_shares(rule.types[rule.fields.index("inner")]) else tell_nobody


def _keeps_shares(kind: Any) -> bool:
    """Return whether a rule type, or a rule type inside it, stores its probabilities in the memo. Guards do not."""
    rule_class = getattr(kind, "instance_class", None)
    if rule_class is not None and not issubclass(getattr(rule_class, "Memo", Memo), GuardMemo):
        own = implementation(remember_guarded, rule_class)
        if own is not implementation(remember_guarded, object):
            return True
    return any(map(_keeps_shares, getattr(kind, "types", ())))


specialise(remember_own_guard, _pick_by_learners)


def replay_choice_guarded(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Replay the choice of the policy inside, if it decided."""
    if memo.decided == INNER:
        replay_choice(rule.inner, state.inner, memo.inner, rng)


def note_allocation_guarded(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Record the allocated arm, whoever decided, and pass it on to the policy inside."""
    note_own_allocation(rule, state, arm, rng)
    note_allocation(rule.inner, state.inner, arm, rng)


def update_guarded(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """Update the policy inside. If the guard decided, the memo inside shows that no component did."""
    update(rule.inner, state.inner, memo.inner, chosen, feedback, reward, weight, rng)


def probabilities_guarded(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """Write the probability of each arm under the guard, p'_j = s_j + c · p_j."""
    # By now the memo contains what importance weights need, so remember what the policy draws from.
    remember(rule.inner, state.inner, memo.inner)
    probabilities(rule.inner, state.inner, memo.inner, 1.0, out, rng)
    kept = prepare_shares_from(rule, state, memo, out, rng)
    for arm in range(rule.n_arms):
        out[arm] = memo.shares[arm] + kept * out[arm]


def component_guarded(rule: Rule, memo: Memo) -> int:
    """Return 0 if the guard decided, otherwise 1 plus the component that decided in the policy inside."""
    return 0 if memo.decided == GUARDED else 1 + component(rule.inner, memo.inner)
