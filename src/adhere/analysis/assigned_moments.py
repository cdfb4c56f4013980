"""Means and covariances, within each of two arms assigned, of the outcome Y, of D (took the treatment) and of Y·D."""

from __future__ import annotations

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
_ROUNDING = 1e-15  # of covariances of numbers from 0 to 1


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
        more = RewardSums(2, 1.0, 1.0)
        return Assigned(added((self.takers, more)), added((self.others, more)))

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
        return found if abs(found) > _ROUNDING else 0.0


@dataclass(frozen=True)
class TwoAssigned:
    """Those assigned the treatment and those assigned the control."""

    treatment: Assigned
    control: Assigned

    @property
    def n(self) -> int:
        """How many they are."""
        return self.treatment.n + self.control.n

    def contrast(self, weights: Weights) -> float:
        """The difference of the means, treatment − control."""
        return self.treatment.mean(weights) - self.control.mean(weights)

    def covariance(self, first: Weights, second: Weights, *, unbiased: bool = True, smoothed: bool = False) -> float:
        """The covariance of two contrasts, each arm with its own: robust to unequal variances."""
        less = 1 if unbiased else 0
        return sum(
            (arm.smoothed if smoothed else arm).covariance(first, second) / (arm.n - less)
            for arm in (self.treatment, self.control)
        )

    def variance(self, weights: Weights, *, unbiased: bool = True, smoothed: bool = False) -> float:
        """The variance of a contrast; 0 where nothing varies."""
        return max(0.0, self.covariance(weights, weights, unbiased=unbiased, smoothed=smoothed))

    @property
    def has_variances(self) -> bool:
        """Whether each arm has two patients at least."""
        return min(self.treatment.n, self.control.n) > 1

    def fieller(
        self,
        numerator: Weights,
        denominator: Weights,
        level: float,
        method: str = "Fieller",
        *,
        smoothed: bool = False,
    ) -> ConfidenceSet:
        """Fieller's set of the ratio of two contrasts, for at least two patients an arm."""
        return fieller(
            self.contrast(numerator),
            self.contrast(denominator),
            self.variance(numerator, smoothed=smoothed),
            self.variance(denominator, smoothed=smoothed),
            self.covariance(numerator, denominator, smoothed=smoothed),
            level,
            method=method,
        )
