"""The state that a live trial's looks need: outcomes by arm, looks made, arms dropped, and each stratum's blocks.

All functions here are pure. `evolve` applies them to every event if the design has looks, drops arms, freezes its
allocation or has strata. Other trials have no such state.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from adhere.compilation import layout_of, state_of
from adhere.compilation.layout import Floats
from adhere.design.design import Design
from adhere.design.parts import Looks
from adhere.design.planned_looks import burn_in_of, look_counts, look_days
from adhere.looks.judge import ACTIVE, GO_ON
from adhere.policies.guards.dropped_arms import shares_left
from adhere.policies.guards.permuted_blocks import (
    BlockRule,
    block_lengths,
    block_rule,
    take_place,
    write_block_shares,
)
from adhere.trial.domain.events import AnyEvent, Looked, Recommended
from adhere.trial.domain.history import History


class LookPlan(NamedTuple):
    """A design's looks and allocation as plain numbers.

    `counts` are the numbers of known outcomes at which looks are due; the last number belongs to the end of the
    trial. `days` are counted from the first patient.
    """

    n_patients: int | None
    counts: tuple[int, ...]
    days: tuple[float, ...]
    burn_in: int
    blocks: BlockRule  # of every stratum
    n_arms: int
    n_strata: int
    is_frozen: bool  # whether the allocation is frozen between looks
    may_drop: bool  # whether looks may drop arms while the trial continues
    lower_is_better: bool = False  # if true, an outcome y counts as 1 − y

    @property
    def prescribes(self) -> bool:
        """Return whether the design may prescribe the shares that arms are drawn by."""
        return self.is_frozen or self.may_drop or self.n_strata > 0

    @property
    def n_looks(self) -> int:
        """The number of planned looks, including the end."""
        return len(self.counts) + len(self.days)


class LookState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The state of a trial that its looks, and the allocation between them, depend on."""

    n: tuple[int, ...]  # number of known outcomes, by chosen arm
    sums: tuple[float, ...]
    squares: tuple[float, ...]
    status: tuple[int, ...]  # status of each arm after the looks so far
    blocks: tuple[float, ...] = ()  # state of the permuted blocks of all strata, one stratum after another
    shares: tuple[float, ...] = ()  # shares until the next look, if the allocation is frozen and a look was made
    n_awaited: int = 0  # number of recommendations that await an outcome and are not lost to follow-up
    next_look: int = 0
    first_at: datetime | None = None  # time of the first recommendation
    made_at: tuple[int, ...] = ()  # positions of the records of the looks so far
    stop_at: int | None = None  # position of the first look that recommended a stop

    @property
    def n_outcomes(self) -> int:
        """The number of known outcomes, reported or imputed."""
        return sum(self.n)


def has_looks(design: Design) -> bool:
    """Return whether a design plans looks or prescribes the allocation."""
    return bool(
        design.stopping is not None or design.strata or design.looks != Looks() or design.update == "at looks"
    )


def look_plan(design: Design) -> LookPlan:
    """Return the plan of a design's looks and allocation."""
    burn_in, n_arms = burn_in_of(design), len(design.arms)
    return LookPlan(
        n_patients=design.n_patients,
        counts=look_counts(design),
        days=look_days(design),
        burn_in=burn_in.patients,
        blocks=block_rule(n_arms, burn_in.lengths or block_lengths(n_arms)),
        n_arms=n_arms,
        n_strata=len(design.strata),
        is_frozen=design.update == "at looks",
        may_drop=design.stopping is not None and n_arms > 2,
        lower_is_better=design.lower_is_better,
    )


def first_look_state(plan: LookPlan) -> LookState:
    """Return the state before the first patient."""
    zeros = (0.0,) * plan.n_arms
    blocks = (0.0,) * (plan.n_strata * _block_size(plan))
    return LookState((0,) * plan.n_arms, zeros, zeros, (ACTIVE,) * plan.n_arms, blocks)


def due_look(
    plan: LookPlan, looks: LookState, n_recommendations: int, at: datetime, *, is_end: bool = False
) -> int | None:
    """Return the index of the look that is due after the last event, which has the time `at`, or None if no look is
    due.

    A look scheduled by number is due as soon as enough outcomes are known, and a look scheduled by day once its day
    is over. The last look is due when all patients have a recommendation and no outcome is awaited. If the trial
    ends, the last look does not wait for outcomes.
    """
    number = looks.next_look
    if number >= plan.n_looks:
        return None
    last = plan.n_looks - 1
    if number < len(plan.days):
        due = looks.first_at is not None and at > looks.first_at + timedelta(days=plan.days[number])
    else:
        due = number < last and looks.n_outcomes >= plan.counts[number - len(plan.days)]
    if due:
        return number
    return last if n_recommendations == plan.n_patients and (is_end or not looks.n_awaited) else None


def evolve_looks(
    plan: LookPlan, looks: LookState, event: AnyEvent, before: History | None, after: History
) -> LookState:
    """Return the state after an event about a recommendation."""
    awaited = looks.n_awaited - _is_awaited(before) + _is_awaited(after)
    if isinstance(event, Recommended):
        looks = replace(
            looks, n_awaited=awaited, first_at=looks.first_at or event.at, blocks=_blocks_after(plan, looks, event)
        )
    elif awaited != looks.n_awaited:
        looks = replace(looks, n_awaited=awaited)
    old, new = (None if one is None else benefit_of(plan, one) for one in (before, after))
    return looks if old == new else _with_outcome(looks, after.chosen, old, new)


def after_look(looks: LookState, event: Looked) -> LookState:
    """Return the state after a look.

    A look that recommends a stop drops no arm: until a person confirms the stop, the trial continues as before.
    """
    stops = event.decision != GO_ON
    return replace(
        looks,
        next_look=event.look + 1,
        made_at=(*looks.made_at, event.position),
        status=looks.status if stops else event.status,
        shares=event.shares,
        stop_at=event.position if stops and looks.stop_at is None else looks.stop_at,
    )


def benefit_of(plan: LookPlan, history: History) -> float | None:
    """Return a recommendation's outcome, oriented so that higher is better, or None while it is unknown."""
    if history.reward is None:
        return None
    return 1.0 - history.reward.value if plan.lower_is_better else history.reward.value


def _is_awaited(history: History | None) -> bool:
    return history is not None and history.reward is None and not history.withdrawn and not history.in_error


def _with_outcome(looks: LookState, arm: int, old: float | None, new: float | None) -> LookState:
    """Replace one outcome of an arm. None means that there is no outcome."""
    n, value, square = (new is not None) - (old is not None), new or 0.0, (new or 0.0) ** 2
    return replace(
        looks,
        n=_added(looks.n, arm, n),
        sums=_added(looks.sums, arm, value - (old or 0.0)),
        squares=_added(looks.squares, arm, square - (old or 0.0) ** 2),
    )


def _added(values: tuple[float, ...], arm: int, more: float) -> tuple[float, ...]:
    return (*values[:arm], values[arm] + more, *values[arm + 1 :])


def stratum_shares(plan: LookPlan, looks: LookState, stratum: int) -> list[float]:
    """Return the probability of each remaining arm for the next patient of a stratum during the burn-in."""
    shares = [0.0] * plan.n_arms
    write_block_shares(plan.blocks, state_of(plan.blocks, _blocks_of(plan, looks, stratum)), shares)
    shares_left(shares, dropped(looks), plan.n_arms)
    return [float(share) for share in shares]


def dropped(looks: LookState) -> list[bool]:
    """Return whether each arm was dropped at a look."""
    return [status != ACTIVE for status in looks.status]


def _block_size(plan: LookPlan) -> int:
    return int(layout_of("State", plan.blocks).size(plan.blocks))


def _blocks_of(plan: LookPlan, looks: LookState, stratum: int) -> Floats:
    """Return a copy of the state of a stratum's blocks."""
    size = _block_size(plan)
    return np.array(looks.blocks[stratum * size : (stratum + 1) * size])


def _blocks_after(plan: LookPlan, looks: LookState, event: Recommended) -> tuple[float, ...]:
    """Return the blocks after a recommendation, which uses a place in its stratum's block during the burn-in.

    An arm that was drawn because the policy failed uses no place.
    """
    if event.stratum is None or event.recommendation_index >= plan.burn_in or event.fallback:
        return looks.blocks
    own, first = _blocks_of(plan, looks, event.stratum), event.stratum * _block_size(plan)
    take_place(plan.blocks, state_of(plan.blocks, own), event.chosen)
    return (*looks.blocks[:first], *own.tolist(), *looks.blocks[first + own.size :])
