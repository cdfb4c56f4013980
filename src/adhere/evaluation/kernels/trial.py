"""Simulation of one trial of a design: arrivals, reports and looks, until it stops or all reports are in.

Within a day, recommendations come first, then reports in the order of patients, then looks by day. One function plays
a trial, compiled for processors and for GPUs. Its arrays have a column for each lane; a lane plays one trial at a
time.
"""

import math
from typing import Any

from adhere import looks as looks  # registers the `judge` of each kind of rules, which is compiled in
from adhere.compilation import Kernel, inline, memo_of, no_inline, state_of
from adhere.compilation.intrinsics import clear_floats, copy_into, local_floats, local_integers, local_words
from adhere.evaluation.kernels.allocation import freeze_shares, next_arm
from adhere.evaluation.kernels.bets import (
    gather_evidence,
    keep_state,
    note_decision,
    note_reward,
    note_start,
    note_taken,
    write_estimates,
)
from adhere.evaluation.kernels.patients import (
    UNKNOWN,
    arrival_day,
    next_patient,
    pop_report,
    schedule_reports,
    stratum_of,
)
from adhere.evaluation.kernels.workspace import Work
from adhere.looks.judge import ACTIVE, GO_ON, Evidence, judge, selected_arm
from adhere.policies.base.generic import note_allocation, update
from adhere.randomness import LEARN, LEARN_LATE, STREAM_SIZE, point, set_keys
from adhere.simulation.kernels import NO_FAULT


def play_trials(
    rule: Any, sizes: Any, conditions: Any, allocation: Any, rules: Any, initial: Any, keys: Any, patients: Any,
    outcomes: Any, workspace: Any, bets: Any, done: Any, stop: Any, lane: Any, n_lanes: Any,
) -> Any:  # fmt: skip
    """Play trials in one of several lanes. Return `NO_FAULT`, or the invalid arm if the policy chooses one.

    There is a trial for each row of keys. `done[lane]` is increased by the maximum number of patients after each
    trial. The loop ends if `stop[0]` is not 0.
    """
    n_arms, spare = sizes.arms.number, workspace.spare
    work = Work(
        local_floats(sizes.state, spare.state),
        local_floats(sizes.state, spare.before),
        local_floats(sizes.memo, spare.memo),
        local_floats(sizes.out, spare.out),
        local_floats(sizes.arms.number, spare.frozen),
        local_floats(sizes.blocks, spare.blocks),
        local_integers(sizes.arms.number, spare.dropped),
        local_integers(sizes.arms.number, spare.status),
        local_integers(sizes.arms.number, spare.status_at),
        local_floats(sizes.values, spare.values),
        local_floats(sizes.arms.number, spare.n),
        local_floats(sizes.arms.number, spare.sums),
        local_floats(sizes.arms.number, spare.squares),
        local_floats(sizes.arms.number, spare.beliefs),
        local_floats(sizes.arms.number, spare.log_up),
        local_floats(sizes.arms.number, spare.log_down),
        local_floats(sizes.judging, spare.judging),
        local_integers(sizes.arms.number, spare.chosen),
        local_integers(sizes.arms.number, spare.taken),
        local_integers(sizes.cells, spare.cell_n),
        local_floats(sizes.cells, spare.cell_sums),
        local_floats(sizes.cells, spare.cell_squares),
    )
    evidence = Evidence(work.n, work.sums, work.squares, work.beliefs, work.log_up, work.log_down, work.judging)
    rng = local_words(STREAM_SIZE, keys[0])
    for run in range(lane, keys.shape[0], n_lanes):
        if stop[0] != 0:
            return NO_FAULT
        set_keys(rng, keys[run, 0], keys[run, 1])
        copy_into(work.state, initial, sizes.state)
        clear_floats(work.memo, sizes.memo)
        state, memo = state_of(rule, work.state), memo_of(rule, work.memo)
        clear(work)
        note_start(bets, lane)
        row, n_patients = run % patients.bounds.shape[0], int(conditions.n_patients)
        n_looks = conditions.look_days.size
        t, n_pending, n_known, look, n_made, mark, n_dropped = 0, 0, 0.0, 0, 0, 0, 0
        decision, is_over, is_stale, total_reward, total_baseline = GO_ON, False, True, 0.0, 0.0
        day, looked_on, next_day = 0.0, 0.0, arrival_day(conditions, 0, 0.0, rng)
        while True:
            if is_stale:
                freeze_shares(allocation, rule, state, memo, t, work, rng)
                is_stale = False
            goes_on, is_due = decision == GO_ON and not is_over, False
            coming = next_day if goes_on and t < n_patients else math.inf
            due = workspace.due[0, lane] if n_pending > 0 else math.inf
            look_day = conditions.look_days[look] if goes_on else math.inf
            if coming == math.inf and due == math.inf:
                if not goes_on:
                    break
                is_over, is_due, look = True, True, n_looks - 1
            elif coming <= due and coming <= look_day:
                day, stratum = coming, stratum_of(conditions, t, rng)
                keep_state(bets, sizes, work)
                chosen, is_prescribed = next_arm(allocation, rule, state, memo, t, stratum, n_dropped, work, rng)
                if chosen < 0 or chosen >= n_arms:
                    return chosen
                note_allocation(rule, state, chosen, rng)
                workspace.chosen[t, lane] = chosen
                for i in range(sizes.kept):
                    workspace.memos[t * sizes.kept + i, lane] = work.memo[i]
                note_decision(bets, rule, memo, t, is_prescribed, lane, work, rng)
                actual, reward, baseline = next_patient(patients, row, n_arms, t, chosen, rng)
                work.chosen[chosen] += 1
                work.taken[actual] += 1
                total_reward += reward
                total_baseline += baseline
                n_pending = schedule_reports(
                    conditions, workspace, lane, n_pending, t, stratum, chosen, actual, reward, day, rng
                )
                t += 1
                if t < n_patients:
                    next_day = arrival_day(conditions, t, day, rng)
                if mark < conditions.grid.size and t == conditions.grid[mark]:
                    for arm in range(n_arms):
                        outcomes.over_time[run, mark, arm] = work.chosen[arm]
                    mark += 1
            elif due <= look_day:
                day, report = due, pop_report(workspace, lane, n_pending)
                n_pending -= 1
                patient, comes_late = report // 2, report % 2 == 1
                arm, reward = int(workspace.chosen[patient, lane]), workspace.rewards[patient, lane]
                heard = int(workspace.heard[patient, lane])
                taken, feedback = heard // 2 + UNKNOWN, int(n_arms)
                if comes_late:
                    note_taken(bets, lane, patient, taken)
                    feedback = n_arms + 1 + taken if taken >= 0 else 2 * n_arms - taken
                else:
                    n_known += 1.0
                    is_due = goes_on and n_known == conditions.look_counts[look]
                    count_outcome(work, n_arms, arm, taken, reward)
                    note_reward(bets, lane, patient, reward)
                    if heard % 2 == 0 and taken != UNKNOWN:
                        note_taken(bets, lane, patient, taken)
                        feedback = taken if taken >= 0 else taken - 1
                if taken < 0 and conditions.sees_both_arms == 0.0:  # learners that need an arm skip this report
                    feedback = int(n_arms)
                if goes_on and not (comes_late and feedback == n_arms):
                    for i in range(sizes.kept):
                        work.memo[i] = workspace.memos[patient * sizes.kept + i, lane]
                    point(rng, patient, LEARN_LATE if comes_late else LEARN)
                    update(rule, state, memo, arm, feedback, reward, 1.0, rng)
            else:
                day, is_due = look_day, True
            if is_due:
                gather_evidence(rules, rule, state, memo, bets, workspace.chosen, lane, t, work, evidence, rng)
                decision = judge(rules, look, evidence, work.status, work.values)
                n_dropped = note_statuses(work, n_arms, look)
                looked_on, n_made, look = day, n_made + 1, look + 1
                is_stale = decision == GO_ON and t < n_patients
        while mark < conditions.grid.size:
            for arm in range(n_arms):
                outcomes.over_time[run, mark, arm] = work.chosen[arm]
            mark += 1
        outcomes.decision[run], outcomes.superior_arm[run] = decision, selected_arm(work.status, work.values)
        outcomes.n_looks[run], outcomes.n_patients[run], outcomes.days[run] = n_made, t, looked_on
        outcomes.reward[run], outcomes.baseline[run] = total_reward, total_baseline
        write_counts(work, n_arms, run, outcomes)
        write_estimates(bets, lane, workspace.chosen, t, run, outcomes)
        done[lane] += n_patients
    return NO_FAULT


@no_inline
def clear(work: Any) -> None:
    """Reset the arrays for a new trial."""
    for arm in range(work.status.size):
        work.status[arm], work.status_at[arm], work.dropped[arm] = ACTIVE, -1, 0
        work.n[arm], work.sums[arm], work.squares[arm] = 0.0, 0.0, 0.0
        work.chosen[arm], work.taken[arm] = 0, 0
    for place in range(work.blocks.size):
        work.blocks[place] = 0.0
    for cell in range(work.cell_n.size):
        work.cell_n[cell], work.cell_sums[cell], work.cell_squares[cell] = 0, 0.0, 0.0
    for place in range(work.values.size):
        work.values[place] = math.nan


@inline
def count_outcome(work: Any, n_arms: int, arm: Any, taken: Any, reward: float) -> None:
    """Count a known outcome by arm chosen and arm taken."""
    work.n[arm] += 1.0
    work.sums[arm] += reward
    work.squares[arm] += reward * reward
    cell = arm * (n_arms + 1) + (taken if taken >= 0 else n_arms)
    work.cell_n[cell] += 1
    work.cell_sums[cell] += reward
    work.cell_squares[cell] += reward * reward


@no_inline
def note_statuses(work: Any, n_arms: int, look: int) -> int:
    """Record the look at which each arm got its status. Return the number of dropped arms."""
    n_dropped = 0
    for arm in range(n_arms):
        if work.status[arm] != ACTIVE:
            work.dropped[arm] = 1
            n_dropped += 1
            if work.status_at[arm] < 0:
                work.status_at[arm] = look
    return n_dropped


@no_inline
def write_counts(work: Any, n_arms: int, run: Any, outcomes: Any) -> None:
    """Write the counts of each arm into the outcomes."""
    for arm in range(n_arms):
        outcomes.status[run, arm], outcomes.status_at[run, arm] = work.status[arm], work.status_at[arm]
        outcomes.chosen[run, arm], outcomes.taken[run, arm] = work.chosen[arm], work.taken[arm]
        for actual in range(n_arms + 1):
            cell = arm * (n_arms + 1) + actual
            outcomes.n[run, arm, actual] = work.cell_n[cell]
            outcomes.sums[run, arm, actual] = work.cell_sums[cell]
            outcomes.squares[run, arm, actual] = work.cell_squares[cell]
        for view in range(2):
            outcomes.estimate[run, arm, view], outcomes.covers[run, arm, view] = math.nan, math.nan


PLAY_TRIALS = Kernel(play_trials, static=True)
