"""What simulated trials work in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adhere.compilation.local import room_for
from adhere.compilation.static import MAX_STATIC_ARMS
from adhere.evaluation.kernels.trial_shape import Conditions
from adhere.looks.judge import N_VALUES, work_size
from adhere.policies.base.policy import CompiledPolicy, probabilities_size
from adhere.simulation.kernels.patients import Arms


class Sizes(NamedTuple):
    """Lengths that are known when a trial is compiled, unless there are many arms."""

    state: int
    memo: int  # with scratch
    kept: int  # of the memo, until the last report
    arms: Arms
    cells: int  # arm chosen and arm taken, or none
    out: int  # where probabilities are worked out
    blocks: int  # of all strata
    values: int
    judging: int

    @staticmethod
    def of(policy: CompiledPolicy, n_arms: int, blocks: int) -> Sizes:
        """The lengths for a policy, and for the blocks of all strata."""
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
    """Arrays of one trial that is being played: its own where lengths are static."""

    state: Any
    before: Any  # the state before a choice, which may change it
    memo: Any
    out: Any
    frozen: Any  # [arm] shares until the next look
    blocks: Any  # the states of permuted blocks, stratum by stratum
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
        """What is needed of it where lengths are not static."""
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
                room_for(lengths.get(name, n_arms), np.int64 if name in whole else np.float64, many)
                for name in Work._fields
            )
        )


class Workspace(NamedTuple):
    """Arrays with a column for each lane, by patient or by report under way."""

    chosen: Any  # [patient, lane]
    rewards: Any  # [patient, lane] to be reported
    heard: Any  # [patient, lane] what will be known of the arm taken
    memos: Any  # [patient and place in the memo, lane]
    due: Any  # [report, lane] the days of reports under way
    reports: Any  # [report, lane]
    spare: Work

    @staticmethod
    def of(sizes: Sizes, conditions: Conditions, n_lanes: int, make: Callable[..., Any]) -> Workspace:
        """Workspace of trials side by side."""
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
