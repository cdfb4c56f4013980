"""Figures as the paper prints them, and the rule by which ours agree with them."""

from __future__ import annotations

import math
from typing import NamedTuple

from adhere.intervals import Z95
from adhere.report.section import AGREES, DIFFERS
from adhere.simulation import Estimate
from adhere.studies.lineup.entries import HEADLINES


class Published(NamedTuple):
    """A mean and its 95% interval, as printed."""

    mean: float
    low: float
    high: float

    @property
    def se(self) -> float:
        """What the interval's width says of the standard error."""
        return (self.high - self.low) / (2 * Z95)

    def agrees_with(self, ours: Estimate) -> bool:
        """Whether the two means differ by no more than chance, at the 5% level.

        >>> Published(7.9, 7.2, 8.7).agrees_with(Estimate(7.2, 0.2, 6.8, 7.6))
        True
        """
        return abs(self.mean - ours.mean) <= Z95 * math.hypot(self.se, ours.se or 0.0)

    def holds(self, ours: Estimate) -> bool:
        """Whether our mean lies inside the printed interval."""
        return self.low <= ours.mean <= self.high

    def verdict(self, ours: Estimate) -> str:
        """Whether a figure agrees."""
        return AGREES if self.agrees_with(ours) else DIFFERS

    def verdict_and_place(self, ours: Estimate) -> str:
        """The verdict, and whether our figure lies inside the printed interval."""
        return f"{self.verdict(ours)}; {'inside' if self.holds(ours) else 'outside'} the paper's interval"

    def __str__(self) -> str:
        return f"{self.mean} [{self.low:.1f}, {self.high:.1f}]"


_NAMES = ("Thompson sampling under Chosen", "ThompsonBounded", "HierarchicalBandit on ε-greedy")
NAMES = dict(zip(HEADLINES, _NAMES, strict=True))
# Section 5, "Stroke trial": surplus lives pooled over both trials, 2000 runs of 10,000 patients.
_FIGURES = (Published(7.9, 7.2, 8.7), Published(8.9, 8.1, 9.7), Published(9.2, 8.3, 10.0))
HEADLINE_FIGURES = dict(zip(HEADLINES, _FIGURES, strict=True))
