"""Mean and spread of many quantities at once, merged over blocks of runs in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adhere.intervals import Z95, Estimate

Floats = NDArray[np.float64]


class EqualArrays:
    """Base of classes whose values are equal if all their fields are equal, including arrays."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(map(np.array_equal, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, eq=False)
class Moments(EqualArrays):
    """Number of runs, mean of each quantity over them, and sum of squared deviations from the mean."""

    n: int
    mean: Floats
    deviations: Floats

    @staticmethod
    def of(rows: Floats) -> Moments:
        """Return the moments of a block: one row for each run, one column for each quantity."""
        mean = rows.mean(axis=0)
        return Moments(len(rows), mean, ((rows - mean) ** 2).sum(axis=0))

    @staticmethod
    def of_blocks(rows: Floats, size: int) -> list[Moments]:
        """Return the moments of consecutive blocks of a given size. The last block may be shorter."""
        whole = len(rows) // size
        blocks = rows[: whole * size].reshape(whole, size, rows.shape[1])
        means = blocks.mean(axis=1)
        deviations = ((blocks - means[:, None, :]) ** 2).sum(axis=1)
        moments = [Moments(size, mean, deviation) for mean, deviation in zip(means, deviations, strict=True)]
        return [*moments, Moments.of(rows[whole * size :])] if whole * size < len(rows) else moments

    def merge(self, later: Moments) -> Moments:
        """Return the moments of this block and a later one together (Chan, Golub & LeVeque, 1983)."""
        n = self.n + later.n
        difference = later.mean - self.mean
        mean = self.mean + difference * (later.n / n)
        deviations = self.deviations + later.deviations + difference**2 * (self.n * later.n / n)
        return Moments(n, mean, deviations)

    def standard_error(self) -> Floats:
        """Return the Monte Carlo standard error of each mean, or NaN for a single run."""
        if self.n < 2:
            return np.full_like(self.mean, np.nan)
        error: Floats = np.sqrt(self.deviations / (self.n - 1) / self.n)
        return error

    def estimate(self, column: int) -> Estimate:
        """Return the mean of one quantity, with its interval.

        >>> Moments.of(np.array([[1.0], [3.0]])).estimate(0)
        <Estimate: 2 [0.04004, 3.96]>
        """
        mean = float(self.mean[column])
        if self.n < 2:
            return Estimate(mean, None, None, None)
        error = float(self.standard_error()[column])
        return Estimate(mean, error, mean - Z95 * error, mean + Z95 * error)

    def mean_share(self, column: int) -> Estimate:
        """Return the mean of a quantity that is a share, with an interval clipped to [0, 1]."""
        one = self.estimate(column)
        if one.low is None or one.high is None:
            return one
        return replace(one, low=max(0.0, one.low), high=min(1.0, one.high))
