"""Look by z-test: compares each arm with the control."""

import math
from typing import Any, Final

from adhere.compilation import implements, no_inline
from adhere.looks.judge import (
    BY_EQUIVALENCE,
    BY_FUTILITY,
    BY_INFERIORITY,
    BY_SUPERIORITY,
    N_VALUES,
    ZRules,
    status_against_control,
    status_of,
    write,
)

_NO_VARIANCE: Final = 1e-12  # a smaller variance is a rounding error


@implements(status_against_control, ZRules)
def z_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """Judge an arm by its z-statistic against the control.

    Equivalence is judged by the absolute difference plus a multiple of its standard error.
    """
    z, difference, error = z_statistic(evidence, arm, rules.control)
    equivalence, first = rules.equivalence[look], arm * N_VALUES
    at_most = abs(difference) + equivalence * error
    return status_of(
        write(values, first + BY_SUPERIORITY, z, rules.superiority[look]) >= rules.superiority[look],
        write(values, first + BY_INFERIORITY, z, rules.inferiority[look]) <= -rules.inferiority[look],
        write(values, first + BY_EQUIVALENCE, at_most, equivalence) < rules.margin,
        write(values, first + BY_FUTILITY, z, rules.futility[look]) <= rules.futility[look],
    )


@no_inline
def z_statistic(evidence: Any, arm: int, control: int) -> tuple[float, float, float]:
    """Return the z-statistic (with pooled variance), the difference of means, and its unpooled standard error.

    If one of the arms has no outcomes, z is 0 and the standard error is infinite. If all outcomes are equal, z is 0.
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
