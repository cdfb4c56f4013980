"""Populations made from counts of patients by arm chosen, arm taken and reward."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from adhere.checks import check_count, check_reward
from adhere.errors import InputError, nearest
from adhere.populations.population import Floats, PatientTables, Population


class Count(NamedTuple):
    """Number of patients with the same chosen arm, arm taken and reward."""

    chosen: str
    actual: str
    reward: float
    patients: int = 1


@dataclass(frozen=True, repr=False)
class Counts(Population):
    """Population of patients who are resampled from a table of counts or of single records.

    A counterfactual patient is one patient drawn, independently, from the patients who were recommended each arm (D =
    k), as the paper does with the stroke trial. Equal rows are added up, and rows with a count of 0 are dropped, so
    two tables of the same patients are equal.

    Parameters
    ----------
    name : str
        Name of the population.
    arms : tuple of str
        Names of the arms, the control first.
    counts : sequence of Count or tuple
        Rows of arm recommended, arm taken, reward and, unless it is 1, the number of patients.
    source : str, optional
        Source of the data, which results mention.
    arm_order : str, optional
        Reason for the order of the arms, in words.

    See Also
    --------
    as_population : Read a population from a file or a frame.
    ComplianceTypes : A population of compliance types.

    Examples
    --------
    >>> rows = [("no", "no", 0.0, 3), ("no", "yes", 1.0), ("yes", "yes", 1.0)]
    >>> Counts("small", ("no", "yes"), rows).mean_given_chosen().tolist()
    [0.25, 1.0]

    """

    counts: Sequence[Count]

    def __post_init__(self) -> None:
        super().__post_init__()
        totals: dict[tuple[int, int, float], int] = defaultdict(int)
        for line, row in enumerate(self.counts, start=1):
            if not isinstance(row, tuple | list) or not 3 <= len(row) <= 4:
                raise InputError(f"counts, row {line}", row, "chosen, actual, reward and perhaps a count")
            chosen, actual, reward, count = Count(*row)
            where = f"counts, row {line}, "
            cell = (
                self._arm(where + "chosen", chosen),
                self._arm(where + "actual", actual),
                check_reward(where + "reward", reward),
            )
            totals[cell] += check_count(where + "count", count)
        in_order = (
            Count(self.arms[chosen], self.arms[actual], reward, count)
            for (chosen, actual, reward), count in sorted(totals.items())
            if count
        )
        object.__setattr__(self, "counts", tuple(in_order))
        for arm, patients in self.patients_per_arm().items():
            if not patients:
                raise InputError("counts", arm, "at least one patient for whom this arm was chosen")
            check_count(f"counts of arm {arm!r}", patients)

    def _arm(self, field: str, name: object) -> int:
        if name not in self.arms:
            raise InputError(field, name, nearest(str(name), self.arms))
        return self.arms.index(name)

    def patients_per_arm(self) -> dict[str, int]:
        """Return the number of patients for whom each arm was chosen."""
        return {arm: sum(row.patients for row in self.counts if row.chosen == arm) for arm in self.arms}

    @property
    def reward_values(self) -> tuple[float, ...]:
        """Every reward that occurs, in ascending order."""
        return tuple(sorted({row.reward for row in self.counts}))

    def compliance(self) -> Floats:
        """Return P(actual a | chosen c), the share of patients, as an array [chosen, actual]."""
        return self._shares({row: row.patients for row in self.counts})

    def reward_mass(self) -> Floats:
        """Return E[R · 1(actual a) | chosen c], as an array [chosen, actual]."""
        return self._shares({row: row.patients * row.reward for row in self.counts})

    def _shares(self, amounts: dict[Count, float]) -> Floats:
        sums = np.zeros((self.n_arms, self.n_arms))
        for row, amount in amounts.items():
            sums[self.arms.index(row.chosen), self.arms.index(row.actual)] += amount
        shares: Floats = sums / np.array(list(self.patients_per_arm().values()))[:, None]
        return shares

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        """Return the tables from which patients are drawn in every run. An arm's cells are its rows of counts."""
        per_arm = [[row for row in self.counts if row.chosen == arm] for arm in self.arms]
        weights = np.zeros((1, self.n_arms, max(len(rows) for rows in per_arm)))
        actual = np.zeros(weights.shape[1:], dtype=np.int64)
        reward = np.zeros(weights.shape[1:])
        for arm, rows in enumerate(per_arm):
            cells = slice(len(rows))
            weights[0, arm, cells] = [row.patients for row in rows]
            actual[arm, cells] = [self.arms.index(row.actual) for row in rows]
            reward[arm, cells] = [row.reward for row in rows]
        return PatientTables.from_weights(weights, actual, reward, self.mean_given_chosen()[None, :])
