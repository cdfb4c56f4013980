"""Two arms assigned within strata: weighted differences of the means of the outcome Y, of D (took it) and of Y·D."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adhere.analysis.cells import Cells, sums
from adhere.analysis.fixed_sample.assigned_moments import MORE, ROUNDING, Contrasts, Weights
from adhere.analysis.records import NOT_KNOWN, Floats
from adhere.intervals import RewardSums

_VARIABLES: tuple[Weights, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class StratifiedAssigned(Contrasts):
    """Those assigned treatment (0) and control (1) in each stratum that has both, outcome and what was taken known.

    `totals[arm, stratum]` are the numbers of all and of takers, and the sums of y and y² of both: n, n of takers,
    Σy, Σy of takers, Σy², Σy² of takers. The weight of a stratum is n₁n₀/(n₁ + n₀), as Mantel and Haenszel's and as
    that of two-stage least squares with a constant for each stratum.
    """

    totals: Floats
    n_alone: int  # patients in strata with one of the arms only

    @property
    def n_assigned(self) -> tuple[int, int]:
        """How many were assigned treatment, and control."""
        return int(self.totals[0, :, 0].sum()), int(self.totals[1, :, 0].sum())

    @property
    def n_takers(self) -> tuple[int, int]:
        """How many of them took the treatment."""
        return int(self.totals[0, :, 1].sum()), int(self.totals[1, :, 1].sum())

    @property
    def has_variances(self) -> bool:
        """Whether each arm has two patients at least in some stratum."""
        return bool((self.totals[:, :, 0].max(axis=1, initial=0.0) > 1).all())

    @property
    def outcomes(self) -> list[tuple[RewardSums, RewardSums]]:
        """The outcomes of both arms in each stratum."""
        treated, controls = ([sums(int(n), y, yy) for n, y, yy in arm[:, [0, 2, 4]].tolist()] for arm in self.totals)
        return list(zip(treated, controls, strict=True))

    def means(self, weights: Weights) -> tuple[float, float]:
        """The means of a weighted sum of Y, D and Y·D in each arm, strata weighted alike in both."""
        treatment, control = (self._shares @ self._means @ np.array(weights)).tolist()
        return treatment, control

    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """The covariance of two contrasts, each arm and stratum with its own: robust to unequal variances."""
        matrix = self._smoothed if smoothed else self._covariance
        return float(np.array(first) @ matrix @ np.array(second))

    def residual_variance(self, weights: Weights) -> float:
        """The robust variance of two-stage least squares, of a contrast that is 0: around the means of strata."""
        vector, n = np.array(weights), self._n
        means = self._means @ vector
        around = means - (n * means).sum(axis=0) / n.sum(axis=0)
        spread = np.einsum("asij,i,j->as", self._within, vector, vector) + around**2
        return float((self._shares**2 * spread / n).sum())

    @property
    def _n(self) -> Floats:
        return self.totals[:, :, 0]

    @cached_property
    def _shares(self) -> Floats:
        weight = self._n[0] * self._n[1] / self._n.sum(axis=0)
        shares: Floats = weight / weight.sum()
        return shares

    @cached_property
    def _means(self) -> Floats:
        """By arm and stratum, of Y, D and Y·D."""
        means: Floats = self.totals[:, :, [2, 1, 3]] / self._n[:, :, None]
        return means

    @cached_property
    def _within(self) -> Floats:
        """Their covariances by arm and stratum, divided by n."""
        n, takers, _, y_takers, squares, squares_takers = np.moveaxis(self.totals, 2, 0)
        products = np.array(
            [
                [squares, y_takers, squares_takers],
                [y_takers, takers, y_takers],
                [squares_takers, y_takers, squares_takers],
            ]
        )
        found = np.moveaxis(products / n, (0, 1), (2, 3)) - self._means[..., :, None] * self._means[..., None, :]
        within: Floats = np.where(np.abs(found) > ROUNDING, found, 0.0)
        return within

    @cached_property
    def _unbiased(self) -> Floats:
        """The covariances of the means by arm and stratum; a group of one has those of its arm's others."""
        n = self._n[:, :, None, None]
        pooled = (n * self._within).sum(axis=1) / np.maximum(1.0, (n - 1).sum(axis=1))
        found: Floats = np.where(n > 1, n * self._within / np.maximum(1.0, n - 1), pooled[:, None]) / n
        return found

    @cached_property
    def _of_means(self) -> Floats:
        """By arm: the covariances of the means over strata."""
        found: Floats = np.einsum("s,asij->aij", self._shares**2, self._unbiased)
        return found

    @cached_property
    def _between(self) -> Floats:
        """What chance in the sizes of strata and arms adds where contrasts differ between strata.

        Two-stage least squares' robust variance has it too; here it is net of what chance makes contrasts differ by.
        """
        contrasts = self._means[0] - self._means[1]
        apart = contrasts - self._shares @ contrasts
        differ = apart[:, :, None] * apart[:, None, :] - self._unbiased.sum(axis=0)
        differ = np.where(np.abs(differ) > ROUNDING, differ, 0.0)
        n = self._n.sum(axis=0)
        factor = self._shares**2 * ((self._n[1] / n) ** 2 / self._n[0] + (self._n[0] / n) ** 2 / self._n[1])
        values, vectors = np.linalg.eigh(np.einsum("s,sij->ij", factor, differ))
        found: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return found

    @cached_property
    def _covariance(self) -> Floats:
        found: Floats = self._of_means.sum(axis=0) + self._between
        return found

    @cached_property
    def _smoothed(self) -> Floats:
        """With four patients more in each arm: whoever took it or not, with an outcome of 0 or 1."""
        mean = np.array([MORE.mean(one) for one in _VARIABLES])
        covariance = np.array([[MORE.covariance(one, two) for two in _VARIABLES] for one in _VARIABLES])
        whole = self._between
        for arm, n in enumerate(self.n_assigned):
            apart = self._shares @ self._means[arm] - mean
            more = MORE.n * covariance + n * MORE.n / (n + MORE.n) * np.outer(apart, apart)
            of_mean = (self._shares**2 / np.maximum(1.0, self._n[arm] - 1)).sum()  # its variance, if one has 1
            whole = whole + (n * self._of_means[arm] + of_mean * more) / (n + MORE.n)
        return whole


def stratified_pair(cells: Cells, treatment: int, control: int) -> StratifiedAssigned:
    """Those assigned either arm, stratum by stratum; takers took the treatment."""
    arms = [treatment, control]
    columns = []
    for table in (cells.n, cells.total, cells.squares):
        known = table[:, arms].sum(axis=2) - table[:, arms, NOT_KNOWN]
        columns += [known, table[:, arms, treatment]]
    totals = np.moveaxis(np.array(columns, dtype=np.float64), (0, 1, 2), (2, 1, 0))
    has_both = (totals[:, :, 0] > 0).all(axis=0)
    return StratifiedAssigned(totals[:, has_both], int(totals[:, ~has_both, 0].sum()))
