"""Sufficient statistics of the fixed-sample views: n, Σy and Σy² for each arm assigned and arm taken."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Floats, Ints, Records
from adhere.intervals import RewardSums

N_WITHOUT_ARM = 3  # columns after those of the arms: not known, took something else, took nothing


@dataclass(frozen=True, eq=False)
class Cells:
    """Patients and outcomes by stratum, arm assigned (k) and treatment taken (k + 3, negative codes at the end).

    `n` is the number of patients with a known outcome, `total` the sum of their outcomes, and `squares` the sum of
    the squares; `assigned` counts all patients. The negative codes are valid indices: `n[s, z, TOOK_NOTHING]`, `n[s,
    z, NOT_KNOWN]`. The last stratum contains patients with an unknown stratum; without strata it is the only one.
    `sizes` are the numbers of patients by stratum if `assigned` counts only some of them.
    """

    arms: tuple[str, ...]
    control: int
    n: Ints
    total: Floats
    squares: Floats
    assigned: Ints
    strata: tuple[str, ...] = ()
    sizes: Floats | None = None

    @cached_property
    def patients(self) -> Ints:
        """Number of patients by arm assigned and treatment taken."""
        return np.asarray(self.assigned.sum(axis=0))

    @cached_property
    def by_stratum_patients(self) -> Floats:
        """Number of patients by stratum over all arms, including patients who are not counted here."""
        if self.sizes is not None:
            return self.sizes
        return np.asarray(self.assigned.sum(axis=(1, 2)).astype(np.float64))

    @cached_property
    def is_complete(self) -> bool:
        """Return whether every outcome is known."""
        return bool((self.n == self.assigned).all())

    @cached_property
    def _flat(self) -> list[list[RewardSums]]:
        n, total, squares = (table.sum(axis=0).tolist() for table in (self.n, self.total, self.squares))
        return [[sums(*cell) for cell in zip(*rows, strict=True)] for rows in zip(n, total, squares, strict=True)]

    def cell(self, chosen: int, actual: int) -> RewardSums:
        """Return outcomes of patients assigned `chosen` who took `actual` (an arm or a negative code)."""
        return self._flat[chosen][actual]

    def others(self, chosen: int, actual: int) -> RewardSums:
        """Return outcomes of patients assigned `chosen` who are known not to have taken `actual`."""
        row = self._flat[chosen]
        return added(row[taken] for taken in range(TOOK_OTHER, len(self.arms)) if taken != actual)

    def by_chosen(self) -> list[RewardSums]:
        """Return the outcomes of patients assigned each arm."""
        return [added(row) for row in self._flat]

    def by_actual(self) -> list[RewardSums]:
        """Return the outcomes of patients who took each arm."""
        return [added(row[arm] for row in self._flat) for arm in range(len(self.arms))]

    def as_assigned(self) -> list[RewardSums]:
        """Return the outcomes of patients who took the arm they were assigned, by arm."""
        return [self._flat[arm][arm] for arm in range(len(self.arms))]

    def by_stratum(self, chosen: int) -> list[RewardSums]:
        """Return the outcomes of patients assigned an arm, by stratum."""
        tables = (table[:, chosen].sum(axis=1).tolist() for table in (self.n, self.total, self.squares))
        return [sums(*stratum) for stratum in zip(*tables, strict=True)]


def sums(n: int, total: float, squares: float) -> RewardSums:
    """Return the sums of a cell; outcomes from 0 to 1 are all 0 or 1 if and only if Σy = Σy²."""
    return RewardSums(n, total, squares, binary=total == squares)


def added(parts: Iterable[RewardSums]) -> RewardSums:
    """Return the sums of several cells, added up."""
    whole = RewardSums()
    for part in parts:
        whole.n += part.n
        whole.total += part.total
        whole.squares += part.squares
        whole.binary = whole.binary and part.binary
    return whole


def cells_of(records: Records) -> Cells:
    """Count the records in one pass."""
    n_arms, columns = records.n_arms, records.n_arms + N_WITHOUT_ARM
    n_strata = len(records.strata) + 1
    place = records.chosen * columns + records.actual % columns
    if records.stratum is not None:
        place = place + records.stratum % n_strata * (n_arms * columns)
    shape = (n_strata, n_arms, columns)
    assigned = _tally(place, records.patients.astype(np.float64), shape)
    known = records.has_reward
    place, weight, reward = place[known], records.patients[known], records.reward[known]
    weights = weight.astype(np.float64), weight * reward, weight * reward * reward
    n, total, squares = (_tally(place, one, shape) for one in weights)
    return Cells(
        records.arms,
        records.control,
        n.astype(np.int64),
        total,
        squares,
        assigned.astype(np.int64),
        records.strata,
    )


def _tally(place: Ints, weight: Floats, shape: tuple[int, ...]) -> Floats:
    counts = np.bincount(place, weight, math.prod(shape))
    return counts.astype(np.float64, copy=False).reshape(shape)  # bincount of an empty array has integers


assert NOT_KNOWN == -N_WITHOUT_ARM < TOOK_OTHER < TOOK_NOTHING < 0  # as indices, these are the last columns
