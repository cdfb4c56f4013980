"""Numbers of patients by arm told, arm taken and outcome, with simultaneous limits on their shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Floats, Records

_HALVINGS = 60  # of an interval within [0, 1]: to the last bit


def cell_limits(
    successes: Floats, n: Floats, level: float, n_cells: int, *, any_time: bool, binary: bool = True
) -> tuple[Floats, Floats]:
    """Between which values the mean of each cell lies, all `n_cells` of them at once with probability `level`.

    Each cell has the share α = (1 − level) / n_cells of the error (Bonferroni).

    - A fixed sample of zeros and ones: Clopper and Pearson's exact limits.
    - A fixed sample of numbers from 0 to 1: Hoeffding's bound in its form with relative entropies, the means p for
      which n·kl(p̂, p) < ln(2/α).
    - At any time: Robbins' mixture, the means p for which ∫ q^s (1 − q)^f dq < p^s (1 − p)^f / α, with s the sum
      and f = n − s. For numbers X from 0 to 1 that are not 0 or 1, (q/p)^X ((1−q)/(1−p))^(1−X) lies below its chord,
      whose mean is 1, so that it holds for them too.

    Parameters
    ----------
    successes
        The sum of each cell's zeros and ones, or of its numbers from 0 to 1.
    n
        How many patients each sum is of; none leave the mean anywhere from 0 to 1.
    level
        With which probability all limits hold.
    n_cells
        For how many cells at once.
    any_time
        Whether they hold at all times at once, and so whenever one stops.
    binary
        Whether the sums are of zeros and ones.

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
        with np.errstate(all="ignore"):  # of no successes, or no failures: replaced in the next two lines
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
    """Where between the two the log-likelihood falls below `least`, rounded towards the outside."""
    from scipy.special import xlog1py, xlogy

    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        is_in = xlogy(successes, middle) + xlog1py(failures, -middle) > least
        inside, outside = np.where(is_in, middle, inside), np.where(is_in, outside, middle)
    return outside


@dataclass(frozen=True, eq=False)
class CellBox:
    """Between which values the probability of each cell lies, by arm told and by its place, 2·thing + outcome.

    Where something else can be taken, that is the last place.
    """

    low: Floats
    high: Floats

    def lumped(self, things: Sequence[int], rows: Sequence[int]) -> CellBox:
        """The cells of these things among those told the arms of these rows; everything besides is something else."""
        low, high = (_lump(cells[rows], things) for cells in (self.low, self.high))
        return CellBox(low, np.minimum(high, 1.0))

    def towards(self, limits: CellBox, part: float) -> CellBox:
        """The cells on that part of the way to wider limits."""
        return CellBox(
            np.maximum(self.low - part * (self.low - limits.low), 0.0),
            np.minimum(self.high + part * (limits.high - self.high), 1.0),
        )


@dataclass(frozen=True, eq=False)
class ObservedCells:
    """Numbers of patients by arm told (rows, one for each arm that anybody was told) and by what they took.

    The things that can be taken are the arms, and "nothing" where anybody took nothing. Something else is no such
    thing: it need not be the same for everybody, so that nothing can be said of its outcome. A reward y from 0 to 1
    counts as y successes and 1 − y failures: the expected numbers of 1{U < y} with U uniform, whose mean is y's.

    Parameters
    ----------
    told
        The thing that those of each row were told to take; None where it is lumped with something else.
    taken
        `taken[z, d, v]`: the failures (v = 0) and successes (v = 1) of those told z who took d.
    other
        Those who took something else.
    no_outcome
        `no_outcome[z, d]`: those who took d and whose outcome is not known.
    not_reported
        `not_reported[z, v]`: the failures and successes of those of whom it is not known what they took.
    neither
        Those of whom neither is known.
    has_other
        Whether anybody may have taken something else: some did, or of some it is not known what they took.

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
        """How many things can be taken."""
        return int(self.taken.shape[1])

    @cached_property
    def n(self) -> Floats:
        """How many were told each arm."""
        known = self.taken.sum(axis=(1, 2)) + self.other
        unknown: Floats = self.no_outcome.sum(axis=1) + self.not_reported.sum(axis=1) + self.neither
        return np.asarray(known + unknown)

    @cached_property
    def counts(self) -> CellBox:
        """The smallest and largest number of patients in each cell, whatever is not known."""
        unknown = self.not_reported + self.neither[:, None]
        most = self.taken + self.no_outcome[:, :, None] + unknown[:, None, :]
        low, high = (numbers.reshape(len(self.told), 2 * self.n_things) for numbers in (self.taken, most))
        if not self.has_other:
            return CellBox(low, high)
        return CellBox(np.c_[low, self.other], np.c_[high, self.other + unknown.sum(axis=1) - self.neither])

    @cached_property
    def shares(self) -> CellBox:
        """The smallest and largest share of each cell among those told the arm."""
        return CellBox(self.counts.low / self.n[:, None], self.counts.high / self.n[:, None])

    @cached_property
    def unknown(self) -> list[tuple[list[int], float]]:
        """The cells, counted through, to one of which each of a share of patients belongs, and that share."""
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
        """Limits that hold for all cells at once; what is not known may be in any cell."""
        n = np.broadcast_to(self.n[:, None], self.counts.low.shape).copy()
        low, high = (
            cell_limits(count, n, level, n.size, any_time=any_time, binary=binary)[end]
            for end, count in enumerate((self.counts.low, self.counts.high))
        )
        return CellBox(low, high)

    def telling_rows(self, things: Sequence[int]) -> list[int]:
        """Rows told these things, and for each of their cells the row in which it has the largest share."""
        own = [row for thing in things for row, told in enumerate(self.told) if told == thing]
        cells = [2 * thing + outcome for thing in things for outcome in (0, 1)]
        return list(dict.fromkeys([*own, *(int(row) for row in self.shares.low[:, cells].argmax(axis=0))]))

    def lumped(self, things: Sequence[int], rows: Sequence[int]) -> ObservedCells:
        """The cells of these things among those told the arms of these rows; everything besides is something else."""
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
    """The cells of records; what was imputed counts as not known."""
    k, actual = records.n_arms, records.actual
    known = records.has_reward if records.imputed_reward is None else records.has_reward & ~records.imputed_reward
    if records.imputed_actual is not None:
        actual = np.where(records.imputed_actual, NOT_KNOWN, actual)
    n_things = k + bool(np.any(actual == TOOK_NOTHING))
    # Columns: the things, then something else, then not known.
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
