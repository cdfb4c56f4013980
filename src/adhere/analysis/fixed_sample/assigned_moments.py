"""Means and covariances, within each of two arms assigned, of the outcome Y, of D (took the treatment) and of Y·D."""

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

Weights = tuple[float, float, float]  # of Y, D and Y·D

OUTCOME: Weights = (1.0, 0.0, 0.0)
TAKEN: Weights = (0.0, 1.0, 0.0)
TREATED: Weights = (0.0, 0.0, 1.0)  # Y·D
UNTREATED: Weights = (-1.0, 0.0, 1.0)  # −Y·(1 − D)
ROUNDING = 1e-15  # of covariances of numbers from 0 to 1


@dataclass(frozen=True)
class Assigned:
    """Patients assigned one arm, by whether they took the treatment, did not, or did not report it.

    `takers`, `others` and `unknown` have an outcome for everybody: missing outcomes are completed (see `Completed`).
    `known` has the known outcomes of these three groups. The share that took the treatment is among patients who
    reported what they took, and the mean of Y·D is that share times the takers' mean. `lost` is what missing outcomes
    add to the variance of the mean of Y, to its covariance with the mean of Y·D, and to the variance of the mean of
    Y·D. `information` is the share of the patients that the known outcomes are worth for the mean of Y.
    """

    takers: RewardSums
    others: RewardSums
    unknown: RewardSums = field(default_factory=RewardSums)
    known: tuple[RewardSums, RewardSums, RewardSums] | None = None
    lost: tuple[float, float, float] = (0.0, 0.0, 0.0)
    information: float = 1.0

    @cached_property
    def everyone(self) -> RewardSums:
        """The outcomes of all of them."""
        return added((self.takers, self.others, self.unknown))

    @cached_property
    def smoothed(self) -> Assigned:
        """With a patient more for each of taking it or not and an outcome of 0 or 1: no cell is empty."""
        takers, others = added((self.takers, MORE.takers)), added((self.others, MORE.others))
        return replace(self, takers=takers, others=others)

    @property
    def n(self) -> int:
        """How many they are."""
        return self.n_reported + self.unknown.n

    @property
    def n_reported(self) -> int:
        """Number of patients who reported what they took."""
        return self.takers.n + self.others.n

    @property
    def known_takers(self) -> RewardSums:
        """The known outcomes of takers."""
        return self.takers if self.known is None else self.known[0]

    @property
    def known_others(self) -> RewardSums:
        """The known outcomes of those who did not take it."""
        return self.others if self.known is None else self.known[1]

    @property
    def n_known(self) -> int:
        """How many of them have a known outcome."""
        return self.n if self.known is None else sum(one.n for one in self.known)

    @property
    def has_outcomes(self) -> bool:
        """Whether an outcome is known of takers, if there are any, and of others."""
        takers, others = self.known_takers.n, self.known_others.n
        return bool((takers or not self.takers.n) and (others or not self.others.n))

    def mean(self, weights: Weights) -> float:
        """The mean of a weighted sum of Y, D and Y·D."""
        y, d, yd = weights
        return y * _mean(self.everyone) + self._share * (d + yd * _mean(self.takers))

    @property
    def _share(self) -> float:
        return self.takers.n / self.n_reported if self.n_reported else 0.0

    def covariance(self, first: Weights, second: Weights) -> float:
        """The covariance of the means of two weighted sums, times n, as if all outcomes were known.

        It is that of the influence of each patient: of the kind of patient (took it, did not, not known), and of the
        outcome around the mean of the kind.
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
        """Influence on n times the mean of being a taker, one of the others, or a patient without a report."""
        (y, d, yd), share, mean = weights, self._share, _mean(self.everyone)
        taking = (d + yd * _mean(self.takers)) * (self.n / self.n_reported if self.n_reported else 0.0)
        return (
            y * (_mean(self.takers) - mean) + (1.0 - share) * taking,
            y * (_mean(self.others) - mean) - share * taking,
            y * (_mean(self.unknown) - mean),
        )

    def lost_covariance(self, first: Weights, second: Weights) -> float:
        """Covariance that missing outcomes add to the means of two weighted sums."""
        of_y, of_both, of_yd = self.lost
        (y, _, yd), (other_y, _, other_yd) = first, second
        return y * other_y * of_y + (y * other_yd + yd * other_y) * of_both + yd * other_yd * of_yd


def _mean(known: RewardSums) -> float:
    return known.total / known.n if known.n else 0.0


def _spread(known: RewardSums) -> float:
    """The variance of the outcomes, divided by n."""
    if not known.n:
        return 0.0
    variance = known.squares / known.n - _mean(known) ** 2
    return variance if variance > ROUNDING else 0.0


MORE = Assigned(RewardSums(2, 1.0, 1.0), RewardSums(2, 1.0, 1.0))  # a patient of each kind


class Contrasts(ABC):
    """Differences of means between those assigned the treatment and those assigned the control."""

    @property
    @abstractmethod
    def n_assigned(self) -> tuple[int, int]:
        """How many were assigned treatment, and control."""

    @property
    @abstractmethod
    def n_reported(self) -> tuple[int, int]:
        """Numbers of patients who reported what they took."""

    @property
    @abstractmethod
    def n_takers(self) -> tuple[int, int]:
        """How many of them took the treatment."""

    @property
    @abstractmethod
    def has_variances(self) -> bool:
        """Whether there are patients enough to estimate variances."""

    @abstractmethod
    def means(self, weights: Weights) -> tuple[float, float]:
        """The means of a weighted sum of Y, D and Y·D in each arm."""

    @abstractmethod
    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """The covariance of two contrasts, each arm with its own: robust to unequal variances."""

    @abstractmethod
    def residual_variance(self, weights: Weights) -> float:
        """The robust variance that two-stage least squares gives a contrast that is 0."""

    @abstractmethod
    def varies(self, weights: Weights) -> bool:
        """Whether a weighted sum of Y, D and Y·D varies among the patients, missing outcomes completed."""

    @property
    def n(self) -> int:
        """How many they are."""
        return sum(self.n_assigned)

    def contrast(self, weights: Weights) -> float:
        """The difference of the means, treatment − control."""
        treatment, control = self.means(weights)
        return treatment - control

    def variance(self, weights: Weights, *, smoothed: bool = False) -> float:
        """The variance of a contrast; 0 where nothing varies."""
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
        """Fieller's set of the ratio of two contrasts that have variances."""
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
        """How many were assigned treatment, and control."""
        return self.treatment.n, self.control.n

    @property
    def n_reported(self) -> tuple[int, int]:
        """Numbers of patients who reported what they took."""
        return self.treatment.n_reported, self.control.n_reported

    @property
    def n_takers(self) -> tuple[int, int]:
        """How many of them took the treatment."""
        return self.treatment.takers.n, self.control.takers.n

    @property
    def has_variances(self) -> bool:
        """Whether each arm has two patients at least whose outcome is known."""
        return min(self.treatment.n_known, self.control.n_known) > 1

    def means(self, weights: Weights) -> tuple[float, float]:
        """The means of a weighted sum of Y, D and Y·D in each arm."""
        return self.treatment.mean(weights), self.control.mean(weights)

    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """The covariance of two contrasts, each arm with its own: robust to unequal variances."""
        return sum(
            (arm.smoothed if smoothed else arm).covariance(first, second) / (arm.n - 1)
            + arm.lost_covariance(first, second)
            for arm in (self.treatment, self.control)
        )

    def varies(self, weights: Weights) -> bool:
        """Whether a weighted sum of Y, D and Y·D varies among the patients, missing outcomes completed."""
        return any(arm.covariance(weights, weights) > 0.0 for arm in (self.treatment, self.control))

    def residual_variance(self, weights: Weights) -> float:
        """The robust variance that two-stage least squares gives a contrast that is 0: not corrected for few."""
        arms, both = (self.treatment, self.control), (weights, weights)
        return max(0.0, sum(arm.covariance(*both) / arm.n + arm.lost_covariance(*both) for arm in arms))


@dataclass(frozen=True, eq=False)
class StratifiedAssigned(Contrasts):
    """Patients assigned treatment (0) and control (1), in strata where both arms have reports of what was taken.

    `kinds[arm, stratum]` has a row for takers, one for others and one for patients who did not report what they took,
    each with n, Σy and Σy²; missing outcomes are completed (see `Completed`). `n_known[arm, stratum]` counts the
    known outcomes, and `lost[arm]` is what the missing ones add to the covariances of the weighted means of Y, D and
    Y·D. The weight of a stratum is n₁n₀/(n₁ + n₀), like Mantel and Haenszel's and that of two-stage least squares
    with a constant for each stratum. If `patients` is given, the weight is the stratum's number of patients.
    """

    kinds: Floats
    n_known: Ints
    lost: Floats
    n_alone: int  # patients in strata with one of the arms only
    patients: Floats | None = None

    @property
    def n_assigned(self) -> tuple[int, int]:
        """How many were assigned treatment, and control."""
        return int(self._n[0].sum()), int(self._n[1].sum())

    @property
    def n_reported(self) -> tuple[int, int]:
        """Numbers of patients who reported what they took."""
        return int(self._reported[0].sum()), int(self._reported[1].sum())

    @property
    def n_takers(self) -> tuple[int, int]:
        """How many of them took the treatment."""
        return int(self.kinds[0, :, 0, 0].sum()), int(self.kinds[1, :, 0, 0].sum())

    @property
    def has_variances(self) -> bool:
        """Whether each arm has two known outcomes at least in some stratum."""
        return bool((self.n_known.max(axis=1, initial=0) > 1).all())

    @property
    def outcomes(self) -> list[tuple[RewardSums, RewardSums]]:
        """The outcomes of both arms in each stratum."""
        treated, controls = ([sums(int(n), y, yy) for n, y, yy in arm.sum(axis=1).tolist()] for arm in self.kinds)
        return list(zip(treated, controls, strict=True))

    @property
    def lost_variances(self) -> tuple[float, float]:
        """The variances that missing outcomes add to the weighted mean outcomes of the two arms."""
        return max(0.0, float(self.lost[0, 0, 0])), max(0.0, float(self.lost[1, 0, 0]))

    def means(self, weights: Weights) -> tuple[float, float]:
        """The means of a weighted sum of Y, D and Y·D in each arm, strata weighted alike in both."""
        treatment, control = (self.shares @ self._means @ np.array(weights)).tolist()
        return treatment, control

    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """The covariance of two contrasts, each arm and stratum with its own: robust to unequal variances."""
        matrix = self._smoothed if smoothed else self._covariance
        return float(np.array(first) @ matrix @ np.array(second))

    def varies(self, weights: Weights) -> bool:
        """Whether a weighted sum of Y, D and Y·D varies among the patients, missing outcomes completed."""
        vector = np.array(weights)
        return bool(vector @ (self._of_means.sum(axis=0) + self._between) @ vector > 0.0)

    def residual_variance(self, weights: Weights) -> float:
        """The robust variance of two-stage least squares, of a contrast that is 0: around the means of strata."""
        vector, n = np.array(weights), self._n
        means = self._means @ vector
        around = means - (n * means).sum(axis=0) / n.sum(axis=0)
        spread = np.einsum("asij,i,j->as", self._within, vector, vector) + around**2
        found = float((self.shares**2 * spread / n).sum() + vector @ self.lost.sum(axis=0) @ vector)
        return max(0.0, found)  # a cell that borrows its mean may add a negative variance

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
        """By arm and stratum, of Y, D and Y·D."""
        share = self.kinds[:, :, 0, 0] / self._reported
        outcome = self.kinds[..., 1].sum(axis=2) / self._n
        return np.stack([outcome, share, share * self._kind_means[:, :, 0]], axis=2)

    @cached_property
    def _within(self) -> Floats:
        """Their covariances by arm and stratum, divided by n: by kind, and of the outcomes within each kind."""
        n, means = self.kinds[..., 0], self._kind_means
        spread = np.maximum(0.0, self.kinds[..., 2] / np.maximum(1.0, n) - means**2)
        outcome, share, _ = np.moveaxis(self._means, 2, 0)
        scale = self._n / self._reported
        by_kind = np.zeros((*n.shape, 3))  # how far a patient of each kind moves the means of Y, D and Y·D
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
        """The covariances of the means by arm and stratum; a group of one has those of its arm's others."""
        n = self._n[:, :, None, None]
        pooled = (n * self._within).sum(axis=1) / np.maximum(1.0, (n - 1).sum(axis=1))
        return np.where(n > 1, n * self._within / np.maximum(1.0, n - 1), pooled[:, None]) / n

    @cached_property
    def _of_means(self) -> Floats:
        """By arm: the covariances of the means over strata."""
        return np.asarray(np.einsum("s,asij->aij", self.shares**2, self._unbiased))

    @cached_property
    def _between(self) -> Floats:
        """Covariance that random sizes of strata and arms add where contrasts differ between strata.

        Two-stage least squares' robust variance has it too; here it is net of what chance makes contrasts differ by.
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
        """With four patients more in each arm: whoever took it or not, with an outcome of 0 or 1."""
        variables = OUTCOME, TAKEN, TREATED
        mean = np.array([MORE.mean(one) for one in variables])
        covariance = np.array([[MORE.covariance(one, two) for two in variables] for one in variables])
        whole: Floats = self._between + self.lost.sum(axis=0)
        for arm, n in enumerate(self.n_assigned):
            apart = self.shares @ self._means[arm] - mean
            more = MORE.n * covariance + n * MORE.n / (n + MORE.n) * np.outer(apart, apart)
            of_mean = (self.shares**2 / np.maximum(1.0, self._n[arm] - 1)).sum()  # its variance, if one has 1
            whole = whole + (n * self._of_means[arm] + of_mean * more) / (n + MORE.n)
        return whole


def stratified_pair(
    filled: Completed, treatment: int, control: int, *, by_patients: bool = False
) -> StratifiedAssigned:
    """Patients assigned either arm, stratum by stratum; takers took the treatment."""
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
    """The covariances that missing outcomes add to an arm's weighted means of Y, D and Y·D."""
    n = filled.cells.n[:, arm]
    outcomes, taking = filled.within_strata(arm, weights), np.zeros(n.shape)
    reported = n.sum(axis=1) - n[:, NOT_KNOWN]
    taking[:, treatment] = weights * n[:, treatment] / np.maximum(1, reported)
    found = np.zeros((3, 3))
    for row, first in ((0, outcomes), (2, taking)):
        for column, second in ((0, outcomes), (2, taking)):
            found[row, column] = filled.lost(arm, first, second)
    return found
