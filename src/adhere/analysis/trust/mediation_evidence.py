"""How much the outcomes of those who took one arm speak for depending on the arm chosen, and by how much they do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from adhere.analysis.cells import added
from adhere.analysis.confidence_set import ConfidenceSet, Quantity, Validity
from adhere.analysis.fixed_sample.means import mean_of, variance_of
from adhere.intervals import RewardSums

_FEW = 50  # patients, below which Student's interval is not relied on for skewed outcomes


@dataclass(frozen=True)
class Evidence:
    """What speaks against mediated: a Bayes factor and an e-value, and a p-value where the sample was a fixed one."""

    log_bayes_factor: float
    log_e: float
    p_value: float | None
    binary: bool  # whether all outcomes are 0 or 1; the Bayes factor is exact only then

    def refutes(self, level: float) -> bool:
        """Whether the e-value refutes it, however often one looked."""
        return self.log_e >= -math.log1p(-level)

    def differs(self, level: float) -> bool | None:
        """Whether the p-value does, at one look at a fixed sample."""
        return None if self.p_value is None else self.p_value <= 1.0 - level


def evidence_of(groups: Sequence[Sequence[RewardSums]], adaptive: bool) -> Evidence:
    """What groups of cells, each of those who took one arm, say together."""
    freedom = sum(len(cells) - 1 for cells in groups)
    p_value = None if adaptive else chi_square_p_value(math.fsum(map(chi_square, groups)), freedom)
    return Evidence(
        math.fsum(map(log_bayes_factor, groups)),
        math.fsum(map(log_e_value, groups)),
        p_value,
        all(cell.binary for cells in groups for cell in cells),
    )


def log_bayes_factor(cells: Sequence[RewardSums]) -> float:
    """Of confounded, a mean for each cell, over mediated, one mean for all; every mean is uniform before the data.

    >>> cells = [RewardSums(1, 1.0, 1.0), RewardSums(1, 0.0, 0.0)]
    >>> round(math.exp(log_bayes_factor(cells)), 6)  # ½ · ½ over 1/6
    1.5
    """
    return _log_mixture(cells) - _log_mixture([added(cells)])


def log_e_value(cells: Sequence[RewardSums]) -> float:
    """The mixture likelihood of confounded over the largest likelihood of mediated: any-time valid against mediated.

    >>> cells = [RewardSums(1, 1.0, 1.0), RewardSums(1, 0.0, 0.0)]
    >>> round(math.exp(log_e_value(cells)), 6)  # ½ · ½ over ½ · ½
    1.0
    """
    return _log_mixture(cells) - _log_maximum(added(cells))


def chi_square(cells: Sequence[RewardSums]) -> float:
    """Pearson's statistic against one mean for all cells; where outcomes are not all 0 or 1, that of the F test.

    The F test's is the value of χ² that has the same p-value, so that those of several arms can be added.

    >>> round(chi_square([RewardSums(10, 2.0, 2.0), RewardSums(10, 8.0, 8.0)]), 6)
    7.2
    """
    from scipy.special import chdtri, fdtrc

    pooled = added(cells)
    mean, freedom = pooled.total / pooled.n, len(cells) - 1
    between = math.fsum(cell.n * (cell.total / cell.n - mean) ** 2 for cell in cells)
    within = math.fsum(variance_of(cell) * (cell.n - 1) for cell in cells)
    if not pooled.binary and within > 0.0:
        rest = pooled.n - len(cells)
        return float(chdtri(freedom, fdtrc(freedom, rest, between / freedom / (within / rest))))
    variance = mean * (1.0 - mean)  # of outcomes 0 and 1, and at most that of others with this mean
    return between / variance if variance > 0.0 else 0.0


def chi_square_p_value(statistic: float, freedom: int) -> float:
    """How probable a statistic as large is where all means are one."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))


def _log_mixture(cells: Sequence[RewardSums]) -> float:
    return math.fsum(_log_beta(1.0 + cell.total, 1.0 + max(0.0, cell.n - cell.total)) for cell in cells)


def _log_maximum(pooled: RewardSums) -> float:
    share = min(1.0, pooled.total / pooled.n)
    return pooled.n * sum(part * math.log(part) for part in (share, 1.0 - share) if part > 0.0)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def largest_difference(cells: Sequence[RewardSums], level: float, any_time: bool) -> ConfidenceSet:
    """Between which values the largest difference of two cells' means lies, in absolute value.

    It is covered wherever the differences of all pairs are at once: by Newcombe's interval with an equal share of the
    error for each pair (Bonferroni), or by any-time limits of each mean with an equal share for each of them. Where
    outcomes are not 0 or 1, Newcombe's way of combining two intervals is used with Student's; of few patients with
    Wilson's, which is then too wide rather than too narrow, as Student's can be for skewed outcomes.
    """
    if any_time:
        low, high = any_time_limits(cells, level, len(cells))
        pairs = [(low[i] - high[j], high[i] - low[j]) for i, j in combinations(range(len(cells)), 2)]
        method, validity = "Robbins' mixture", Validity.ANY_TIME
    else:
        share = 1.0 - (1.0 - level) / math.comb(len(cells), 2)
        means = [mean_of(_cautious(cell), share) for cell in cells]
        pairs = [_combined(one, other) for one, other in combinations(means, 2)]
        method = "Newcombe" if all(cell.binary for cell in cells) else "Student, combined as by Newcombe"
        validity = Validity.FIXED
    if len(pairs) > 1:
        method += ", simultaneous"
    least = max(max(low, -high, 0.0) for low, high in pairs)
    most = max(max(-low, high) for low, high in pairs)
    return ConfidenceSet(least, min(1.0, most), method, validity, level=level)


def _cautious(cell: RewardSums) -> RewardSums:
    """Outcomes of few patients as if they varied as much as zeros and ones of the same mean."""
    return cell if cell.n >= _FEW else RewardSums(cell.n, cell.total, cell.total, binary=True)


def _combined(one: Quantity, other: Quantity) -> tuple[float, float]:
    """Newcombe's interval for the difference of two means, from the interval of each."""
    (own,), (others,) = one.sets, other.sets
    mean, other_mean = one.value or 0.0, other.value or 0.0
    below = math.hypot(mean - own.low, others.high - other_mean)
    above = math.hypot(own.high - mean, other_mean - others.low)
    return mean - other_mean - below, mean - other_mean + above


def any_time_limits(cells: Sequence[RewardSums], level: float, n_cells: int) -> tuple[list[float], list[float]]:
    """Between which values the mean of each cell lies, of `n_cells` at once, whenever one stops."""
    from adhere.analysis.bounding.cell_limits import cell_limits

    n = np.array([float(cell.n) for cell in cells])
    total = np.minimum([cell.total for cell in cells], n)
    low, high = cell_limits(total, n, level, n_cells, any_time=True)
    return low.tolist(), high.tolist()
