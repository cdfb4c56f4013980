"""What simulated trials of a design leave behind, as arrays by run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
VIEWS = ("intention-to-treat", "compliers")  # the order of the last axis of `estimate` and `covers`


class TrialOutcomes(NamedTuple):
    """What a block of trials of one design in one scenario leaves behind.

    Decisions and the statuses of arms are numbers, their place in `adhere.looks.judge.NAMES`. A pair is an arm and
    what it is compared with, the control (arm 0 where there is none); the control's own place is unused. The outcomes
    are those of all who were recommended an arm, once they are in, also of patients who were still awaited when the
    trial stopped. `estimate` and `covers` are of the confidence sequence of each pair.
    """

    decision: Ints  # [run] of the trial: what it stopped for; GO_ON if it ran to its end without a conclusion
    superior_arm: Ints  # [run] the arm that was found superior, -1 if none was
    n_looks: Ints  # [run] how many looks there were
    n_patients: Ints  # [run] recommended an arm
    days: Floats  # [run] from the first patient to the last look
    status: Ints  # [run, arm] at the end
    status_at: Ints  # [run, arm] the look at which it got that status, from 0; -1 while ACTIVE
    chosen: Ints  # [run, arm] patients recommended it
    taken: Ints  # [run, arm] patients who took it
    reward: Floats  # [run] sum over all patients, also where the outcome is never reported
    baseline: Floats  # [run] sum over all patients of the mean over arms of what they would have gained
    over_time: Ints  # [run, point, arm] patients recommended it up to each point of the grid
    n: Ints  # [run, chosen, actual] patients with outcome and what was taken reported; actual k: not reported or none
    sums: Floats  # [run, chosen, actual] of their outcomes
    squares: Floats  # [run, chosen, actual] of their squared outcomes
    estimate: Floats  # [run, arm, view] where both bets have the same; NaN if not asked for
    covers: Floats  # [run, arm, view] whether it has the true effect to the end: 1, 0 or NaN

    @staticmethod
    def zeros(n_runs: int, n_arms: int, n_points: int) -> TrialOutcomes:
        """To be filled."""
        of_arm, of_cell = (n_runs, n_arms), (n_runs, n_arms, n_arms + 1)
        of_pair = (n_runs, n_arms, len(VIEWS))
        return TrialOutcomes(
            decision=np.zeros(n_runs, np.int64),
            superior_arm=np.zeros(n_runs, np.int64),
            n_looks=np.zeros(n_runs, np.int64),
            n_patients=np.zeros(n_runs, np.int64),
            days=np.zeros(n_runs),
            status=np.zeros(of_arm, np.int64),
            status_at=np.zeros(of_arm, np.int64),
            chosen=np.zeros(of_arm, np.int64),
            taken=np.zeros(of_arm, np.int64),
            reward=np.zeros(n_runs),
            baseline=np.zeros(n_runs),
            over_time=np.zeros((n_runs, n_points, n_arms), np.int64),
            n=np.zeros(of_cell, np.int64),
            sums=np.zeros(of_cell),
            squares=np.zeros(of_cell),
            estimate=np.full(of_pair, np.nan),
            covers=np.full(of_pair, np.nan),
        )
