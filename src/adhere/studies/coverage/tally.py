"""How often an interval held what is true, how wide it was, and how sure one can be of that."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from adhere.analysis.confidence_set import ConfidenceSet, Shape, Validity


class Interval(NamedTuple):
    """A kind of interval: of what, by which method, and what it promises; not `judged` where it need not hold.

    `promise` is a `Validity`'s value. What is not judged stands beside the others, to be compared with.
    """

    view: str
    quantity: str
    method: str
    promise: str
    judged: bool


class Reported(NamedTuple):
    """An interval as an analysis reported it, None where it gave none, and what it should hold.

    Where only that matters, `given` is whether it holds that.
    """

    interval: Interval
    truth: float
    given: ConfidenceSet | bool | None


@dataclass
class Tally:
    """What became of the intervals of one kind over many trials."""

    truth: float
    n: int = 0
    n_covering: int = 0
    n_unbounded: int = 0
    n_empty: int = 0
    widths: array[float] = field(default_factory=lambda: array("d"))  # millions of them in all
    weights: array[int] = field(default_factory=lambda: array("l"))

    def add(self, given: ConfidenceSet | bool | None, times: int = 1) -> None:
        """Count an interval of so many trials; None is none."""
        if given is None:
            return
        self.n += times
        if isinstance(given, bool):
            self.n_covering += times * given
            return
        is_empty = given.shape is Shape.EMPTY
        self.n_covering += times * (self.truth in given)
        self.n_unbounded += times * (not given.is_bounded)
        self.n_empty += times * is_empty
        self.widths.append(0.0 if is_empty else given.high - given.low if given.is_bounded else math.inf)
        self.weights.append(times)

    def join(self, other: Tally) -> None:
        """Count what another has counted too."""
        for name in ("n", "n_covering", "n_unbounded", "n_empty"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.widths.extend(other.widths)
        self.weights.extend(other.weights)

    @property
    def median_width(self) -> float | None:
        """Half of the intervals whose ends are known are at most as wide; None where half have no bounds."""
        if not self.widths:
            return None
        order = np.argsort(self.widths)
        upto = np.cumsum(np.array(self.weights)[order])
        width = float(np.array(self.widths)[order][np.searchsorted(upto, upto[-1] / 2)])
        return width if math.isfinite(width) else None


def promises(validity: Validity) -> bool:
    """Whether a set of this validity is offered as one that holds."""
    return validity is not Validity.APPROXIMATE
