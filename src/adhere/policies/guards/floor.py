"""Floor: every arm keeps a minimum probability, whatever the policy inside would choose."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from adhere.compilation import (
    Memo,
    State,
    Vector,
    generic_with_default,
    if_two_arms,
    implements,
    laid_out,
    specialise,
)
from adhere.errors import InputError
from adhere.policies.base.declaration import policy
from adhere.policies.base.generic import Rule, choose, probabilities, remember, remember_guarded
from adhere.policies.base.parameters import choice, parameter
from adhere.policies.base.policy import Policy, probabilities_size
from adhere.policies.guards.guard import (
    GUARDED,
    INNER,
    Guard,
    GuardMemo,
    GuardState,
    first_draw,
    guard_uniform,
    prepare_shares,
    prepare_shares_from,
)
from adhere.randomness import GUARD, Stream, enter_public_draws, leave_substream, recommendation_number
from adhere.records.arms import USUAL, control_of, folded

_TOLERANCE = 1e-9  # tolerance by which shares such as 1/3 may sum to more than 1


class Mix(NamedTuple):
    """Floor whose shares do not depend on the policy inside. A separate type, so that code for `Clip` is not
    compiled.
    """

    size: int = 0


class Clip(NamedTuple):
    """Floor whose shares raise the policy inside to the minima; its probabilities need a workspace."""

    size: int


class FloorMemo(GuardMemo):
    """Workspace in which a clipping floor computes the probabilities of the policy inside."""

    of_inner = Vector(lambda rule: rule.raising.size, scratch=True)


@laid_out(state=GuardState, memo=FloorMemo)
class FloorRule(NamedTuple):
    """The compiled form of `Floor`."""

    inner: Rule
    n_arms: int
    nth: int  # number of guards inside it
    control: float
    share: float
    kept: float
    raising: Mix | Clip


class ControlWarning(UserWarning):
    """A floor for the control protects the first arm, although another arm has a usual name for a control."""


def protected_control(policies: Iterable[object], arms: Sequence[str]) -> tuple[str, str]:
    """Return the arm that a floor for the control protects, and a warning if another arm has a usual control name."""
    every = (part for one in policies if isinstance(one, Policy) for part in one.parts())
    floor = next((part for part in every if isinstance(part, Floor) and part.control is not None), None)
    if floor is None:
        return "", ""
    usual = arms[control_of(arms)]
    if usual == arms[0] or folded(arms[0]) in USUAL:
        return arms[0], ""
    said = f"floor(control={floor.control:g}) protects {arms[0]!r}, the first arm, not {usual!r}"
    return arms[0], f"{said}; list the control first"


@policy("floor", rule=FloorRule)
class Floor(Guard):
    """Keep the probability of every arm j at s_j or more, whatever the inner policy would choose.

        p'_j = s_j + (1 - Σ s) · p_j              (mix)
        p'_j = max(s_j, c · p_j),  Σ p'_j = 1     (clip)

    Mixing shrinks every probability by the same factor. Clipping raises each probability below its minimum to the
    minimum and rescales the others, until all have their minimum. Clipping leaves more to the inner policy.

    Parameters
    ----------
    inner : Policy
        Policy to guard: a learner, a hybrid or another guard.
    share : float, default 0.1
        Minimum probability s_j of each arm.
    control : float, optional
        Minimum probability of the first arm, the control. The default is `share`.
    rule : {"mix", "clip"}, default "mix"
        Whether to shrink all probabilities of the inner policy ("mix"), or to raise only those below their minimum
        ("clip").

    See Also
    --------
    BurnIn : Randomise the first patients in permuted blocks.

    Notes
    -----
    The floor draws one random number, which determines whether the floor decides, and for which arm. Otherwise the
    inner policy chooses as it would without the floor. If clipping, the floor decides for arm j with probability
    max(0, s_j - c · p_j), and in total with probability 1 - c.

    On rounds that the floor decided, all learners learn by their protocols with weight 1, and the top of a hierarchy
    does not learn. EXP3 divides by p' instead of p.

    Shares that sum to 1 mean randomisation in fixed proportions. A larger sum is refused once the number of arms is
    known.

    References
    ----------
    Granholm, Jensen, Lange & Kaas-Hansen (2022), "adaptr: an R package for simulating and comparing adaptive clinical
    trials", which also raises probabilities to their minimum and rescales the others.

    Examples
    --------
    >>> from adhere import Thompson, simulate
    >>> str(Floor(Thompson(), share=0.1, control=0.3))
    'floor(thompson, control=0.3)'
    >>> result = simulate(["thompson", "floor(thompson)"], "defiers", n_patients=100, n_runs=20, progress=False)
    >>> [round(outcome.surplus.mean, 2) for outcome in result]
    [48.2, 39.1]
    >>> round(result[1].experts["floor"].mean, 1)
    0.2

    """

    share: float = parameter(default=0.1, at_least=0, at_most=1)
    control: float | None = parameter(default=None, at_least=0, at_most=1)
    rule: str = choice(default="mix", options=("mix", "clip"))

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """Check that the shares fit the number of arms, then resolve the policy inside."""
        self._kept(n_arms)
        return super().resolved(n_arms, horizon)

    def guard_rule(self, inner: Rule, n_arms: int, nth: int) -> FloorRule:
        """Return the rule: the shares, and the probability left to the policy inside."""
        kept, control = self._kept(n_arms), self.share if self.control is None else self.control
        raising = Clip(probabilities_size(n_arms)) if self.rule == "clip" else Mix()
        return FloorRule(inner, n_arms, nth, control, self.share, kept, raising)

    def _kept(self, n_arms: int) -> float:
        """Return 1 - Σ s, the probability left to the policy inside."""
        control = self.share if self.control is None else self.control
        kept = 1.0 - math.fsum([control, *[self.share] * (n_arms - 1)])
        if kept < -_TOLERANCE:
            beside = "" if self.control is None else f" beside control={self.control:g}"
            most = (1.0 - (self.control or 0.0)) / (n_arms - (self.control is not None))
            expected = f"at most {most:.4g} for {n_arms} arms{beside}: minimum probabilities add up to at most 1"
            raise InputError("floor share", self.share, expected)
        return max(0.0, kept)


@implements(choose, Floor)
def choose_floor(rule: Rule, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Return the floor's arm, or the arm of the policy inside."""
    u = guard_uniform(rule, recommendation_number(rng), rng)
    kept = prepare_shares(rule, state, memo, rng)
    if u >= 1.0 - kept:
        memo.decided = INNER
        arm = choose(rule.inner, state.inner, memo.inner, weight, rng)
    else:
        memo.decided = GUARDED
        arm, total = 0, memo.shares[0]
        while u >= total and arm < rule.n_arms - 1:
            arm += 1
            total += memo.shares[arm]
    remember_guarded(rule.inner, state.inner, memo.inner, memo.shares, kept, rng)
    return arm


@implements(prepare_shares, FloorRule)
def prepare_shares_of_floor(rule: Rule, state: State, memo: Memo, rng: Stream) -> float:
    """Write the shares, computing the probabilities of the policy inside only if they are needed."""
    state_inside(rule.raising, rule, state, memo, rng)
    return prepare_shares_from(rule, state, memo, memo.of_inner, rng)


@implements(prepare_shares_from, FloorRule)
def prepare_shares_of_floor_from(rule: Rule, state: State, memo: Memo, of_inner: Any, rng: Stream) -> float:
    """Write the minima or, for a floor that clips, the probability that each arm lacks to reach its minimum."""
    for arm in range(rule.n_arms):
        memo.shares[arm] = rule.control if arm == 0 else rule.share
    return clip(rule.raising, rule, memo, of_inner)


@generic_with_default
def clip(raising: Mix | Clip, rule: Rule, memo: Memo, of_inner: Any) -> float:
    """Turn the declared minima into the s_j and return c. A floor that mixes leaves the minima unchanged."""
    return rule.kept  # type: ignore[no-any-return]


@implements(clip, Clip)
def clip_by_probabilities(raising: Clip, rule: Rule, memo: Memo, of_inner: Any) -> float:
    """Find c from Σ max(s_j, c · p_j) = 1 and write max(0, s_j - c · p_j) for each arm."""
    kept = rescaling(rule, memo.shares, of_inner)
    for arm in range(rule.n_arms):
        missing = memo.shares[arm] - kept * of_inner[arm]
        memo.shares[arm] = missing if missing > 0.0 else 0.0
    return kept


def rescaling(rule: Rule, shares: Any, of_inner: Any) -> float:
    """Return the c that solves Σ max(s_j, c · p_j) = 1."""
    kept, is_settled = 1.0, False
    while not is_settled:  # at most once per arm: c only falls, and so does the number of arms above their minimum
        minima, rest, n_raised = 0.0, 0.0, 0
        for arm in range(rule.n_arms):
            if kept * of_inner[arm] < shares[arm]:
                minima += shares[arm]
                n_raised += 1
            else:
                rest += of_inner[arm]
        smaller = (1.0 - minima) / rest if rest > 0.0 and minima < 1.0 else 0.0
        is_settled = n_raised == 0 or smaller >= kept
        kept = smaller if smaller < kept else kept
    return kept


def rescaling_of_two(rule: Rule, shares: Any, of_inner: Any) -> float:
    """Return the c of `rescaling` for two arms, where the probability that one arm lacks comes from the other."""
    if of_inner[0] < shares[0]:
        return (1.0 - shares[0]) / of_inner[1]  # type: ignore[no-any-return]
    if of_inner[1] < shares[1]:
        return (1.0 - shares[1]) / of_inner[0]  # type: ignore[no-any-return]
    return 1.0


specialise(rescaling, if_two_arms(rescaling_of_two, rescaling))


@generic_with_default
def state_inside(raising: Mix | Clip, rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Write the probabilities of the policy inside into `memo.of_inner`, if they are needed."""


@implements(state_inside, Clip)
def state_inside_for_clipping(raising: Clip, rule: Rule, state: State, memo: Memo, rng: Stream) -> None:
    """Write the probabilities with draws from the guard's own stream, then remember again for the choice."""
    position = enter_public_draws(rng, GUARD, first_draw(rule.nth) + 1)  # only to state probabilities
    probabilities(rule.inner, state.inner, memo.inner, 1.0, memo.of_inner, rng)
    leave_substream(rng, position)
    remember(rule.inner, state.inner, memo.inner)
