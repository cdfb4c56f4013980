"""Conditions and workspace of simulated trials, as numbers and arrays for compiled code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adhere.compilation import layout_of
from adhere.compilation.intrinsics import buffer_for
from adhere.compilation.static import MAX_STATIC_ARMS
from adhere.design.arms import arm_taken
from adhere.design.design import Design
from adhere.design.parts import Rate
from adhere.design.planned_looks import burn_in_of, look_counts, look_days, planned_looks
from adhere.evaluation.outcomes import Floats, Ints
from adhere.looks.judge import N_VALUES, work_size
from adhere.policies import ComplianceAwareLearner, as_policy
from adhere.policies.base.policy import CompiledPolicy, probabilities_size
from adhere.policies.guards.permuted_blocks import BlockRule, block_lengths, block_rule
from adhere.simulation.kernels.patients import Arms

_DISTRIBUTIONS = {"fixed": 0.0, "uniform": 1.0, "exponential": 2.0}  # codes for the kernel of patients


class Conditions(NamedTuple):
    """Arrivals, reports and looks of a trial. Integers are stored as floats, so that they are not compiled in."""

    n_patients: float
    n_strata: float  # 0 without strata
    days: Floats  # [patient] days of arrival; empty if arrivals are random
    per_day: float
    delay: Floats  # [arm] mean in days
    distribution: float
    missing_outcome: Floats  # [stratum, arm chosen, 0 after a failure or 1 after a success]
    missing_taken: Floats  # the same
    impute_after: float  # days
    impute_reward: float  # NaN if none is assumed
    impute_taken: float  # an arm, TOOK_NOTHING, or NaN if nothing is assumed
    sees_both_arms: float  # 1 if the policy learns from patients who took none of the arms
    look_counts: Floats  # [look] known outcomes needed; infinite for looks by day and for the end
    look_days: Floats  # [look] day; infinite for looks by number and for the end
    grid: Ints  # numbers of patients at which allocation is recorded


class PolicyAlone(NamedTuple):
    """Allocation by the policy alone. It has its own type so that the code for `ByShares` is not compiled."""

    size: int = 0


class FrozenShares(NamedTuple):
    """Allocation by the probabilities frozen at the last look; the policy's own choice is then not compiled."""

    size: int = 0


class ByShares(NamedTuple):
    """Allocation with prescribed shares: within strata, until the next look, or after an arm was dropped."""

    is_frozen: float  # 1 if allocation is updated only at looks
    burn_in: float  # patients
    n_strata: float  # number of strata with their own blocks in the burn-in; 0 without strata
    blocks: BlockRule


def conditions_of(design: Design, n_patients: int, grid: Ints) -> Conditions:
    """Return the conditions of a design's trials."""
    n_looks, days = planned_looks(design), look_days(design)
    counts = np.full(n_looks, math.inf)
    if not days:
        counts[:-1] = look_counts(design)[:-1]
    by_day = np.full(n_looks, math.inf)
    by_day[: len(days)] = days
    impute, policy = design.impute, as_policy(design.policy)
    return Conditions(
        n_patients=float(n_patients),
        n_strata=float(len(design.strata)),
        days=_days(design, n_patients),
        per_day=float(design.enrolment.per_day),
        delay=np.array([float(design.delay.by_arm.get(arm, design.delay.days)) for arm in design.arms]),
        distribution=_DISTRIBUTIONS[design.delay.distribution],
        missing_outcome=_rates(design.missing.outcome, design),
        missing_taken=_rates(design.missing.taken, design),
        impute_after=math.nan if impute is None else float(impute.after_days),
        impute_reward=_imputed_reward(design),
        impute_taken=_imputed_taken(design),
        sees_both_arms=float(any(isinstance(one, ComplianceAwareLearner) for one in policy.learners())),
        look_counts=counts,
        look_days=by_day,
        grid=np.array(grid, np.int64),
    )


def allocation_of(design: Design) -> PolicyAlone | FrozenShares | ByShares:
    """Return the kind of allocation that a design needs."""
    is_frozen, n_arms = design.update == "at looks", len(design.arms)
    may_drop = design.stopping is not None and n_arms > 2  # with two arms, the trial stops when one is dropped
    if not (is_frozen or may_drop or design.strata):
        return PolicyAlone()
    burn_in = burn_in_of(design)
    if is_frozen and burn_in.patients == 0:
        return FrozenShares()
    blocks = block_rule(n_arms, burn_in.lengths or block_lengths(n_arms))
    return ByShares(float(is_frozen), float(burn_in.patients), float(len(design.strata)), blocks)


def blocks_size(allocation: PolicyAlone | FrozenShares | ByShares) -> int:
    """Return the number of floats of the blocks of all strata."""
    if not isinstance(allocation, ByShares):
        return 0
    return int(allocation.n_strata) * int(layout_of("State", allocation.blocks).size(allocation.blocks))


def _days(design: Design, n_patients: int) -> Floats:
    enrolment = design.enrolment
    if enrolment.days:
        return np.array(enrolment.days[:n_patients]) - enrolment.days[0]
    return np.zeros(0) if enrolment.random else np.arange(n_patients) / enrolment.per_day


def _rates(rate: Rate, design: Design) -> Floats:
    """Return a table [stratum, arm, outcome] of a rate, which can vary along one of these axes."""
    strata = design.strata or ("",)
    table = np.full((len(strata), len(design.arms), 2), float(rate.rate))
    for place, arm in enumerate(design.arms):
        table[:, place] = rate.by_arm.get(arm, rate.rate)
    for place, stratum in enumerate(strata):
        if stratum in rate.by_stratum:
            table[place] = rate.by_stratum[stratum]
    for outcome, own in enumerate((rate.after_failure, rate.after_success)):
        if own is not None:
            table[:, :, outcome] = own
    return table


def _imputed_reward(design: Design) -> float:
    impute = design.impute
    if impute is None or impute.reward is None:
        return math.nan
    return 1.0 - float(impute.reward) if design.lower_is_better else float(impute.reward)


def _imputed_taken(design: Design) -> float:
    impute = design.impute
    taken = None if impute is None else arm_taken(design.arms, impute.actual, impute.took_nothing)
    return math.nan if taken is None else float(taken)


class Sizes(NamedTuple):
    """Array lengths, known at compile time unless there are many arms."""

    state: int
    memo: int  # with scratch space
    kept: int  # part of the memo that is stored until the last report
    arms: Arms
    cells: int  # by arm chosen and arm taken (or none)
    out: int  # for computing probabilities
    blocks: int  # of all strata
    values: int
    judging: int

    @staticmethod
    def of(policy: CompiledPolicy, n_arms: int, blocks: int) -> Sizes:
        """Return the lengths for a policy and for the blocks of all strata."""
        return Sizes(
            policy.state.size,
            policy.memo_size + policy.scratch_size,
            policy.memo_size,
            Arms(n_arms),
            n_arms * (n_arms + 1),
            probabilities_size(n_arms),
            blocks,
            n_arms * N_VALUES,
            work_size(n_arms),
        )


class Work(NamedTuple):
    """Arrays of the trial in progress; they are local if lengths are static."""

    state: Any
    before: Any  # the state before a choice, because choosing may change it
    memo: Any
    out: Any
    frozen: Any  # [arm] shares until the next look
    blocks: Any  # states of permuted blocks by stratum
    dropped: Any  # [arm]
    status: Any  # [arm]
    status_at: Any  # [arm]
    values: Any
    n: Any  # [arm chosen] known outcomes
    sums: Any
    squares: Any
    beliefs: Any
    log_up: Any
    log_down: Any
    judging: Any
    chosen: Any  # [arm] patients
    taken: Any  # [arm] patients
    cell_n: Any  # [arm chosen, arm taken]
    cell_sums: Any
    cell_squares: Any

    @staticmethod
    def of(sizes: Sizes) -> Work:
        """Allocate the arrays of which the lengths are not static; the others are empty."""
        n_arms = sizes.arms.number
        many = n_arms > MAX_STATIC_ARMS
        lengths = {
            "state": sizes.state,
            "before": sizes.state,
            "memo": sizes.memo,
            "out": sizes.out,
            "blocks": sizes.blocks,
            "values": sizes.values,
            "judging": sizes.judging,
            "cell_n": sizes.cells,
            "cell_sums": sizes.cells,
            "cell_squares": sizes.cells,
        }
        whole = {"dropped", "status", "status_at", "chosen", "taken", "cell_n"}
        return Work(
            *(
                buffer_for(lengths.get(name, n_arms), np.int64 if name in whole else np.float64, many)
                for name in Work._fields
            )
        )


class Workspace(NamedTuple):
    """Arrays with a column for each lane, by patient or by pending report."""

    chosen: Any  # [patient, lane]
    rewards: Any  # [patient, lane] to be reported
    heard: Any  # [patient, lane] code of the arm taken that will be reported
    memos: Any  # [patient × index in the memo, lane]
    due: Any  # [report, lane] days of pending reports
    reports: Any  # [report, lane]
    spare: Work

    @staticmethod
    def of(sizes: Sizes, conditions: Conditions, n_lanes: int, make: Callable[..., Any]) -> Workspace:
        """Allocate the workspace for `n_lanes` trials side by side."""
        n = int(conditions.n_patients)
        n_reports = n if np.isnan(conditions.impute_taken) else 2 * n
        return Workspace(
            make((n, n_lanes), np.int32),
            make((n, n_lanes), np.float64),
            make((n, n_lanes), np.int32),
            make((n * sizes.kept, n_lanes), np.float64),
            make((n_reports, n_lanes), np.float64),
            make((n_reports, n_lanes), np.int32),
            Work.of(sizes),
        )
