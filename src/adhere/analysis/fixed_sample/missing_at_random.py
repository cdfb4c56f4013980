"""Outcomes missing at random given the arm assigned, what was taken and the stratum: means and lost information."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from adhere.analysis.cells import Cells
from adhere.analysis.records import NOT_KNOWN, Bools, Floats, Ints
from adhere.analysis.sentences import say

_UNKNOWN = " (not knowing what was taken counts as a kind of its own)"
MAX_UNSEEN = 0.05  # the share of an arm that may have taken something after which no outcome of that arm is known


@dataclass(frozen=True, eq=False)
class Completed:
    """Cells in which a missing outcome counts as the mean of its cell: arm assigned, what was taken and stratum.

    `cells` has every outcome, `known` the outcomes as they came. If no outcome of a cell is known, the cell takes the
    mean over all strata of patients who were assigned and took the same. If no outcome is known there either, it
    takes the mean of the arm assigned. Patients who reported neither what they took nor an outcome are left out if
    nobody in their arm has an outcome without a report of what was taken: they are then assumed to be like the others
    of their arm and stratum.
    """

    known: Cells
    cells: Cells

    def n_left_out(self, *arms: int) -> int:
        """Number of patients left out among those assigned these arms; arms without any outcome do not count."""
        known = [arm for arm in arms if self.known.n[:, arm].any()]
        return int((self.known.assigned - self.cells.assigned)[:, known].sum())

    def is_missing(self, *arms: int) -> bool:
        """Whether an outcome of those assigned these arms is missing."""
        return bool((self.known.assigned > self.known.n)[:, list(arms)].any())

    def n_missing(self, *arms: int) -> int:
        """Number of missing outcomes among patients assigned these arms who are not left out."""
        return int((self.cells.assigned - self.known.n)[:, list(arms)].sum())

    def n_borrowed(self, *arms: int) -> int:
        """Number of patients assigned these arms whose cell has no known outcome."""
        return int(np.where(self._is_empty, self.cells.assigned, 0)[:, list(arms)].sum())

    def why_no_mean(self, *arms: int) -> str:
        """Reason why the mean of one of these arms is not known, or an empty text."""
        for arm in arms:
            unseen = self.known.n[:, arm].sum(axis=0) == 0
            n, total = int(self.cells.patients[arm, unseen].sum()), int(self.cells.patients[arm].sum())
            if n > MAX_UNSEEN * total:
                return say("none_like_them", n=n, arm=self.known.arms[arm], share=n / total)
        return ""

    def note(self, *arms: int) -> str:
        """Sentences on who is left out, and on how missing outcomes count; empty if none is missing."""
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
        """Shares of the cells (stratum, taken) among those assigned an arm."""
        n = self.cells.n[:, arm].astype(np.float64)
        return np.asarray(n / max(1.0, n.sum()))

    def within_strata(self, arm: int, weights: Floats) -> Floats:
        """Shares of the cells if each stratum has the given weight, out of weights that sum to one."""
        n = self.cells.n[:, arm].astype(np.float64)
        return np.asarray(weights[:, None] * n / np.maximum(1.0, n.sum(axis=1, keepdims=True)))

    def lost(self, arm: int, first: Floats, second: Floats) -> float:
        """The covariance that missing outcomes add to two weighted sums of an arm's cell means.

        With weights a and b, patients N and known outcomes n of variance σ² in a cell: Σ AB·σ²/n − Σ ab·σ²/N, where
        A and B include the weights of cells that borrow the mean of this one.
        """
        if self.known.is_complete:
            return 0.0
        n, everyone = self.known.n[:, arm], self.cells.n[:, arm]
        spread = self._spread[:, arm]
        of_known = self._lent(arm, first) * self._lent(arm, second) * spread / np.maximum(1, n)
        of_all = first * second * spread / np.maximum(1, everyone)
        return float(of_known.sum() - of_all.sum())

    def information(self, arm: int) -> float:
        """The variance of the arm's mean if all outcomes were known, over the variance that it has; at most 1."""
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
        """The same without the patients who did not report what they took."""
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
        """Variances of each cell's outcomes, with one more 0 and one more 1: a few equal outcomes prove little."""
        n, total, squares = (self._borrowed(table) for table in (self.known.n, self.known.total, self.known.squares))
        return (squares + 1.0) / (n + 2.0) - ((total + 1.0) / (n + 2.0)) ** 2

    def _borrowed(self, table: Ints | Floats) -> Floats:
        return _filled(table.astype(np.float64), self.known.n, self._is_empty)

    def _lent(self, arm: int, weights: Floats) -> Floats:
        """Weights of cells; that of an empty cell goes to the cells whose mean it borrows, by known outcomes."""
        n, empty = self.known.n[:, arm].astype(np.float64), self._is_empty[:, arm]
        if not empty.any():
            return weights
        lent = np.where(empty, weights, 0.0)
        same = n.sum(axis=0)  # who took the same, in all strata
        alike = lent.sum(axis=0)
        given: Floats = np.where(empty, 0.0, weights) + n * np.where(same > 0, alike / np.maximum(1.0, same), 0.0)
        given += n * (alike[same == 0].sum() / max(1.0, n.sum()))
        return given


def completed(cells: Cells) -> Completed:
    """Complete the cells: see `Completed`. An arm of which no outcome is known has no patients in the result."""
    if cells.is_complete:
        return Completed(cells, cells)
    assigned = cells.assigned.copy()
    assigned[:, cells.n.sum(axis=(0, 2)) == 0] = 0
    assigned[:, cells.n[:, :, NOT_KNOWN].sum(axis=0) == 0, NOT_KNOWN] = 0
    empty = (cells.n == 0) & (assigned > 0)
    n = _filled(cells.n.astype(np.float64), cells.n, empty)
    times = assigned / np.maximum(1.0, n)  # exactly 1 where nothing is missing
    total, squares = (times * _filled(table, cells.n, empty) for table in (cells.total, cells.squares))
    return Completed(cells, Cells(cells.arms, cells.control, assigned, total, squares, assigned, strata=cells.strata))


def _filled(table: Floats, n: Ints, empty: Bools) -> Floats:
    """A table by stratum, arm and what was taken, with the sums of the next wider known cell in the empty ones."""
    wider = np.broadcast_to(table.sum(axis=0), table.shape)
    widest = np.broadcast_to(table.sum(axis=(0, 2))[:, None], table.shape)
    return np.where(empty, np.where(n.sum(axis=0) > 0, wider, widest), table)
