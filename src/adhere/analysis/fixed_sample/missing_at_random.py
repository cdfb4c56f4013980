"""Means and lost information for outcomes missing at random, given arm assigned, treatment taken and stratum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from adhere.analysis.cells import Cells
from adhere.analysis.records import NOT_KNOWN, Bools, Floats, Ints
from adhere.analysis.sentences import say

_UNKNOWN = " (not knowing what was taken counts as a kind of its own)"
MAX_UNSEEN = 0.05  # largest share of an arm's patients in cells without known outcomes


@dataclass(frozen=True, eq=False)
class Completed:
    """Cells in which a missing outcome counts as the mean of its cell (arm assigned, treatment taken, stratum).

    `cells` has an outcome for everybody, `known` only the reported outcomes. If no outcome of a cell is known, the
    cell takes the mean over all strata of patients who were assigned the same arm and took the same treatment. If
    none of their outcomes is known either, it takes the mean of the arm assigned.

    Some patients reported neither an outcome nor the treatment they took. They are left out unless somebody in their
    arm has an outcome without a report of the treatment taken. Patients left out are assumed to be like the others of
    their arm and stratum.
    """

    known: Cells
    cells: Cells

    def n_left_out(self, *arms: int) -> int:
        """Return the number of patients left out of these arms; arms without any outcome do not count."""
        known = [arm for arm in arms if self.known.n[:, arm].any()]
        return int((self.known.assigned - self.cells.assigned)[:, known].sum())

    def is_missing(self, *arms: int) -> bool:
        """Return whether a patient assigned one of these arms has no outcome."""
        return bool((self.known.assigned > self.known.n)[:, list(arms)].any())

    def n_missing(self, *arms: int) -> int:
        """Return the number of missing outcomes in these arms, without the patients left out."""
        return int((self.cells.assigned - self.known.n)[:, list(arms)].sum())

    def n_borrowed(self, *arms: int) -> int:
        """Return the number of patients in these arms in cells without a known outcome."""
        return int(np.where(self._is_empty, self.cells.assigned, 0)[:, list(arms)].sum())

    def why_no_mean(self, *arms: int) -> str:
        """Return why the mean of one of these arms is unknown, or an empty string."""
        for arm in arms:
            unseen = self.known.n[:, arm].sum(axis=0) == 0
            n, total = int(self.cells.patients[arm, unseen].sum()), int(self.cells.patients[arm].sum())
            if n > MAX_UNSEEN * total:
                return say("none_like_them", n=n, arm=self.known.arms[arm], share=n / total)
        return ""

    def note(self, *arms: int) -> str:
        """Return sentences on who is left out and how missing outcomes count; empty if none is missing."""
        n_missing, n_left_out, n_borrowed = self.n_missing(*arms), self.n_left_out(*arms), self.n_borrowed(*arms)
        stratum = " and stratum" if self.known.strata else ""
        said = ""
        if n_missing:
            unknown = _UNKNOWN if self.cells.patients[list(arms), NOT_KNOWN].any() else ""
            total = int(self.cells.patients[list(arms)].sum())
            same = " in the same stratum" if self.known.strata else ""
            said = say("counted_as_mean", n=n_missing, total=total, stratum=same, unknown=unknown)
        if n_borrowed:
            wider = "all strata, or over their arm" if self.known.strata else "their arm"
            said += say("borrowed_mean", n=n_borrowed, wider=wider)
        return said + (say("neither_known", n=n_left_out, stratum=stratum) if n_left_out else "")

    def shares(self, arm: int) -> Floats:
        """Return the shares of the cells (stratum, taken) among patients assigned an arm."""
        n = self.cells.n[:, arm].astype(np.float64)
        return np.asarray(n / max(1.0, n.sum()))

    def within_strata(self, arm: int, weights: Floats) -> Floats:
        """Return the shares of the cells if each stratum has the given weight; weights sum to one."""
        n = self.cells.n[:, arm].astype(np.float64)
        return np.asarray(weights[:, None] * n / np.maximum(1.0, n.sum(axis=1, keepdims=True)))

    def lost(self, arm: int, first: Floats, second: Floats) -> float:
        """Return the covariance that missing outcomes add to two weighted sums of an arm's cell means.

        The covariance is Σ AB·σ²/n − Σ ab·σ²/N. Here a and b are the weights of a cell, N its number of patients, n
        its number of known outcomes, and σ² their variance. A and B include the weights of cells that borrow the mean
        of this cell.
        """
        if self.known.is_complete:
            return 0.0
        n, everyone = self.known.n[:, arm], self.cells.n[:, arm]
        spread = self._spread[:, arm]
        of_known = self._lent(arm, first) * self._lent(arm, second) * spread / np.maximum(1, n)
        of_all = first * second * spread / np.maximum(1, everyone)
        return float(of_known.sum() - of_all.sum())

    def information(self, arm: int) -> float:
        """Return the variance of the arm's mean if all outcomes were known, divided by its variance (at most 1)."""
        if self.known.is_complete:
            return 1.0
        shares = self.shares(arm)
        n = float(self.cells.n[:, arm].sum())
        lost = max(0.0, self.lost(arm, shares, shares))
        if not n or not lost:
            return 1.0
        means = self._means[:, arm]
        around = means - (shares * means).sum()
        whole = float((shares * (self._spread[:, arm] + around**2)).sum()) / n
        return whole / (whole + lost)

    @cached_property
    def reported(self) -> Completed:
        """The completed cells without patients who did not report what they took."""
        if not self.known.patients[:, NOT_KNOWN].any():
            return self
        tables = {name: getattr(self.known, name).copy() for name in ("n", "total", "squares", "assigned")}
        for table in tables.values():
            table[..., NOT_KNOWN] = 0
        return completed(replace(self.known, **tables, sizes=self.known.by_stratum_patients))

    @cached_property
    def _is_empty(self) -> Bools:
        return np.asarray((self.known.n == 0) & (self.cells.assigned > 0))

    @cached_property
    def _means(self) -> Floats:
        return self.cells.total / np.maximum(1, self.cells.n)

    @cached_property
    def _spread(self) -> Floats:
        """Variance of each cell's outcomes with an added 0 and 1, because a few equal outcomes prove little."""
        n, total, squares = (self._borrowed(table) for table in (self.known.n, self.known.total, self.known.squares))
        return (squares + 1.0) / (n + 2.0) - ((total + 1.0) / (n + 2.0)) ** 2

    def _borrowed(self, table: Ints | Floats) -> Floats:
        return _filled(table.astype(np.float64), self.known.n, self._is_empty)

    def _lent(self, arm: int, weights: Floats) -> Floats:
        """Move the weight of each empty cell to cells that lend it their mean, in proportion to known outcomes."""
        n, empty = self.known.n[:, arm].astype(np.float64), self._is_empty[:, arm]
        if not empty.any():
            return weights
        lent = np.where(empty, weights, 0.0)
        same = n.sum(axis=0)  # patients of all strata who took the same
        alike = lent.sum(axis=0)
        given: Floats = np.where(empty, 0.0, weights) + n * np.where(same > 0, alike / np.maximum(1.0, same), 0.0)
        given += n * (alike[same == 0].sum() / max(1.0, n.sum()))
        return given


def completed(cells: Cells) -> Completed:
    """Complete the cells (see `Completed`). An arm without known outcomes has no patients in the result."""
    if cells.is_complete:
        return Completed(cells, cells)
    assigned = cells.assigned.copy()
    assigned[:, cells.n.sum(axis=(0, 2)) == 0] = 0
    assigned[:, cells.n[:, :, NOT_KNOWN].sum(axis=0) == 0, NOT_KNOWN] = 0
    empty = (cells.n == 0) & (assigned > 0)
    n = _filled(cells.n.astype(np.float64), cells.n, empty)
    times = assigned / np.maximum(1.0, n)  # exactly 1 if nothing is missing
    total, squares = (times * _filled(table, cells.n, empty) for table in (cells.total, cells.squares))
    return Completed(cells, Cells(cells.arms, cells.control, assigned, total, squares, assigned, strata=cells.strata))


def _filled(table: Floats, n: Ints, empty: Bools) -> Floats:
    """Fill empty cells of a table by stratum, arm and treatment taken, with the sums of the next wider known cell."""
    wider = np.broadcast_to(table.sum(axis=0), table.shape)
    widest = np.broadcast_to(table.sum(axis=(0, 2))[:, None], table.shape)
    return np.where(empty, np.where(n.sum(axis=0) > 0, wider, widest), table)
