"""Means and covariances, within each of two arms assigned, of the outcome Y, of D (took the treatment) and of Y·D."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

from adhere.analysis.cells import added
from adhere.analysis.estimates import ConfidenceSet
from adhere.analysis.fixed_sample.intervals import fieller
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
    def n_takers(self) -> int:
        """How many took the treatment."""
        return self.takers.n

    @property
    def n_others(self) -> int:
        """How many are known not to have taken it."""
        return self.others.n

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
        return bool((takers or not self.n_takers) and (others or not self.n_others))

    def mean(self, weights: Weights) -> float:
        """The mean of a weighted sum of Y, D and Y·D."""
        y, d, yd = weights
        return y * _mean(self.everyone) + self._share * (d + yd * _mean(self.takers))

    @property
    def _share(self) -> float:
        return self.n_takers / self.n_reported if self.n_reported else 0.0

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
        total += of_takers * self.n_takers / self.n * _spread(self.takers)
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
        return self.treatment.n_takers, self.control.n_takers

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
        found = (
            arm.covariance(weights, weights) / arm.n + arm.lost_covariance(weights, weights)
            for arm in (self.treatment, self.control)
        )
        return max(0.0, sum(found))
