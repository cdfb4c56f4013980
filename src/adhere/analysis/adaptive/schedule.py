"""In which order a trial's recommendations were made and its reports came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.analysis.adaptive.allocation_kernel import ACTUAL, FALL_BACK, NOTHING, OUTCOME, RECOMMEND, REWARD
from adhere.analysis.records import NEVER, Ints


class Places(NamedTuple):
    """What `Records` say of the order, as they have it: by patient, or by run and patient."""

    seen: Ints
    actual_at: Ints
    reward_at: Ints


@dataclass(frozen=True, eq=False)
class Schedule:
    """The order of recommendations and reports.

    `steps[run, i]` says of step i: which patient, what happens, and which row of the table of rewards a report is
    from, the patient's own unless it was corrected. There is one run, for a schedule that all runs share, or one for
    each. A patient's recommendation comes before his reports.
    """

    n_patients: int
    steps: NDArray[np.int32]

    @staticmethod
    def delayed(delay: int | Ints, n_patients: int | None = None, actual_delay: int | Ints | None = None) -> Schedule:
        """Reports that come so many patients later.

        Parameters
        ----------
        delay
            With delay d the reward of patient t is known from patient t + d + 1 on: with 0 before the next one is
            recommended anything, as in a simulation. One number, one for each patient, or one for each run and
            patient; NEVER for a reward that does not come.
        n_patients
            Needed where `delay` is one number.
        actual_delay
            Likewise for what was taken, where it does not come with the reward. It is of no use without a reward.

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
        far = 3 * n  # behind all others, whatever the delay
        times = [2 * patients, *(2 * (patients + np.minimum(late, far)) + 1 for late in (delays, actual_delays))]
        n_parts = 3 if (kinds[2] != NOTHING).any() else 2
        kind = np.concatenate(kinds[:n_parts], axis=1)
        order = np.argsort(np.concatenate(times[:n_parts], axis=1), axis=1, kind="stable")
        who = np.concatenate([patients] * n_parts, axis=1)
        steps = [np.take_along_axis(one, order, axis=1) for one in (who, kind, who)]
        return Schedule(n, np.stack(steps, axis=2).astype(np.int32))

    @property
    def n_rows(self) -> int:
        """How many rows the table of rewards has."""
        return max(self.n_patients, int(self.steps[..., 2].max(initial=-1)) + 1)

    @property
    def n_runs(self) -> int:
        """How many runs have an order of their own; 1 where all share it."""
        return len(self.steps)

    def places(self) -> Places:
        """What each recommendation had seen, and when each part of a report came, by the number of the step.

        >>> Schedule.delayed(1, 3).places().seen.tolist(), Schedule.delayed(1, 3).places().reward_at.tolist()
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

        return Places(when(RECOMMEND, FALL_BACK) - 1, when(OUTCOME, ACTUAL), when(OUTCOME, REWARD))
