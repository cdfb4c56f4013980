"""Means and covariances of the outcome Y, of D (took the treatment) and of Y·D, within each of two arms assigned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from adhere.analysis.cells import added, sums
from adhere.analysis.estimates import ConfidenceSet
from adhere.analysis.fixed_sample.intervals import fieller
from adhere.analysis.fixed_sample.missing_at_random import Completed
from adhere.analysis.records import NOT_KNOWN, Floats, Ints
from adhere.intervals import RewardSums

Weights = tuple[float, float, float]  # weights of Y, D and Y·D

OUTCOME: Weights = (1.0, 0.0, 0.0)
TAKEN: Weights = (0.0, 1.0, 0.0)
TREATED: Weights = (0.0, 0.0, 1.0)  # Y·D
UNTREATED: Weights = (-1.0, 0.0, 1.0)  # −Y·(1 − D)
ROUNDING = 1e-15  # rounding error of covariances of numbers from 0 to 1


@dataclass(frozen=True)
class Assigned:
    """Patients assigned one arm, grouped by whether they took the treatment, did not, or did not report it.

    In `takers`, `others` and `unknown` everybody has an outcome: missing outcomes are completed (see `Completed`).
    `known` has only the known outcomes of these three groups. The share who took the treatment counts only patients
    who reported what they took. The mean of Y·D is that share times the mean of the takers.

    `lost` is what missing outcomes add to three values: the variance of the mean of Y, its covariance with the mean
    of Y·D, and the variance of the mean of Y·D. `information` is the fraction of the patients that the known outcomes
    are worth for the mean of Y.
    """

    takers: RewardSums
    others: RewardSums
    unknown: RewardSums = field(default_factory=RewardSums)
    known: tuple[RewardSums, RewardSums, RewardSums] | None = None
    lost: tuple[float, float, float] = (0.0, 0.0, 0.0)
    information: float = 1.0

    @cached_property
    def everyone(self) -> RewardSums:
        """Outcomes of all patients of the arm."""
        return added((self.takers, self.others, self.unknown))

    @cached_property
    def smoothed(self) -> Assigned:
        """The arm with one more patient in each cell (taker or not, outcome 0 or 1), so that no cell is empty."""
        takers, others = added((self.takers, MORE.takers)), added((self.others, MORE.others))
        return replace(self, takers=takers, others=others)

    @property
    def n(self) -> int:
        """Number of patients."""
        return self.n_reported + self.unknown.n

    @property
    def n_reported(self) -> int:
        """Number of patients who reported what they took."""
        return self.takers.n + self.others.n

    @property
    def known_takers(self) -> RewardSums:
        """Known outcomes of patients who took the treatment."""
        return self.takers if self.known is None else self.known[0]

    @property
    def known_others(self) -> RewardSums:
        """Known outcomes of patients who did not take the treatment."""
        return self.others if self.known is None else self.known[1]

    @property
    def n_known(self) -> int:
        """Number of patients with a known outcome."""
        return self.n if self.known is None else sum(one.n for one in self.known)

    @property
    def has_outcomes(self) -> bool:
        """Return whether takers have a known outcome, if there are any takers, and likewise for the others."""
        takers, others = self.known_takers.n, self.known_others.n
        return bool((takers or not self.takers.n) and (others or not self.others.n))

    def mean(self, weights: Weights) -> float:
        """Return the mean of a weighted sum of Y, D and Y·D."""
        y, d, yd = weights
        return y * _mean(self.everyone) + self._share * (d + yd * _mean(self.takers))

    @property
    def _share(self) -> float:
        return self.takers.n / self.n_reported if self.n_reported else 0.0

    def covariance(self, first: Weights, second: Weights) -> float:
        """Return n times the covariance of the means of two weighted sums, as if all outcomes were known.

        It is the covariance of the influences of a patient. These come from the kind of patient (took the treatment,
        did not, not known) and from the outcome around the mean of that kind.
        """
        reported = self.n_reported / self.n
        total = 0.0
        pairs = zip(self._influences(first), self._influences(second), strict=True)
        for kind, (one, two) in zip((self.takers, self.others, self.unknown), pairs, strict=True):
            total += kind.n / self.n * one * two
        (y, _, yd), (other_y, _, other_yd) = first, second
        of_takers = (y + yd / reported) * (other_y + other_yd / reported) if reported else 0.0
        total += of_takers * self.takers.n / self.n * _spread(self.takers)
        for kind in (self.others, self.unknown):
            total += y * other_y * kind.n / self.n * _spread(kind)
        return total if abs(total) > ROUNDING else 0.0

    def _influences(self, weights: Weights) -> tuple[float, float, float]:
        """Return how much a taker, one of the others, and a patient without a report influence n times the mean."""
        (y, d, yd), share, mean = weights, self._share, _mean(self.everyone)
        taking = (d + yd * _mean(self.takers)) * (self.n / self.n_reported if self.n_reported else 0.0)
        return (
            y * (_mean(self.takers) - mean) + (1.0 - share) * taking,
            y * (_mean(self.others) - mean) - share * taking,
            y * (_mean(self.unknown) - mean),
        )

    def lost_covariance(self, first: Weights, second: Weights) -> float:
        """Return the covariance that missing outcomes add to the means of two weighted sums."""
        of_y, of_both, of_yd = self.lost
        (y, _, yd), (other_y, _, other_yd) = first, second
        return y * other_y * of_y + (y * other_yd + yd * other_y) * of_both + yd * other_yd * of_yd


def _mean(known: RewardSums) -> float:
    return known.total / known.n if known.n else 0.0


def _spread(known: RewardSums) -> float:
    """Return the variance of the outcomes, with divisor n."""
    if not known.n:
        return 0.0
    variance = known.squares / known.n - _mean(known) ** 2
    return variance if variance > ROUNDING else 0.0


MORE = Assigned(RewardSums(2, 1.0, 1.0), RewardSums(2, 1.0, 1.0))  # one patient in each cell


class Contrasts(ABC):
    """Differences of means between patients assigned the treatment and patients assigned the control."""

    @property
    @abstractmethod
    def n_assigned(self) -> tuple[int, int]:
        """Numbers of patients assigned treatment and control."""

    @property
    @abstractmethod
    def n_reported(self) -> tuple[int, int]:
        """Numbers of patients who reported what they took."""

    @property
    @abstractmethod
    def n_takers(self) -> tuple[int, int]:
        """Numbers of patients who took the treatment, assigned treatment and control."""

    @property
    @abstractmethod
    def has_variances(self) -> bool:
        """Return whether there are enough patients to estimate variances."""

    @abstractmethod
    def means(self, weights: Weights) -> tuple[float, float]:
        """Return the means of a weighted sum of Y, D and Y·D in each arm."""

    @abstractmethod
    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """Return the covariance of two contrasts, estimated by arm: robust to unequal variances."""

    @abstractmethod
    def residual_variance(self, weights: Weights) -> float:
        """Return the robust variance of two-stage least squares, for weights that make the contrast 0."""

    @abstractmethod
    def varies(self, weights: Weights) -> bool:
        """Return whether a weighted sum of Y, D and Y·D varies among the patients, with completed outcomes."""

    @property
    def n(self) -> int:
        """Number of patients."""
        return sum(self.n_assigned)

    def contrast(self, weights: Weights) -> float:
        """Return the difference of the means, treatment − control."""
        treatment, control = self.means(weights)
        return treatment - control

    def variance(self, weights: Weights, *, smoothed: bool = False) -> float:
        """Return the variance of a contrast; 0 if nothing varies."""
        return max(0.0, self.covariance(weights, weights, smoothed=smoothed))

    def fieller(
        self,
        numerator: Weights,
        denominator: Weights,
        level: float,
        method: str = "Fieller",
        *,
        smoothed: bool = False,
    ) -> ConfidenceSet:
        """Return Fieller's set for the ratio of two contrasts that have variances."""
        contrasts = self.contrast(numerator), self.contrast(denominator)
        first, second = (self.variance(one, smoothed=smoothed) for one in (numerator, denominator))
        covariance = self.covariance(numerator, denominator, smoothed=smoothed)
        return fieller(*contrasts, first, second, covariance, level, method=method)


@dataclass(frozen=True)
class TwoAssigned(Contrasts):
    """Patients assigned the treatment and patients assigned the control."""

    treatment: Assigned
    control: Assigned

    @property
    def n_assigned(self) -> tuple[int, int]:
        """Numbers of patients assigned treatment and control."""
        return self.treatment.n, self.control.n

    @property
    def n_reported(self) -> tuple[int, int]:
        """Numbers of patients who reported what they took."""
        return self.treatment.n_reported, self.control.n_reported

    @property
    def n_takers(self) -> tuple[int, int]:
        """Numbers of patients who took the treatment, assigned treatment and control."""
        return self.treatment.takers.n, self.control.takers.n

    @property
    def has_variances(self) -> bool:
        """Return whether each arm has at least two patients with a known outcome."""
        return min(self.treatment.n_known, self.control.n_known) > 1

    def means(self, weights: Weights) -> tuple[float, float]:
        """Return the means of a weighted sum of Y, D and Y·D in each arm."""
        return self.treatment.mean(weights), self.control.mean(weights)

    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """Return the covariance of two contrasts, estimated by arm: robust to unequal variances."""
        return sum(
            (arm.smoothed if smoothed else arm).covariance(first, second) / (arm.n - 1)
            + arm.lost_covariance(first, second)
            for arm in (self.treatment, self.control)
        )

    def varies(self, weights: Weights) -> bool:
        """Return whether a weighted sum of Y, D and Y·D varies among the patients, with completed outcomes."""
        return any(arm.covariance(weights, weights) > 0.0 for arm in (self.treatment, self.control))

    def residual_variance(self, weights: Weights) -> float:
        """Return the robust 2SLS variance for weights that make the contrast 0, without small-sample correction."""
        arms, both = (self.treatment, self.control), (weights, weights)
        return max(0.0, sum(arm.covariance(*both) / arm.n + arm.lost_covariance(*both) for arm in arms))


@dataclass(frozen=True, eq=False)
class StratifiedAssigned(Contrasts):
    """Patients assigned treatment (0) and control (1), in strata where both arms have reports of the treatment taken.

    `kinds[arm, stratum]` has three rows: takers, others, and patients who did not report what they took. Each row has
    n, Σy and Σy²; missing outcomes are completed (see `Completed`). `n_known[arm, stratum]` counts the known
    outcomes. `lost[arm]` is what missing outcomes add to the covariances of the weighted means of Y, D and Y·D.

    The weight of a stratum is n₁n₀/(n₁ + n₀), as for Mantel and Haenszel and for two-stage least squares with a
    constant for each stratum. If `patients` is given, the weight is the stratum's number of patients.
    """

    kinds: Floats
    n_known: Ints
    lost: Floats
    n_alone: int  # patients in strata with only one of the arms
    patients: Floats | None = None

    @property
    def n_assigned(self) -> tuple[int, int]:
        """Numbers of patients assigned treatment and control."""
        return int(self._n[0].sum()), int(self._n[1].sum())

    @property
    def n_reported(self) -> tuple[int, int]:
        """Numbers of patients who reported what they took."""
        return int(self._reported[0].sum()), int(self._reported[1].sum())

    @property
    def n_takers(self) -> tuple[int, int]:
        """Numbers of patients who took the treatment, assigned treatment and control."""
        return int(self.kinds[0, :, 0, 0].sum()), int(self.kinds[1, :, 0, 0].sum())

    @property
    def has_variances(self) -> bool:
        """Return whether each arm has at least two known outcomes in some stratum."""
        return bool((self.n_known.max(axis=1, initial=0) > 1).all())

    @property
    def outcomes(self) -> list[tuple[RewardSums, RewardSums]]:
        """Outcomes of both arms in each stratum."""
        treated, controls = ([sums(int(n), y, yy) for n, y, yy in arm.sum(axis=1).tolist()] for arm in self.kinds)
        return list(zip(treated, controls, strict=True))

    @property
    def lost_variances(self) -> tuple[float, float]:
        """Variances that missing outcomes add to the weighted mean outcomes of the two arms."""
        return max(0.0, float(self.lost[0, 0, 0])), max(0.0, float(self.lost[1, 0, 0]))

    def means(self, weights: Weights) -> tuple[float, float]:
        """Return the means of a weighted sum of Y, D and Y·D in each arm; strata have equal weights in both arms."""
        treatment, control = (self.shares @ self._means @ np.array(weights)).tolist()
        return treatment, control

    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """Return the covariance of two contrasts, estimated by arm and stratum: robust to unequal variances."""
        matrix = self._smoothed if smoothed else self._covariance
        return float(np.array(first) @ matrix @ np.array(second))

    def varies(self, weights: Weights) -> bool:
        """Return whether a weighted sum of Y, D and Y·D varies among the patients, with completed outcomes."""
        vector = np.array(weights)
        return bool(vector @ (self._of_means.sum(axis=0) + self._between) @ vector > 0.0)

    def residual_variance(self, weights: Weights) -> float:
        """Return the robust 2SLS variance, around the means of the strata, for weights that make the contrast 0."""
        vector, n = np.array(weights), self._n
        means = self._means @ vector
        around = means - (n * means).sum(axis=0) / n.sum(axis=0)
        spread = np.einsum("asij,i,j->as", self._within, vector, vector) + around**2
        found = float((self.shares**2 * spread / n).sum() + vector @ self.lost.sum(axis=0) @ vector)
        return max(0.0, found)  # a cell with a borrowed mean may add a negative variance

    @cached_property
    def _n(self) -> Floats:
        return np.asarray(self.kinds[..., 0].sum(axis=2))

    @cached_property
    def _reported(self) -> Floats:
        return np.asarray(self.kinds[:, :, :2, 0].sum(axis=2))

    @cached_property
    def shares(self) -> Floats:
        """Weights of the strata, summing to one."""
        weight = self._n[0] * self._n[1] / self._n.sum(axis=0) if self.patients is None else self.patients
        return np.asarray(weight / weight.sum())

    @cached_property
    def _kind_means(self) -> Floats:
        """Means of Y by arm, stratum and kind."""
        return self.kinds[..., 1] / np.maximum(1.0, self.kinds[..., 0])

    @cached_property
    def _means(self) -> Floats:
        """Means of Y, D and Y·D by arm and stratum."""
        share = self.kinds[:, :, 0, 0] / self._reported
        outcome = self.kinds[..., 1].sum(axis=2) / self._n
        return np.stack([outcome, share, share * self._kind_means[:, :, 0]], axis=2)

    @cached_property
    def _within(self) -> Floats:
        """Covariances of Y, D and Y·D by arm and stratum, with divisor n: between kinds and within kinds."""
        n, means = self.kinds[..., 0], self._kind_means
        spread = np.maximum(0.0, self.kinds[..., 2] / np.maximum(1.0, n) - means**2)
        outcome, share, _ = np.moveaxis(self._means, 2, 0)
        scale = self._n / self._reported
        by_kind = np.zeros((*n.shape, 3))  # influence of a patient of each kind on the means of Y, D and Y·D
        by_kind[..., 0] = means - outcome[:, :, None]
        by_kind[:, :, 0, 1], by_kind[:, :, 1, 1] = scale * (1.0 - share), -scale * share
        by_kind[..., 2] = by_kind[..., 1] * means[:, :, :1]
        of_outcome = np.zeros((*n.shape, 3))
        of_outcome[..., 0] = 1.0
        of_outcome[:, :, 0, 2] = scale
        each = np.einsum("aski,askj->askij", by_kind, by_kind)
        each += np.einsum("aski,askj->askij", of_outcome, of_outcome) * spread[..., None, None]
        found = np.einsum("ask,askij->asij", n / self._n[:, :, None], each)
        return np.where(np.abs(found) > ROUNDING, found, 0.0)

    @cached_property
    def _unbiased(self) -> Floats:
        """Covariances of the means by arm and stratum; a group of one patient uses its arm's pooled covariances."""
        n = self._n[:, :, None, None]
        pooled = (n * self._within).sum(axis=1) / np.maximum(1.0, (n - 1).sum(axis=1))
        return np.where(n > 1, n * self._within / np.maximum(1.0, n - 1), pooled[:, None]) / n

    @cached_property
    def _of_means(self) -> Floats:
        """Covariances of the weighted means over strata, by arm."""
        return np.asarray(np.einsum("s,asij->aij", self.shares**2, self._unbiased))

    @cached_property
    def _between(self) -> Floats:
        """Covariance that random sizes of strata and arms add if contrasts differ between strata.

        The robust variance of two-stage least squares includes it too. Here the differences between contrasts are
        reduced by the part that sampling error explains.
        """
        contrasts = self._means[0] - self._means[1]
        apart = contrasts - self.shares @ contrasts
        differ = apart[:, :, None] * apart[:, None, :] - self._unbiased.sum(axis=0)
        differ = np.where(np.abs(differ) > ROUNDING, differ, 0.0)
        n = self._n.sum(axis=0)
        factor = self.shares**2 * ((self._n[1] / n) ** 2 / self._n[0] + (self._n[0] / n) ** 2 / self._n[1])
        if self.patients is not None:
            factor = self.shares / self.patients.sum()
        values, vectors = np.linalg.eigh(np.einsum("s,sij->ij", factor, differ))
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

    @cached_property
    def _covariance(self) -> Floats:
        return np.asarray(self._of_means.sum(axis=0) + self._between + self.lost.sum(axis=0))

    @cached_property
    def _smoothed(self) -> Floats:
        """Covariances with four more patients in each arm: takers or not, with an outcome of 0 or 1."""
        variables = OUTCOME, TAKEN, TREATED
        mean = np.array([MORE.mean(one) for one in variables])
        covariance = np.array([[MORE.covariance(one, two) for two in variables] for one in variables])
        whole: Floats = self._between + self.lost.sum(axis=0)
        for arm, n in enumerate(self.n_assigned):
            apart = self.shares @ self._means[arm] - mean
            more = MORE.n * covariance + n * MORE.n / (n + MORE.n) * np.outer(apart, apart)
            of_mean = (self.shares**2 / np.maximum(1.0, self._n[arm] - 1)).sum()  # variance for unit spread
            whole = whole + (n * self._of_means[arm] + of_mean * more) / (n + MORE.n)
        return whole


def stratified_pair(
    filled: Completed, treatment: int, control: int, *, by_patients: bool = False
) -> StratifiedAssigned:
    """Return the patients assigned either arm, by stratum; takers are those who took the treatment."""
    arms, cells = [treatment, control], filled.cells
    others = np.ones(cells.n.shape[2], dtype=np.bool_)
    others[[treatment, NOT_KNOWN]] = False
    columns = [
        [table[:, arms, treatment], table[:, arms][..., others].sum(axis=2), table[:, arms, NOT_KNOWN]]
        for table in (cells.n, cells.total, cells.squares)
    ]
    kinds = np.moveaxis(np.array(columns, dtype=np.float64), (0, 1, 2, 3), (3, 2, 1, 0))
    has_both = (kinds[:, :, :2, 0].sum(axis=2) > 0).all(axis=0)
    kept = kinds[:, has_both]
    n_known = filled.known.n[:, arms].sum(axis=2).T[:, has_both]
    n_alone = int(kinds[:, ~has_both, :, 0].sum())
    patients = filled.known.by_stratum_patients[has_both] if by_patients else None
    found = StratifiedAssigned(kept, n_known, np.zeros((2, 3, 3)), n_alone, patients)
    if filled.known.is_complete or not has_both.any():
        return found
    weights = np.zeros(len(has_both))
    weights[has_both] = found.shares
    return replace(found, lost=np.array([_lost(filled, arm, treatment, weights) for arm in arms]))


def _lost(filled: Completed, arm: int, treatment: int, weights: Floats) -> Floats:
    """Return the covariances that missing outcomes add to an arm's weighted means of Y, D and Y·D."""
    n = filled.cells.n[:, arm]
    outcomes, taking = filled.within_strata(arm, weights), np.zeros(n.shape)
    reported = n.sum(axis=1) - n[:, NOT_KNOWN]
    taking[:, treatment] = weights * n[:, treatment] / np.maximum(1, reported)
    found = np.zeros((3, 3))
    for row, first in ((0, outcomes), (2, taking)):
        for column, second in ((0, outcomes), (2, taking)):
            found[row, column] = filled.lost(arm, first, second)
    return found
