"""Means and covariances, within each of two arms assigned, of the outcome Y, of D (took the treatment) and of Y·D."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

from adhere.analysis.cells import added
from adhere.analysis.confidence_set import ConfidenceSet
from adhere.analysis.fieller import fieller
from adhere.intervals import RewardSums

Weights = tuple[float, float, float]  # of Y, D and Y·D

OUTCOME: Weights = (1.0, 0.0, 0.0)
TAKEN: Weights = (0.0, 1.0, 0.0)
TREATED: Weights = (0.0, 0.0, 1.0)  # Y·D
UNTREATED: Weights = (-1.0, 0.0, 1.0)  # −Y·(1 − D)
ROUNDING = 1e-15  # of covariances of numbers from 0 to 1


@dataclass(frozen=True)
class Assigned:
    """Those assigned one arm whose outcome and what they took are known: who took the treatment, and who did not."""

    takers: RewardSums
    others: RewardSums

    @cached_property
    def everyone(self) -> RewardSums:
        """All of them."""
        return added((self.takers, self.others))

    @cached_property
    def smoothed(self) -> Assigned:
        """With a patient more for each of taking it or not and an outcome of 0 or 1: no cell is empty."""
        return Assigned(added((self.takers, MORE.takers)), added((self.others, MORE.others)))

    @property
    def n(self) -> int:
        """How many they are."""
        return self.everyone.n

    def mean(self, weights: Weights) -> float:
        """The mean of a weighted sum of Y, D and Y·D."""
        y, d, yd = weights
        return (y * self.everyone.total + d * self.takers.n + yd * self.takers.total) / self.n

    def covariance(self, first: Weights, second: Weights) -> float:
        """The covariance of two weighted sums, divided by n."""
        every, takers = self.everyone.squares, self.takers
        products = (
            (every, takers.total, takers.squares),
            (takers.total, float(takers.n), takers.total),
            (takers.squares, takers.total, takers.squares),
        )
        product = sum(
            a * b * cell for a, row in zip(first, products, strict=True) for b, cell in zip(second, row, strict=True)
        )
        found = product / self.n - self.mean(first) * self.mean(second)
        return found if abs(found) > ROUNDING else 0.0


MORE = Assigned(RewardSums(2, 1.0, 1.0), RewardSums(2, 1.0, 1.0))  # a patient of each kind


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
        return self.treatment.takers.n, self.control.takers.n

    @property
    def has_variances(self) -> bool:
        """Whether each arm has two patients at least."""
        return min(self.n_assigned) > 1

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
