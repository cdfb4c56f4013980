"""Means and covariances, within each of two arms assigned, of the outcome Y, of D (took the treatment) and of Y·D."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from adhere.analysis.cells import added
from adhere.analysis.confidence_set import ConfidenceSet
from adhere.analysis.fixed_sample.fieller import fieller
from adhere.analysis.fixed_sample.means import variance_of
from adhere.intervals import RewardSums

Weights = tuple[float, float, float]  # of Y, D and Y·D

OUTCOME: Weights = (1.0, 0.0, 0.0)
TAKEN: Weights = (0.0, 1.0, 0.0)
TREATED: Weights = (0.0, 0.0, 1.0)  # Y·D
UNTREATED: Weights = (-1.0, 0.0, 1.0)  # −Y·(1 − D)
ROUNDING = 1e-15  # of covariances of numbers from 0 to 1


@dataclass(frozen=True)
class Assigned:
    """Those assigned one arm of whom it is known what they took: who took the treatment, and who did not.

    `takers` and `others` have the outcomes that are known, `n_takers` and `n_others` count everybody. An outcome that
    is missing counts as the mean of those who took the same: missing at random, given arm assigned and taken.
    """

    takers: RewardSums
    others: RewardSums
    n_takers: int
    n_others: int

    @cached_property
    def everyone(self) -> RewardSums:
        """The outcomes of all of them that are known."""
        return added((self.takers, self.others))

    @cached_property
    def smoothed(self) -> Assigned:
        """With a patient more for each of taking it or not and an outcome of 0 or 1: no cell is empty."""
        takers, others = added((self.takers, MORE.takers)), added((self.others, MORE.others))
        return Assigned(takers, others, self.n_takers + MORE.n_takers, self.n_others + MORE.n_others)

    @property
    def n(self) -> int:
        """How many they are."""
        return self.n_takers + self.n_others

    @property
    def has_outcomes(self) -> bool:
        """Whether an outcome is known of takers, if there are any, and of others."""
        return bool((self.takers.n or not self.n_takers) and (self.others.n or not self.n_others))

    def mean(self, weights: Weights) -> float:
        """The mean of a weighted sum of Y, D and Y·D."""
        takers, others = self._means(weights)
        return (self.n_takers * takers + self.n_others * others) / self.n

    def _means(self, weights: Weights) -> tuple[float, float]:
        """The same of takers and of others."""
        y, d, yd = weights
        return (y + yd) * _mean(self.takers) + d, y * _mean(self.others)

    def covariance(self, first: Weights, second: Weights) -> float:
        """The covariance of the means of two weighted sums, times n: by the delta method where outcomes are missing.

        It is that of the shares, plus that of each group's mean of known outcomes.
        """
        share = self.n_takers / self.n
        (takers, others), (more_takers, more_others) = self._means(first), self._means(second)
        between = share * (1.0 - share) * (takers - others) * (more_takers - more_others)
        of_takers = (first[0] + first[2]) * (second[0] + second[2]) * share * _spread(self.takers, self.n_takers)
        of_others = first[0] * second[0] * (1.0 - share) * _spread(self.others, self.n_others)
        found = between + of_takers + of_others
        return found if abs(found) > ROUNDING else 0.0


def _mean(known: RewardSums) -> float:
    return known.total / known.n if known.n else 0.0


def _spread(known: RewardSums, n: int) -> float:
    """The variance of the mean of those of n outcomes that are known, times n; where one is, its variance is 1/4."""
    if not known.n:
        return 0.0
    variance = known.squares / known.n - _mean(known) ** 2
    variance = variance if variance > ROUNDING else 0.0
    if n == known.n:
        return variance
    return variance + (n / known.n - 1.0) * (variance_of(known) if known.n > 1 else 0.25)


MORE = Assigned(RewardSums(2, 1.0, 1.0), RewardSums(2, 1.0, 1.0), 2, 2)  # a patient of each kind


class Contrasts(ABC):
    """Differences of means between those assigned the treatment and those assigned the control."""

    @property
    @abstractmethod
    def n_assigned(self) -> tuple[int, int]:
        """How many were assigned treatment, and control."""

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
        return fieller(
            self.contrast(numerator),
            self.contrast(denominator),
            self.variance(numerator, smoothed=smoothed),
            self.variance(denominator, smoothed=smoothed),
            self.covariance(numerator, denominator, smoothed=smoothed),
            level,
            method=method,
        )


@dataclass(frozen=True)
class TwoAssigned(Contrasts):
    """Those assigned the treatment and those assigned the control."""

    treatment: Assigned
    control: Assigned

    @property
    def n_assigned(self) -> tuple[int, int]:
        """How many were assigned treatment, and control."""
        return self.treatment.n, self.control.n

    @property
    def n_takers(self) -> tuple[int, int]:
        """How many of them took the treatment."""
        return self.treatment.n_takers, self.control.n_takers

    @property
    def has_variances(self) -> bool:
        """Whether each arm has two patients at least whose outcome is known."""
        return min(self.treatment.everyone.n, self.control.everyone.n) > 1

    @property
    def n_without_outcome(self) -> int:
        """How many of them have no known outcome."""
        return self.n - self.treatment.everyone.n - self.control.everyone.n

    def means(self, weights: Weights) -> tuple[float, float]:
        """The means of a weighted sum of Y, D and Y·D in each arm."""
        return self.treatment.mean(weights), self.control.mean(weights)

    def covariance(self, first: Weights, second: Weights, *, smoothed: bool = False) -> float:
        """The covariance of two contrasts, each arm with its own: robust to unequal variances."""
        return sum(
            (arm.smoothed if smoothed else arm).covariance(first, second) / (arm.n - 1)
            for arm in (self.treatment, self.control)
        )

    def residual_variance(self, weights: Weights) -> float:
        """The robust variance that two-stage least squares gives a contrast that is 0: not corrected for few."""
        return max(0.0, sum(arm.covariance(weights, weights) / arm.n for arm in (self.treatment, self.control)))
