"""Numbers of patients by arm told, arm taken and outcome, with simultaneous limits on their shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Floats, Records

_HALVINGS = 60  # halvings of an interval within [0, 1], down to the last bit


def cell_limits(
    successes: Floats, n: Floats, level: float, n_cells: int, *, any_time: bool, binary: bool = True
) -> tuple[Floats, Floats]:
    """Return limits on the mean of each cell, simultaneous for `n_cells` cells with probability `level`.

    Each cell has the share α = (1 − level) / n_cells of the error (Bonferroni).

    - For a fixed sample of zeros and ones, these are Clopper and Pearson's exact limits.
    - For a fixed sample of numbers from 0 to 1, Hoeffding's bound with relative entropies is used: the means p with
      n·kl(p̂, p) < ln(2/α).
    - At any time, Robbins' mixture is used: the means p with ∫ q^s (1 − q)^f dq < p^s (1 − p)^f / α, where s is
      the sum and f = n − s. It is also valid for numbers X from 0 to 1, because
      (q/p)^X ((1−q)/(1−p))^(1−X) is below its chord, and the mean of the chord is 1.

    Parameters
    ----------
    successes
        Sum of the outcomes (zeros and ones, or numbers from 0 to 1) by cell.
    n
        Number of patients by cell. Without patients, the limits are 0 and 1.
    level
        Probability with which all limits hold at once.
    n_cells
        Number of cells for which the limits hold at once.
    any_time
        Whether the limits hold at all times at once, and so whenever the trial stops.
    binary
        Whether all outcomes are 0 or 1.

    Examples
    --------
    >>> low, high = cell_limits(np.array([8.0]), np.array([10.0]), 0.95, 1, any_time=False)
    >>> print(low.round(3), high.round(3))
    [0.444] [0.975]
    >>> low, high = cell_limits(np.array([8.0]), np.array([10.0]), 0.95, 1, any_time=True)
    >>> print(low.round(3), high.round(3))
    [0.353] [0.99]

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26. Hoeffding (1963), Journal of the American Statistical Association 58.
    Robbins (1970), Annals of Mathematical Statistics 41.

    """
    from scipy.special import betaincinv, betaln, xlogy

    failures = np.maximum(n - successes, 0.0)
    alpha = (1.0 - level) / n_cells
    if binary and not any_time:
        with np.errstate(all="ignore"):  # values without successes or failures are replaced below
            low = betaincinv(successes, failures + 1.0, alpha / 2)
            high = betaincinv(successes + 1.0, failures, 1.0 - alpha / 2)
        return np.where(successes > 0.0, low, 0.0), np.where(failures > 0.0, high, 1.0)
    share = np.divide(successes, n, out=np.full_like(n, 0.5), where=n > 0.0)
    most = xlogy(successes, share) + xlogy(failures, 1.0 - share)  # the log-likelihood at the observed share
    threshold = most - betaln(successes + 1.0, failures + 1.0) - np.log(alpha) if any_time else np.log(2.0 / alpha)
    return (
        _crossing(share, np.zeros_like(share), successes, failures, most - threshold),
        _crossing(share, np.ones_like(share), successes, failures, most - threshold),
    )


def _crossing(inside: Floats, outside: Floats, successes: Floats, failures: Floats, least: Floats) -> Floats:
    """Return where the log-likelihood falls below `least`, between `inside` and `outside`, rounded outwards."""
    from scipy.special import xlog1py, xlogy

    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        is_in = xlogy(successes, middle) + xlog1py(failures, -middle) > least
        inside, outside = np.where(is_in, middle, inside), np.where(is_in, outside, middle)
    return outside


@dataclass(frozen=True, eq=False)
class CellBox:
    """Limits on the probability of each cell, by arm told and by cell index, 2·thing + outcome.

    If something else can be taken, it has the last index.
    """

    low: Floats
    high: Floats

    def lumped(self, things: Sequence[int], rows: Sequence[int]) -> CellBox:
        """Return the limits for these rows and things. The limits of all others are added up as something else."""
        low, high = (_lump(cells[rows], things) for cells in (self.low, self.high))
        return CellBox(low, np.minimum(high, 1.0))

    def towards(self, limits: CellBox, part: float) -> CellBox:
        """Return the box moved the given fraction of the way to wider limits."""
        return CellBox(
            np.maximum(self.low - part * (self.low - limits.low), 0.0),
            np.minimum(self.high + part * (limits.high - self.high), 1.0),
        )


@dataclass(frozen=True, eq=False)
class ObservedCells:
    """Number of patients by arm told (a row for each arm that anybody was told) and by treatment taken.

    The things that can be taken are the arms, and "nothing" if anybody took nothing. "Something else" is not one of
    them: it may differ between patients, so that its outcome is unknown. A reward y from 0 to 1 counts as y successes
    and 1 − y failures. These are the expected counts of 1{U < y} for uniform U, which has the same mean.

    Parameters
    ----------
    told
        Thing that the patients of each row were told to take; None if it is lumped with something else.
    taken
        `taken[z, d, v]`: failures (v = 0) and successes (v = 1) of patients told z who took d.
    other
        Number of patients who took something else, by arm told.
    no_outcome
        `no_outcome[z, d]`: number of patients who took d and have no known outcome.
    not_reported
        `not_reported[z, v]`: failures and successes of patients for whom the treatment taken is unknown.
    neither
        Number of patients with neither a known outcome nor a known treatment taken, by arm told.
    has_other
        Whether anybody may have taken something else: somebody did, or a treatment taken is unknown.

    """

    told: tuple[int | None, ...]
    taken: Floats
    other: Floats
    no_outcome: Floats
    not_reported: Floats
    neither: Floats
    has_other: bool

    @property
    def n_things(self) -> int:
        """Number of things that can be taken."""
        return int(self.taken.shape[1])

    @cached_property
    def n(self) -> Floats:
        """Number of patients told each arm."""
        known = self.taken.sum(axis=(1, 2)) + self.other
        unknown: Floats = self.no_outcome.sum(axis=1) + self.not_reported.sum(axis=1) + self.neither
        return np.asarray(known + unknown)

    @cached_property
    def counts(self) -> CellBox:
        """Smallest and largest possible number of patients in each cell, given what is unknown."""
        unknown = self.not_reported + self.neither[:, None]
        most = self.taken + self.no_outcome[:, :, None] + unknown[:, None, :]
        low, high = (numbers.reshape(len(self.told), 2 * self.n_things) for numbers in (self.taken, most))
        if not self.has_other:
            return CellBox(low, high)
        return CellBox(np.c_[low, self.other], np.c_[high, self.other + unknown.sum(axis=1) - self.neither])

    @cached_property
    def shares(self) -> CellBox:
        """Smallest and largest possible share of each cell among patients told the arm."""
        return CellBox(self.counts.low / self.n[:, None], self.counts.high / self.n[:, None])

    @cached_property
    def unknown(self) -> list[tuple[list[int], float]]:
        """Shares of patients with unknown cells: pairs of the indices of their possible cells and the share."""
        n_cells = 2 * self.n_things + self.has_other
        other = [n_cells - 1] * self.has_other
        found: list[tuple[list[int], float]] = []
        for z, n in enumerate(self.n):
            sets = [([2 * d, 2 * d + 1], number) for d, number in enumerate(self.no_outcome[z])]
            sets += [([*range(v, 2 * self.n_things, 2), *other], self.not_reported[z, v]) for v in (0, 1)]
            sets.append((list(range(n_cells)), self.neither[z]))
            found += [([z * n_cells + one for one in places], float(number / n)) for places, number in sets if number]
        return found

    def limits(self, level: float, *, any_time: bool, binary: bool) -> CellBox:
        """Return simultaneous limits for all cells; patients with unknown reports may be in any cell."""
        n = np.broadcast_to(self.n[:, None], self.counts.low.shape).copy()
        low, high = (
            cell_limits(count, n, level, n.size, any_time=any_time, binary=binary)[end]
            for end, count in enumerate((self.counts.low, self.counts.high))
        )
        return CellBox(low, high)

    def telling_rows(self, things: Sequence[int]) -> list[int]:
        """Return the rows told to take these things, and the row with the largest share of each of these cells."""
        own = [row for thing in things for row, told in enumerate(self.told) if told == thing]
        cells = [2 * thing + outcome for thing in things for outcome in (0, 1)]
        return list(dict.fromkeys([*own, *(int(row) for row in self.shares.low[:, cells].argmax(axis=0))]))

    def lumped(self, things: Sequence[int], rows: Sequence[int]) -> ObservedCells:
        """Return the counts for these rows and things. All other things that were taken count as something else."""
        rest = [thing for thing in range(self.n_things) if thing not in things]
        taken, no_outcome = self.taken[rows], self.no_outcome[rows]
        return ObservedCells(
            told=tuple(things.index(told) if (told := self.told[row]) in things else None for row in rows),
            taken=taken[:, things],
            other=self.other[rows] + taken[:, rest].sum(axis=(1, 2)) + no_outcome[:, rest].sum(axis=1),
            no_outcome=no_outcome[:, things],
            not_reported=self.not_reported[rows],
            neither=self.neither[rows],
            has_other=self.has_other or bool(rest),
        )


def _lump(cells: Floats, things: Sequence[int]) -> Floats:
    kept = [2 * thing + outcome for thing in things for outcome in (0, 1)]
    rest = [place for place in range(cells.shape[1]) if place not in kept]
    return np.c_[cells[:, kept], cells[:, rest].sum(axis=1)] if rest else cells[:, kept]


def observed_cells(records: Records) -> ObservedCells:
    """Count the cells of records; imputed values count as unknown."""
    k, actual = records.n_arms, records.actual
    known = records.has_reward if records.imputed_reward is None else records.has_reward & ~records.imputed_reward
    if records.imputed_actual is not None:
        actual = np.where(records.imputed_actual, NOT_KNOWN, actual)
    n_things = k + bool(np.any(actual == TOOK_NOTHING))
    # Columns: the things, then something else, then unknown.
    column = actual.copy()
    for code, place in ((TOOK_NOTHING, k), (TOOK_OTHER, n_things), (NOT_KNOWN, n_things + 1)):
        column[actual == code] = place
    cell = records.chosen * (n_things + 2) + column
    success = np.where(known, records.reward, 0.0)
    size = k * (n_things + 2)
    weights = (known - success) * records.patients, success * records.patients, ~known * records.patients
    table: Floats = np.stack([np.bincount(cell, weights=weight, minlength=size) for weight in weights], axis=-1)
    table = table.astype(np.float64).reshape(k, n_things + 2, 3)
    told = tuple(int(z) for z in np.flatnonzero(table.sum(axis=(1, 2)) > 0.0))
    table = table[list(told)]
    return ObservedCells(
        told=told,
        taken=table[:, :n_things, :2],
        other=table[:, n_things].sum(axis=1),
        no_outcome=table[:, :n_things, 2],
        not_reported=table[:, n_things + 1, :2],
        neither=table[:, n_things + 1, 2],
        has_other=bool(np.any(table[:, n_things:] > 0.0)),
    )
