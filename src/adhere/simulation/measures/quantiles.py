"""Quantiles of millions of runs in a fixed amount of memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adhere.errors import InputError
from adhere.simulation.measures.moments import EqualArrays

ACCURACY = 0.005
_RATIO = (1.0 + ACCURACY) / (1.0 - ACCURACY)
_SMALLEST, _LARGEST = 1e-6, 1e9
_BUCKETS = math.ceil(math.log(_LARGEST / _SMALLEST) / math.log(_RATIO))
N_BUCKETS = 2 * _BUCKETS + 1
MAX_VALUES = 1000  # the largest number of values that a `Spread` stores


@dataclass(frozen=True, eq=False)
class QuantileSketch(EqualArrays):
    """Counts in buckets whose bounds grow by 1% on both sides of zero; quantiles are accurate to 0.5% of their value.

    The lowest and the highest value are stored exactly. Values below 10⁻⁶ in size count as zero. Sketches of separate
    runs add up exactly, in any order.

    Reference: Masson, Rim & Lee (2019), "DDSketch: a fast and fully-mergeable quantile sketch".

    >>> round(QuantileSketch.of([1.0, 2.0, 3.0]).quantile(0.5), 1)
    2.0
    """

    counts: NDArray[np.int64]
    lowest: float
    highest: float

    def used(self) -> tuple[NDArray[np.int16], NDArray[np.int64], float, float]:
        """Return the arguments of `from_used`, which are small because most buckets are empty."""
        used = np.flatnonzero(self.counts)
        return used.astype(np.int16), self.counts[used], self.lowest, self.highest

    def __reduce__(self) -> tuple[Any, ...]:
        return QuantileSketch.from_used, self.used()

    @staticmethod
    def from_used(used: Any, n_each: Any, lowest: float, highest: float) -> QuantileSketch:
        """Return the sketch with `n_each` values in each of the used buckets."""
        counts = np.zeros(N_BUCKETS, np.int64)
        counts[used] = n_each
        return QuantileSketch(counts, lowest, highest)

    @staticmethod
    def of(values: ArrayLike) -> QuantileSketch:
        """Return the sketch of some values."""
        array = np.asarray(values, dtype=np.float64)
        size = np.clip(np.abs(array), _SMALLEST, _LARGEST)
        bucket = np.ceil(np.log(size / _SMALLEST) / math.log(_RATIO)).astype(np.int64)
        bucket = np.minimum(bucket, _BUCKETS) * np.sign(array).astype(np.int64)
        counts = np.bincount(_BUCKETS + bucket, minlength=N_BUCKETS)
        return QuantileSketch(counts, float(array.min()), float(array.max()))

    def merge(self, other: QuantileSketch) -> QuantileSketch:
        """Return the sketch of both sets of values."""
        lowest, highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        return QuantileSketch(self.counts + other.counts, lowest, highest)

    def quantile(self, q: float) -> float:
        """Return the value below which a share q of the runs lies."""
        if not isinstance(q, (int, float, np.integer, np.floating)) or not 0.0 <= q <= 1.0:
            raise InputError("q", q, "a number from 0 to 1")
        rank = q * (int(self.counts.sum()) - 1)
        bucket = int(np.searchsorted(np.cumsum(self.counts), rank, side="right")) - _BUCKETS
        middle = 2.0 * _SMALLEST * _RATIO ** abs(bucket) / (1.0 + _RATIO)
        value = math.copysign(middle, bucket) if bucket else 0.0
        return min(max(value, self.lowest), self.highest)


@dataclass(frozen=True, eq=False)
class Spread(EqualArrays):
    """Number of occurrences of each value. If there are more than `MAX_VALUES` values, only a sketch is stored.

    The sketch is accurate to 0.5%. Spreads of separate trials add up, in any order.

    >>> spread = Spread.of(np.array([84.0, 24.0])).merge(Spread.of(np.array([84.0])))
    >>> spread.values.tolist(), spread.counts.tolist()
    ([24.0, 84.0], [1, 2])
    """

    values: NDArray[np.float64]  # in increasing order
    counts: NDArray[np.int64]
    sketch: QuantileSketch

    @staticmethod
    def of(values: NDArray[np.float64]) -> Spread:
        """Return the spread of some trials' values."""
        return _few(*np.unique(values, return_counts=True), QuantileSketch.of(values))

    def merge(self, other: Spread) -> Spread:
        """Return the spread of both sets of trials."""
        sketch = self.sketch.merge(other.sketch)
        if not (self.is_exact and other.is_exact):
            return Spread(np.zeros(0), np.zeros(0, np.int64), sketch)
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return _few(values, counts, sketch)

    @property
    def is_exact(self) -> bool:
        """Whether every value was stored."""
        return len(self.values) > 0


def _few(values: NDArray[np.float64], counts: NDArray[np.int64], sketch: QuantileSketch) -> Spread:
    kept = slice(len(values) if len(values) <= MAX_VALUES else 0)
    return Spread(values[kept], counts[kept], sketch)
