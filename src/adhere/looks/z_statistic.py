"""The z-statistic of two arms."""

from __future__ import annotations

import math
from typing import Any, Final

from adhere.compilation import no_inline

_NO_VARIANCE: Final = 1e-12  # what is left by rounding of a variance of equal outcomes is less


@no_inline
def z_statistic(evidence: Any, arm: int, control: int) -> tuple[float, float, float]:
    """The z-statistic of a difference of means by the pooled variance, the difference, and its unpooled error.

    z is 0 and the error infinite where one of both has no outcomes; z is 0 where all outcomes are equal.
    """
    n, n_control = evidence.n[arm], evidence.n[control]
    if n == 0.0 or n_control == 0.0:
        return 0.0, 0.0, math.inf
    mean, mean_control = evidence.sums[arm] / n, evidence.sums[control] / n_control
    mean_of_both = (evidence.sums[arm] + evidence.sums[control]) / (n + n_control)
    mean_square = (evidence.squares[arm] + evidence.squares[control]) / (n + n_control)
    pooled = mean_square - mean_of_both * mean_of_both
    difference = mean - mean_control
    variance = max(0.0, evidence.squares[arm] / n - mean * mean)
    variance_of_control = max(0.0, evidence.squares[control] / n_control - mean_control * mean_control)
    error = math.sqrt(variance / n + variance_of_control / n_control)
    if pooled <= _NO_VARIANCE:
        return 0.0, difference, error
    return difference / math.sqrt(pooled * (1.0 / n + 1.0 / n_control)), difference, error
