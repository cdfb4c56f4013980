"""How a number is spread over trials: every value while there are few, buckets where there are many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adhere.evaluation.characteristics.outcomes import Floats, Ints
from adhere.simulation.measures.moments import EqualArrays
from adhere.simulation.measures.quantiles import QuantileSketch

MAX_VALUES = 1000


@dataclass(frozen=True, eq=False)
class Spread(EqualArrays):
    """How often each value occurs; where more than `MAX_VALUES` do, none is kept, and the sketch knows them to 0.5%.

    Those of separate trials add up, in any order.

    >>> spread = Spread.of(np.array([84.0, 24.0])).merge(Spread.of(np.array([84.0])))
    >>> spread.values.tolist(), spread.counts.tolist()
    ([24.0, 84.0], [1, 2])
    """

    values: Floats  # in increasing order
    counts: Ints
    sketch: QuantileSketch

    @staticmethod
    def of(values: Floats) -> Spread:
        """That of some trials."""
        return _few(*np.unique(values, return_counts=True), QuantileSketch.of(values))

    def merge(self, other: Spread) -> Spread:
        """That of both."""
        sketch = self.sketch.merge(other.sketch)
        if not (self.is_exact and other.is_exact):
            return Spread(np.zeros(0), np.zeros(0, np.int64), sketch)
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return _few(values, counts, sketch)

    @property
    def is_exact(self) -> bool:
        """Whether every value was kept."""
        return len(self.values) > 0


def _few(values: Floats, counts: Ints, sketch: QuantileSketch) -> Spread:
    kept = slice(len(values) if len(values) <= MAX_VALUES else 0)
    return Spread(values[kept], counts[kept], sketch)
