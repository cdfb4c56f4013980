"""Compiled loop that plays a policy over given patients, with reports in a given order."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from adhere.compilation import Kernel, inline, memo_of, state_of
from adhere.policies.base.generic import choose, note_allocation, probabilities, remember, update
from adhere.policies.base.policy import CompiledPolicy, probabilities_size
from adhere.randomness import CHOOSE, ESTIMATE, FALLBACK, LEARN, LEARN_LATE, STREAM_SIZE, point, set_keys, uniform

NO_FAULT: Final = -(2**62)

# Kinds of steps of a schedule. They are defined in this module because they are compiled in.
NOTHING: Final = -1
RECOMMEND: Final = 0
FALL_BACK: Final = 1  # a random arm, because the policy failed; nothing is learned from it
OUTCOME: Final = 2  # the reward; the treatment taken is already known
REWARD: Final = 3  # the reward; the treatment taken is not known yet
ACTUAL: Final = 4  # the treatment taken, for a reward that came earlier
ALLOCATED: Final = 6  # after FORGET: an arm that was told earlier takes its place in a block again
FORGET: Final = 5  # forget everything learned; the updates follow again, one of them corrected


class Workspace(NamedTuple):
    """Buffers for one thread."""

    state: Any
    before: Any  # the state before a recommendation, because choosing may change it
    memo: Any
    memos: Any  # [patient] values that each recommendation must remember until its report
    out: Any
    rng: Any

    @staticmethod
    def of(policy: CompiledPolicy, n_patients: int) -> Workspace:
        """Allocate the workspace for a policy."""
        return Workspace(
            policy.state.copy(),
            policy.state.copy(),
            np.zeros(policy.memo_size + policy.scratch_size),
            np.zeros((n_patients, policy.memo_size)),
            np.zeros(probabilities_size(policy.rule.n_arms)),
            np.zeros(STREAM_SIZE, np.uint64),
        )


@inline
def feedback_of(kind: int, actual: int, n_arms: int) -> int:
    """Return the code that a live trial uses for the arm taken in a report (see `policies.base.generic`)."""
    if kind == ACTUAL:
        return n_arms + 1 + actual if actual >= 0 else 2 * n_arms - actual
    if kind == OUTCOME:
        return actual if actual >= 0 else actual - 1
    return n_arms


def play_trials(
    rule: Any, initial: Any, keys: Any, steps: Any, actual: Any, reward: Any, sees_both_arms: bool, outcome: Any,
    workspace: Any, chosen: Any, stated: Any, sums: Any, counts: Any, done: Any, stop: Any,
) -> int:  # fmt: skip
    """Play one trial for each row of keys.

    Return `NO_FAULT`, or the index that the policy chose if there is no such arm.

    The first axis of `steps`, `actual` and `reward` has length 1 or one element per row of keys. `chosen` has a row
    per row of keys, or one row that is reused. Probabilities are written into `stated` unless it is empty. The sum
    and number of the known outcomes of patients told each arm are written into `sums` and `counts` unless these are
    empty. `done[0]` counts trials; the loop ends if `stop[0]` is not 0.
    """
    n_arms, n_kept = rule.n_arms, workspace.memos.shape[1]
    floats, before, memo_floats, rng = workspace.state, workspace.before, workspace.memo, workspace.rng
    state, state_before, memo = state_of(rule, floats), state_of(rule, before), memo_of(rule, memo_floats)
    for run in range(keys.shape[0]):
        told = chosen[run if chosen.shape[0] > 1 else 0]
        order = steps[run if steps.shape[0] > 1 else 0]
        own = run if actual.shape[0] > 1 else 0
        set_keys(rng, keys[run, 0], keys[run, 1])
        for i in range(floats.size):
            floats[i] = initial[i]
        for step in range(order.shape[0]):
            patient, kind, row = np.int64(order[step, 0]), order[step, 1], order[step, 2]
            if stop[0] != 0:
                return NO_FAULT
            if kind == RECOMMEND:
                for i in range(memo_floats.size):
                    memo_floats[i] = 0.0
                if stated.shape[0] > 0:
                    for i in range(floats.size):
                        before[i] = floats[i]
                remember(rule, state, memo)
                point(rng, patient, CHOOSE)
                arm = choose(rule, state, memo, 1.0, rng)
                if arm < 0 or arm >= n_arms:
                    return arm
                told[patient] = arm
                note_allocation(rule, state, arm, rng)
                for i in range(n_kept):
                    workspace.memos[patient, i] = memo_floats[i]
                if stated.shape[0] > 0:
                    point(rng, patient, ESTIMATE)
                    probabilities(rule, state_before, memo, 1.0, workspace.out, rng)
                    for j in range(n_arms):
                        stated[run, patient, j] = min(1.0, max(0.0, workspace.out[j]))  # rounding may exceed 1
            elif kind == FALL_BACK:
                point(rng, patient, FALLBACK)
                told[patient] = np.int64(uniform(rng) * n_arms)
                if stated.shape[0] > 0:
                    for j in range(n_arms):
                        stated[run, patient, j] = 1.0 / n_arms
            elif kind == FORGET:
                for i in range(floats.size):
                    floats[i] = initial[i]
            elif kind == ALLOCATED:
                point(rng, patient, CHOOSE)
                note_allocation(rule, state, told[patient], rng)
            elif kind != NOTHING:
                arm = told[patient]
                taken = actual[own, row, arm]
                feedback = feedback_of(kind, taken, n_arms)
                if taken < 0 and not sees_both_arms:  # learners that need the arm taken skip this report
                    feedback = n_arms
                if taken >= 0 or sees_both_arms or kind != ACTUAL:
                    for i in range(memo_floats.size):
                        memo_floats[i] = workspace.memos[patient, i] if i < n_kept else 0.0
                    point(rng, patient, LEARN if kind != ACTUAL else LEARN_LATE)
                    update(rule, state, memo, arm, feedback, reward[own, row, arm], 1.0, rng)
        if sums.shape[0] > 0:
            for i in range(outcome.size):
                if not np.isnan(outcome[i]):
                    sums[run, told[i]] += outcome[i]
                    counts[run, told[i]] += 1
        done[0] += 1
    return NO_FAULT


PLAY_TRIALS = Kernel(play_trials, static=True)
