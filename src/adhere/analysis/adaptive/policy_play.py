"""Replay an allocation many times with the schedule of a trial: the times of recommendations and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adhere.analysis.adaptive.policy_play_kernel import (
    ACTUAL,
    FALL_BACK,
    NO_FAULT,
    NOTHING,
    OUTCOME,
    PLAY_TRIALS,
    RECOMMEND,
    REWARD,
    Workspace,
)
from adhere.analysis.records import NEVER, Floats, Ints
from adhere.errors import InputError
from adhere.policies import ComplianceAwareLearner, as_policy
from adhere.policies.base.policy import TrialShape
from adhere.processors import usable_processors
from adhere.protocols import TOOK_NOTHING
from adhere.randomness import Words


@dataclass(frozen=True, eq=False)
class Schedule:
    """The order of recommendations and reports.

    `steps[run, i]` has three parts for step i: the patient, the kind of step, and the row of the table of rewards
    that a report is from. That row is the patient's own unless the report was corrected. The first axis has length 1
    if all runs share a schedule. A patient's recommendation comes before the patient's reports.
    """

    n_patients: int
    steps: NDArray[np.int32]

    @staticmethod
    def delayed(delay: int | Ints, n_patients: int | None = None, actual_delay: int | Ints | None = None) -> Schedule:
        """Return a schedule in which each report comes a given number of patients later.

        Parameters
        ----------
        delay
            With delay d, the reward of patient t is known from patient t + d + 1 on. With delay 0 it is known before
            the next recommendation, as in a simulation. Give one number, one per patient, or one per run and patient;
            NEVER means that the reward does not come.
        n_patients
            Number of patients; required if `delay` is one number.
        actual_delay
            Delay of the report of the treatment taken, if it does not come with the reward. It is ignored without a
            reward.

        Examples
        --------
        >>> Schedule.delayed(1, 3).steps[0].tolist()
        [[0, 0, 0], [1, 0, 1], [0, 2, 0], [2, 0, 2], [1, 2, 1], [2, 2, 2]]

        """
        delays = np.atleast_2d(np.broadcast_to(delay, n_patients) if n_patients is not None else np.asarray(delay))
        n = delays.shape[1]
        actual_delays = delays if actual_delay is None else np.broadcast_to(actual_delay, delays.shape)
        patients = np.broadcast_to(np.arange(n), delays.shape)
        is_together, comes = actual_delays <= delays, delays < NEVER
        kinds = [
            np.full_like(delays, RECOMMEND),
            np.where(comes, np.where(is_together, OUTCOME, REWARD), NOTHING),
            np.where(comes & ~is_together & (actual_delays < NEVER), ACTUAL, NOTHING),
        ]
        far = 3 * n  # after all others, whatever the delay
        times = [2 * patients, *(2 * (patients + np.minimum(late, far)) + 1 for late in (delays, actual_delays))]
        n_parts = 3 if (kinds[2] != NOTHING).any() else 2
        kind = np.concatenate(kinds[:n_parts], axis=1)
        order = np.argsort(np.concatenate(times[:n_parts], axis=1), axis=1, kind="stable")
        who = np.concatenate([patients] * n_parts, axis=1)
        steps = [np.take_along_axis(one, order, axis=1) for one in (who, kind, who)]
        return Schedule(n, np.stack(steps, axis=2).astype(np.int32))

    @property
    def n_rows(self) -> int:
        """Number of rows of the table of rewards."""
        return max(self.n_patients, int(self.steps[..., 2].max(initial=-1)) + 1)

    def places(self) -> tuple[Ints, Ints, Ints]:
        """Return `seen`, `actual_at` and `reward_at` in the format of `Records`, by patient or by run and patient.

        >>> seen, actual_at, reward_at = Schedule.delayed(1, 3).places()
        >>> seen.tolist(), reward_at.tolist()
        ([0, 1, 3], [3, 5, 6])
        """
        n_runs, n_steps = self.steps.shape[:2]
        who, kind = self.steps[..., 0], self.steps[..., 1]
        at = np.broadcast_to(np.arange(1, n_steps + 1), (n_runs, n_steps))
        runs = np.broadcast_to(np.arange(n_runs)[:, None], (n_runs, n_steps))

        def when(*kinds: int) -> Ints:
            places = np.full((n_runs, self.n_patients), NEVER)
            found = np.isin(kind, kinds)
            places[runs[found], who[found]] = at[found]
            return places[0] if n_runs == 1 else places

        return when(RECOMMEND, FALL_BACK) - 1, when(OUTCOME, ACTUAL), when(OUTCOME, REWARD)


OnProgress = Callable[[int], None]
_POLL_SECONDS = 0.1
_TASKS_PER_THREAD = 8


class Allocations(NamedTuple):
    """Arm recommended to each patient of each run, and the probability of each arm."""

    chosen: Ints  # [run, patient]
    probabilities: Floats  # [run, patient, arm]


class Totals(NamedTuple):
    """Sum and number of the known outcomes by run and arm, if there are too many runs to store every patient."""

    sums: Floats  # [run, arm] sum of the known outcomes of patients told the arm
    counts: Ints  # [run, arm] number of these outcomes


class Allocator:
    """Compiled policy that plays trials of given patients on all cores.

    A run with the keys `stream_keys(s, r, 1)` recommends the same arms, with the same probabilities, as a live trial
    with seed s and run r, if the same reports arrive at the same times.

    Parameters
    ----------
    policy
        A policy or its text.
    n_arms
        Number of arms.
    schedule
        The order of recommendations and reports.
    horizon
        Number of patients that the policy is told to expect. The default is the number of patients of the schedule.
    reward_values
        All possible rewards, for policies that recycle.

    Examples
    --------
    Two patients who take the arm they are told, and who benefit only from arm 1:

    >>> from adhere.randomness import stream_keys
    >>> allocator = Allocator("thompson", 2, Schedule.delayed(delay=0, n_patients=2))
    >>> played = allocator.play([[0, 1], [0, 1]], [[0.0, 1.0], [0.0, 1.0]], stream_keys(1, first_run=0, n_runs=3))
    >>> played.chosen.shape, played.probabilities[:, 0].tolist()
    ((3, 2), [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])

    """

    def __init__(
        self,
        policy: object,
        arms: int | Sequence[str],
        schedule: Schedule,
        *,
        horizon: int | None = None,
        reward_values: Sequence[float] = (0.0, 1.0),
    ) -> None:
        shape = TrialShape.of(arms, reward_values)
        self.policy = as_policy(policy).resolved(shape.n_arms, horizon or max(1, schedule.n_patients))
        self._sees_both_arms = any(isinstance(one, ComplianceAwareLearner) for one in self.policy.learners())
        self._compiled = self.policy.assemble(shape)
        self._n_arms, self._schedule = shape.n_arms, schedule

    def play(
        self, actual: ArrayLike, reward: ArrayLike, keys: Words, on_progress: OnProgress = lambda n: None
    ) -> Allocations:
        """Play a trial for each row of keys, and return every arm recommended and its probabilities.

        Parameters
        ----------
        actual
            Treatment that each patient takes under each arm, by [patient, arm] or [run, patient, arm]: the index of
            an arm, TOOK_NOTHING or TOOK_OTHER.
        reward
            Reward of each patient under each arm, in the same shape. Values for which the schedule has no report are
            ignored.
        keys
            Keys of the runs, from `stream_keys`.
        on_progress
            Called about ten times a second with the number of runs completed since the last call.

        """
        shape = (len(keys), self._schedule.n_patients)
        played = Allocations(np.zeros(shape, np.int64), np.zeros((*shape, self._n_arms)))
        no_totals = np.zeros((0, 0)), np.zeros((0, 0), np.int64)

        def outputs(runs: slice) -> Any:
            return *(one[runs] for one in played), *no_totals

        self._run(actual, reward, np.zeros(0), keys, outputs, on_progress)
        return played

    def redraw(
        self, reward: Floats, outcome: Floats, keys: Words, on_progress: OnProgress = lambda n: None
    ) -> Totals:
        """Play trials in which a patient's reward is the same under each arm, and sum the outcomes by arm.

        The policy learns from `reward`, which has an element for each row of the schedule's table. The sums are over
        `outcome`, which has an element for each patient (NaN if unknown). Only the sums of a run are stored, so that
        memory does not grow with runs times patients. The policy is not told which treatment was taken: use this only
        for policies that do not learn from it.
        """
        totals = Totals(np.zeros((len(keys), self._n_arms)), np.zeros((len(keys), self._n_arms), np.int64))
        no_probabilities = np.zeros((0, 0, 0))

        def outputs(runs: slice) -> Any:
            chosen = np.zeros((1, self._schedule.n_patients), np.int64)
            return chosen, no_probabilities, *(one[runs] for one in totals)

        shape = (len(reward), self._n_arms)
        rewards = np.broadcast_to(reward[:, None], shape)
        self._run(np.full(shape, TOOK_NOTHING), rewards, outcome, keys, outputs, on_progress)
        return totals

    def _run(
        self, actual: ArrayLike, reward: ArrayLike, outcome: Floats, keys: Words, outputs: Callable[[slice], Any],
        on_progress: OnProgress,
    ) -> None:  # fmt: skip
        n_runs = len(keys)
        taken = self._by_run("actual", np.asarray(actual, np.int64), n_runs)
        gained = self._by_run("reward", np.asarray(reward, np.float64), n_runs)
        given = (self._schedule.steps, taken, gained)
        if len(self._schedule.steps) not in (1, n_runs):
            raise InputError("schedule", f"{len(self._schedule.steps)} runs", f"1 run, or {n_runs}")
        stop = np.zeros(1, np.int64)

        def arguments(runs: slice, done: Ints) -> Any:
            own = (one[runs] if len(one) > 1 else one for one in given)
            workspace = Workspace.of(self._compiled, self._schedule.n_patients)
            policy = self._compiled.rule, self._compiled.state
            played = self._sees_both_arms, outcome, workspace, *outputs(runs)
            return (*policy, keys[runs], *own, *played, done, stop)

        def run(runs: slice, done: Ints) -> None:
            own = arguments(runs, done)
            arm = PLAY_TRIALS.compiled(*own)(*own)
            if arm != NO_FAULT:
                expected = f"a whole number from 0 to {self._n_arms - 1}"
                raise InputError(f"arm chosen by {self.policy}", arm, expected)

        # Compile once, in the first thread, before the other threads look the kernel up.
        first = arguments(slice(0, 1), np.zeros(1, np.int64))
        _in_threads(n_runs, lambda: PLAY_TRIALS.compiled(*first), run, stop, on_progress)

    def _by_run(self, name: str, given: NDArray[Any], n_runs: int) -> NDArray[Any]:
        expected = (self._schedule.n_rows, self._n_arms)
        by_run = given[None] if given.ndim == 2 else given
        if by_run.shape[1:] != expected or len(by_run) not in (1, n_runs):
            wanted = f"one of shape {expected} or {(n_runs, *expected)}"
            raise InputError(name, f"an array of shape {given.shape}", wanted)
        return np.ascontiguousarray(by_run)


def _in_threads(
    n_runs: int,
    prepare: Callable[[], object],
    run: Callable[[slice, Ints], None],
    stop: Ints,
    on_progress: OnProgress,
) -> None:
    """Run blocks of runs on all cores, with short waits, so that progress is shown and Ctrl-C works."""
    n_threads = usable_processors()
    size = max(1, -(-n_runs // (_TASKS_PER_THREAD * n_threads)))
    blocks = [slice(start, min(n_runs, start + size)) for start in range(0, n_runs, size)]
    done = [np.zeros(1, np.int64) for _ in blocks]
    pool, told = ThreadPoolExecutor(n_threads), 0
    try:
        pending: Any = {pool.submit(prepare)}
        rest = list(zip(blocks, done, strict=True))
        while pending:
            finished, pending = wait(pending, _POLL_SECONDS, FIRST_EXCEPTION)
            for one in finished:
                one.result()
            if not pending and rest:
                pending, rest = {pool.submit(run, *one) for one in rest}, []
            now = sum(int(one[0]) for one in done)
            on_progress(now - told)
            told = now
    finally:
        stop[0] = 1
        pool.shutdown(wait=False, cancel_futures=True)
