"""How sample size, duration and surplus are spread over trials, in little memory and in any order of blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adhere.evaluation.characteristics.columns import Columns
from adhere.evaluation.characteristics.outcomes import Floats, Ints, TrialOutcomes
from adhere.evaluation.characteristics.spread import Spread
from adhere.simulation.measures.moments import EqualArrays


@dataclass(frozen=True, eq=False)
class Distributions(EqualArrays):
    """Trials by their number of patients, `sizes[n]`, exactly; duration and surplus too while few values occur."""

    sizes: Ints
    days: Spread
    surplus: Spread

    @staticmethod
    def of(outcomes: TrialOutcomes, rows: Floats, columns: Columns, max_patients: int) -> Distributions:
        """Those of a block of trials and of what was measured of it."""
        return Distributions(
            np.bincount(outcomes.n_patients, minlength=max_patients + 1),
            Spread.of(outcomes.days),
            Spread.of(rows[:, columns.where("surplus")]),
        )

    def merge(self, other: Distributions) -> Distributions:
        """Those of both."""
        return Distributions(self.sizes + other.sizes, self.days.merge(other.days), self.surplus.merge(other.surplus))
