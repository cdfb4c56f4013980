"""Outcomes of simulated trials as arrays by run, and the layout of the row of numbers measured of each trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.looks.judge import NAMES

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


METHODS = ("naive", "any-time valid")  # the order of the first axis of "estimate"
# The last axis of "estimate": whether there is an estimate, its error, the square of that; whether there is an
# interval, and whether it has the truth. All are 0 where there is none.
HAS_ESTIMATE, ERROR, SQUARED_ERROR, HAS_INTERVAL, COVERS = range(5)
_N_POWERS = 3


@dataclass(frozen=True)
class Columns:
    """The layout of a row of numbers, one row for each trial: each part by its name, an array in C order.

    The parts up to `n_shared` columns are the same for all designs with as many arms, so that rows of two designs can
    be subtracted there; then come what depends on the points of the grid and the number of looks. No number is ever
    NaN: what a trial does not have is 0, and another column says whether it has it.

    `grid` are the numbers of patients at which the allocation is kept.

    >>> columns = Columns(n_arms=2, grid=(10, 20, 30), n_looks=1)
    >>> columns.where("n_patients", 0), columns.shape("over_time")
    (27, (3, 2))
    """

    n_arms: int
    grid: tuple[int, ...]
    n_looks: int

    @cached_property
    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        arms, statuses = self.n_arms, len(NAMES)
        claims = (arms + 1,)  # of each arm, and of any
        return {
            "decision": (statuses,),
            "status": (arms, statuses),
            "false_claim": claims,
            "right_claim": claims,
            "wrong_claim": claims,
            "selected": (arms,),
            "selects_best": (),
            "n_patients": (_N_POWERS,),
            "days": (_N_POWERS,),
            "n_looks": (),
            "chosen": (arms,),
            "allocation": (arms,),
            "taken": (arms,),
            "recommended_inferior": (),
            "took_inferior": (),
            "outcome": (),
            "surplus": (),
            "realised_surplus": (),
            "worse_than_randomisation": (),
            "ideal_recommending": (),
            "ideal_treating": (),
            "estimate": (len(METHODS), len(VIEWS), arms, COVERS + 1),
            # From here on rows of two designs may differ in length.
            "over_time": (len(self.grid), arms),
            "running": (len(self.grid),),
            "stopped": (self.n_looks, statuses),
        }

    @cached_property
    def _starts(self) -> Mapping[str, int]:
        sizes = [prod(shape) for shape in self._shapes.values()]
        return dict(zip(self._shapes, np.cumsum([0, *sizes]).tolist(), strict=False))

    def shape(self, part: str) -> tuple[int, ...]:
        """The shape of a part, without the axis of trials."""
        return self._shapes[part]

    def part(self, name: str) -> slice:
        """All columns of a part."""
        start = self._starts[name]
        return slice(start, start + prod(self._shapes[name]))

    def where(self, name: str, *index: int) -> int:
        """The column of one number of a part."""
        shape = self._shapes[name]
        return self._starts[name] + (int(np.ravel_multi_index(index, shape)) if shape else 0)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of all parts, in their order."""
        return tuple(self._shapes)

    @property
    def n_shared(self) -> int:
        """How many columns come first that rows of other designs with as many arms have too."""
        return self._starts["over_time"]

    @property
    def n_columns(self) -> int:
        """How long a row is."""
        return sum(prod(shape) for shape in self._shapes.values())
