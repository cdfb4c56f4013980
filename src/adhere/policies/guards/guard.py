"""What guards have in common: policies that decide some rounds themselves and leave the others to the policy inside.

A guard draws arm j itself with probability s_j and leaves the round to the policy inside with probability c, so that
an arm which that policy would choose with probability p_j is recommended with probability

    p'_j = s_j + c · p_j.

Its own draws are keyed by the purpose GUARD and take nothing from the stream of the policy inside, which therefore
chooses as it would without the guard.

On rounds that the guard decided, every learner inside learns by its protocol with weight 1, certified experts and
Thompson samplers too, and the top of a hierarchy does not learn. On the others all is as without the guard, but for
importance weights: a learner that divides by the probability of its arm divides by s_j + c · p_j with its own p_j
(`remember_guarded`). A certified expert that the top draws with probability q keeps its weight 1/q on its own rounds
and has 1 on the guard's, so that every round counts once in the mean, and what it estimates of an arm has no bias:

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
_DRAWS = 2**17  # of each guard of up to eight inside each other


class GuardState(State):
    """A guard learns nothing."""

    inner = Part()


class GuardMemo(Memo):
    """Who decided, and what the policy inside remembers."""

    decided = Index()  # GUARDED, INNER, NOBODY yet, or OTHER: somebody around the guard
    inner = Part()
    shares = Vector(lambda rule: rule.n_arms, scratch=True)  # the s_j


@generic
def prepare_shares(rule: Rule, state: State, memo: Memo, rng: Stream) -> float:
    """Write the s_j into `memo.shares`, before the policy inside chooses; returns c."""
    raise NotImplementedError


@generic
def prepare_shares_from(rule: Rule, state: State, memo: Memo, of_inner: Any, rng: Stream) -> float:
    """Do the same as `prepare_shares`, where the probabilities p_j of the policy inside are known."""
    raise NotImplementedError


@generic_with_default
def note_own_allocation(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Change the guard's own state after an arm was allocated; most guards have no state of their own."""


@inline
def first_draw(nth: int) -> int:
    """Return where the draws of the guard with n guards inside it begin."""
    return nth * _DRAWS


@inline
def guard_uniform(rule: Rule, number: Any, rng: Stream) -> float:
    """Return a guard's own number in [0, 1) for a recommendation."""
    return uniform_at(rng, number, GUARD, first_draw(rule.nth))


@dataclass(frozen=True)
class Guard(Policy):
    """Base of the guards. A subclass implements `choose`, `prepare_shares` and `prepare_shares_from`."""

    kind: ClassVar[str] = "guard"
    inner: Policy = field(default=None, metadata=any_policy("floor(thompson)"))  # type: ignore[assignment]

    def learners(self) -> tuple[AnyLearner, ...]:
        """Those of the policy inside."""
        return self.inner.learners()

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """The rule of the guard around that of the policy inside."""
        inner = self.inner.assemble(shape, certified)
        nth = sum(isinstance(part, Guard) for part in self.inner.parts())
        return CompiledPolicy(self.guard_rule(inner.rule, shape.n_arms, nth), (self.name, *inner.components))

    def guard_rule(self, inner: Rule, n_arms: int, nth: int) -> NamedTuple:
        """The rule, with n guards inside it."""
        raise NotImplementedError

    @classmethod
    def declared(cls) -> None:
        """All guards learn and state their probabilities in one way."""
        implements(remember, cls.rule_class)(remember_in_guard)
        implements(remember_guarded, cls.rule_class)(remember_guarded_in_guard)
        implements(replay_choice, cls.rule_class)(replay_choice_guarded)
        implements(note_allocation, cls.rule_class)(note_allocation_guarded)
        implements(update, cls.rule_class)(update_guarded)
        implements(probabilities, cls.rule_class)(probabilities_guarded)
        implements(component, cls.rule_class)(component_guarded)


def inside_guards(policy: Policy) -> Policy:
    """The policy inside all guards."""
    while isinstance(policy, Guard):
        policy = policy.inner
    return policy


def remember_in_guard(rule: Rule, state: State, memo: Memo) -> None:
    """Nobody has decided yet."""
    memo.decided = NOBODY
    remember(rule.inner, state.inner, memo.inner)


def remember_guarded_in_guard(rule: Rule, state: State, memo: Memo, shares: Any, kept: float, rng: Stream) -> None:
    """The policy inside is guarded twice: by this guard first, whoever decided."""
    if memo.decided == NOBODY:
        memo.decided = OTHER
        remember_own_guard(rule, state, memo, rng)
    remember_guarded(rule.inner, state.inner, memo.inner, shares, kept, rng)


def remember_own_guard(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Tell the policy inside what this guard makes of its probabilities."""
    kept = prepare_shares(rule, state, memo, rng)
    remember_guarded(rule.inner, state.inner, memo.inner, memo.shares, kept, rng)


def tell_nobody(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Do nothing where no learner inside remembers its probabilities, which may take long to compute."""


def _pick_by_learners(rule: Any, *_: Any) -> Any:
    return remember_own_guard if _keeps_shares(rule.types[rule.fields.index("inner")]) else tell_nobody


def _keeps_shares(kind: Any) -> bool:
    """Whether a type of rules, or one inside it, keeps its probabilities in the memo; a guard has none of its own."""
    rule_class = getattr(kind, "instance_class", None)
    if rule_class is not None and not issubclass(getattr(rule_class, "Memo", Memo), GuardMemo):
        own = implementation(remember_guarded, rule_class)
        if own is not implementation(remember_guarded, object):
            return True
    return any(map(_keeps_shares, getattr(kind, "types", ())))


specialise(remember_own_guard, _pick_by_learners)


def replay_choice_guarded(rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """As the policy inside chose, if it did."""
    if memo.decided == INNER:
        replay_choice(rule.inner, state.inner, memo.inner, rng)


def note_allocation_guarded(rule: Rule, state: State, arm: Any, rng: Stream) -> None:
    """Note the arm, whoever decided, and pass it on to the policy inside."""
    note_own_allocation(rule, state, arm, rng)
    note_allocation(rule.inner, state.inner, arm, rng)


def update_guarded(
    rule: Rule, state: State, memo: Memo, chosen: int, feedback: int, reward: float, weight: float, rng: Stream
) -> None:
    """The policy inside learns; its own memo says that nobody in it decided, where the guard did."""
    update(rule.inner, state.inner, memo.inner, chosen, feedback, reward, weight, rng)


def probabilities_guarded(rule: Rule, state: State, memo: Memo, weight: float, out: Floats, rng: Stream) -> None:
    """p'_j = s_j + c · p_j."""
    # What the policy inside remembers is by now what importance weights need, not what it draws from.
    remember(rule.inner, state.inner, memo.inner)
    probabilities(rule.inner, state.inner, memo.inner, 1.0, out, rng)
    kept = prepare_shares_from(rule, state, memo, out, rng)
    for arm in range(rule.n_arms):
        out[arm] = memo.shares[arm] + kept * out[arm]


def component_guarded(rule: Rule, memo: Memo) -> int:
    """The guard, or who decided in the policy inside."""
    return 0 if memo.decided == GUARDED else 1 + component(rule.inner, memo.inner)
