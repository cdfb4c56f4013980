"""How much the outcomes of those who took one arm speak for depending on the arm chosen, and by how much they do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from adhere.analysis.cells import added
from adhere.analysis.confidence_set import ConfidenceSet, Validity
from adhere.intervals import RewardSums, newcombe


@dataclass(frozen=True)
class Evidence:
    """What speaks against mediated: a Bayes factor and an e-value, and a p-value where the sample was a fixed one."""

    log_bayes_factor: float
    log_e: float
    p_value: float | None

    def refutes(self, level: float) -> bool:
        """Whether the e-value refutes it, however often one looked."""
        return self.log_e >= -math.log1p(-level)

    def differs(self, level: float) -> bool | None:
        """Whether the p-value does, at one look at a fixed sample."""
        return None if self.p_value is None else self.p_value <= 1.0 - level


def evidence_of(groups: Sequence[Sequence[RewardSums]], adaptive: bool) -> Evidence:
    """What groups of cells, each of those who took one arm, say together."""
    statistic, freedom = math.fsum(map(chi_square, groups)), sum(len(cells) - 1 for cells in groups)
    return Evidence(
        math.fsum(map(log_bayes_factor, groups)),
        math.fsum(map(log_e_value, groups)),
        None if adaptive else chi_square_p_value(statistic, freedom),
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
    """Pearson's statistic against one mean for all cells.

    >>> round(chi_square([RewardSums(10, 2.0, 2.0), RewardSums(10, 8.0, 8.0)]), 6)
    7.2
    """
    pooled = added(cells)
    mean = pooled.total / pooled.n
    variance = mean * (1.0 - mean)
    if variance <= 0.0:
        return 0.0
    return math.fsum(cell.n * (cell.total / cell.n - mean) ** 2 for cell in cells) / variance


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
    error for each pair (Bonferroni), or by any-time limits of each mean with an equal share for each of them. Numbers
    between 0 and 1 vary at most as zeros and ones of the same mean do, so that both hold for them.
    """
    if any_time:
        low, high = any_time_limits(cells, level, len(cells))
        pairs = [(low[i] - high[j], high[i] - low[j]) for i, j in combinations(range(len(cells)), 2)]
        method, validity = "Robbins' mixture", Validity.ANY_TIME
    else:
        n_pairs = math.comb(len(cells), 2)
        share = 1.0 - (1.0 - level) / n_pairs
        pairs = [
            newcombe(min(one.total, one.n), one.n, min(other.total, other.n), other.n, share)
            for one, other in combinations(cells, 2)
        ]
        method, validity = "Newcombe", Validity.FIXED
    if len(pairs) > 1:
        method += ", simultaneous"
    least = max(max(low, -high, 0.0) for low, high in pairs)
    most = max(max(-low, high) for low, high in pairs)
    return ConfidenceSet(least, min(1.0, most), method, validity, level=level)


def any_time_limits(cells: Sequence[RewardSums], level: float, n_cells: int) -> tuple[list[float], list[float]]:
    """Between which values the mean of each cell lies, of `n_cells` at once, whenever one stops."""
    from adhere.analysis.cell_limits import cell_limits

    n = np.array([float(cell.n) for cell in cells])
    total = np.minimum([cell.total for cell in cells], n)
    low, high = cell_limits(total, n, level, n_cells, any_time=True)
    return low.tolist(), high.tolist()
