"""Simultaneous confidence limits on the probabilities of cells, for a fixed sample or valid whenever one stops."""

from __future__ import annotations

import numpy as np

from adhere.analysis.records import Floats

_HALVINGS = 60  # of an interval within [0, 1]: to the last bit


def cell_limits(
    successes: Floats, n: Floats, level: float, n_cells: int, *, any_time: bool, binary: bool = True
) -> tuple[Floats, Floats]:
    """Between which values the mean of each cell lies, all `n_cells` of them at once with probability `level`.

    Each cell has the share α = (1 − level) / n_cells of the error (Bonferroni).

    - A fixed sample of zeros and ones: Clopper and Pearson's exact limits.
    - A fixed sample of numbers from 0 to 1: Hoeffding's bound in its form with relative entropies, the means p for
      which n·kl(p̂, p) < ln(2/α).
    - At any time: Robbins' mixture, the means p for which ∫ q^s (1 − q)^f dq < p^s (1 − p)^f / α, with s the sum
      and f = n − s. For numbers X from 0 to 1 that are not 0 or 1, (q/p)^X ((1−q)/(1−p))^(1−X) lies below its chord,
      whose mean is 1, so that it holds for them too.

    Parameters
    ----------
    successes
        The sum of each cell's zeros and ones, or of its numbers from 0 to 1.
    n
        How many patients each sum is of; none leave the mean anywhere from 0 to 1.
    level
        With which probability all limits hold.
    n_cells
        For how many cells at once.
    any_time
        Whether they hold at all times at once, and so whenever one stops.
    binary
        Whether the sums are of zeros and ones.

    Examples
    --------
    >>> low, high = cell_limits(np.array([8.0]), np.array([10.0]), 0.95, 1, any_time=False)
    >>> print(low.round(3), high.round(3))
    [0.444] [0.975]
    >>> low, high = cell_limits(np.array([8.0]), np.array([10.0]), 0.95, 1, any_time=True)
    >>> print(low.round(3), high.round(3))
    [0.353] [0.99]

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26. Hoeffding (1963), Journal of the American Statistical Association 58.
    Robbins (1970), Annals of Mathematical Statistics 41.

    """
    from scipy.special import betaincinv, betaln, xlogy

    failures = np.maximum(n - successes, 0.0)
    alpha = (1.0 - level) / n_cells
    if binary and not any_time:
        with np.errstate(all="ignore"):  # of no successes, or no failures: replaced in the next two lines
            low = betaincinv(successes, failures + 1.0, alpha / 2)
            high = betaincinv(successes + 1.0, failures, 1.0 - alpha / 2)
        return np.where(successes > 0.0, low, 0.0), np.where(failures > 0.0, high, 1.0)
    share = np.divide(successes, n, out=np.full_like(n, 0.5), where=n > 0.0)
    most = xlogy(successes, share) + xlogy(failures, 1.0 - share)  # the log-likelihood at the observed share
    threshold = most - betaln(successes + 1.0, failures + 1.0) - np.log(alpha) if any_time else np.log(2.0 / alpha)
    return (
        _crossing(share, np.zeros_like(share), successes, failures, most - threshold),
        _crossing(share, np.ones_like(share), successes, failures, most - threshold),
    )


def _crossing(inside: Floats, outside: Floats, successes: Floats, failures: Floats, least: Floats) -> Floats:
    """Where between the two the log-likelihood falls below `least`, rounded towards the outside."""
    from scipy.special import xlog1py, xlogy

    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        is_in = xlogy(successes, middle) + xlog1py(failures, -middle) > least
        inside, outside = np.where(is_in, middle, inside), np.where(is_in, outside, middle)
    return outside
