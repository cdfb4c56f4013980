"""Outcomes of simulated trials as arrays by run, and the layout of the row of measures of each trial."""

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
    """Outcomes of a block of trials of one design in one scenario.

    Decisions and statuses of arms are indices into `adhere.looks.judge.NAMES`. Each arm is paired with the control
    (arm 0 if there is none); the entry of the control itself is unused. Outcomes include all patients who were
    recommended an arm, also those with reports pending when the trial stopped. `estimate` and `covers` are for the
    confidence sequence of each pair.
    """

    decision: Ints  # [run] why the trial stopped; GO_ON if it ended without a conclusion
    superior_arm: Ints  # [run] the arm found superior, -1 if none
    n_looks: Ints  # [run] number of looks
    n_patients: Ints  # [run] number of patients recommended an arm
    days: Floats  # [run] from the first patient to the last look
    status: Ints  # [run, arm] status at the end
    status_at: Ints  # [run, arm] look at which the arm got its status, from 0; -1 while ACTIVE
    chosen: Ints  # [run, arm] patients recommended the arm
    taken: Ints  # [run, arm] patients who took the arm
    reward: Floats  # [run] sum over all patients, including outcomes never reported
    baseline: Floats  # [run] sum over all patients of their mean reward over arms
    over_time: Ints  # [run, point, arm] patients recommended the arm up to each point of the grid
    n: Ints  # [run, chosen, actual] patients with a known outcome; actual k: not reported, or no arm
    sums: Floats  # [run, chosen, actual] sum of their outcomes
    squares: Floats  # [run, chosen, actual] sum of their squared outcomes
    estimate: Floats  # [run, arm, view] balance point of both bets; NaN if not requested
    covers: Floats  # [run, arm, view] whether all sets contain the true effect: 1, 0 or NaN

    @staticmethod
    def zeros(n_runs: int, n_arms: int, n_points: int) -> TrialOutcomes:
        """Return outcomes of zeros (NaN for estimates), to be filled in."""
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
# The last axis of "estimate": whether there is an estimate, its error, its squared error, whether there is an
# interval, and whether it contains the true effect. All are 0 if there is none.
HAS_ESTIMATE, ERROR, SQUARED_ERROR, HAS_INTERVAL, COVERS = range(5)
_N_POWERS = 3


@dataclass(frozen=True)
class Columns:
    """Layout of the row of numbers of a trial: named parts, each an array in C order.

    The first `n_shared` columns are the same for all designs with the same number of arms, so that these columns of
    two designs can be subtracted. The other columns depend on the grid and on the number of looks. No number is ever
    NaN: missing values are 0, and another column says whether the value exists.

    `grid` has the numbers of patients at which the allocation is recorded.

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
        claims = (arms + 1,)  # of each arm, and of any arm
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
            # From here on, rows of two designs may differ in length.
            "over_time": (len(self.grid), arms),
            "running": (len(self.grid),),
            "stopped": (self.n_looks, statuses),
        }

    @cached_property
    def _starts(self) -> Mapping[str, int]:
        sizes = [prod(shape) for shape in self._shapes.values()]
        return dict(zip(self._shapes, np.cumsum([0, *sizes]).tolist(), strict=False))

    def shape(self, part: str) -> tuple[int, ...]:
        """Return the shape of a part, without the axis of trials."""
        return self._shapes[part]

    def part(self, name: str) -> slice:
        """Return the columns of a part."""
        start = self._starts[name]
        return slice(start, start + prod(self._shapes[name]))

    def where(self, name: str, *index: int) -> int:
        """Return the column index of one number of a part."""
        shape = self._shapes[name]
        return self._starts[name] + (int(np.ravel_multi_index(index, shape)) if shape else 0)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of all parts, in order."""
        return tuple(self._shapes)

    @property
    def n_shared(self) -> int:
        """Number of leading columns shared by all designs with the same number of arms."""
        return self._starts["over_time"]

    @property
    def n_columns(self) -> int:
        """Length of a row."""
        return sum(prod(shape) for shape in self._shapes.values())
