"""Limits on the shares and means of principal strata that hold under adaptive allocation, whenever one stops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adhere.analysis.bounding.cell_limits import cell_limits
from adhere.analysis.confidence_set import ConfidenceSet, Quantity, Validity
from adhere.analysis.fixed_sample.assigned_moments import Assigned, TwoAssigned
from adhere.intervals import RewardSums

_METHOD = "limits on cells (Robbins)"
Ends = tuple[float, float]


def any_time_mean(found: Quantity, outcomes: RewardSums, level: float) -> Quantity:
    """The mean of those assigned one arm, or of those of them who took one: a share where outcomes are 0 or 1."""
    return _with_limits(found, _limits(outcomes.total, outcomes.n, level, 1), level)


def any_time_difference(found: Quantity, taking: tuple[RewardSums, RewardSums], level: float) -> Quantity:
    """The share of compliers: how many more take the treatment when assigned it than when assigned the control."""
    (low, high), (control_low, control_high) = (_limits(one.total, one.n, level, 2) for one in taking)
    return _with_limits(found, (low - control_high, high - control_low), level)


def any_time_complier_mean(found: Quantity, pair: TwoAssigned, *, treated: bool, level: float) -> Quantity:
    """The mean of the compliers with the treatment, or without it.

    With A and B the shares of compliers with an outcome of 1 and of 0, each a difference between the two arms
    assigned and not below 0, it is A / (A + B), and least where A is least and B is largest.
    """
    cells = [_with_one_and_zero(one, treated=treated, level=level) for one in (pair.treatment, pair.control)]
    with_one, with_zero = [one for one, _ in cells], [zero for _, zero in cells]
    if not treated:  # more take nothing of it when assigned the control
        with_one, with_zero = with_one[::-1], with_zero[::-1]
    (one_low, one_high), (zero_low, zero_high) = _difference(with_one), _difference(with_zero)
    low = one_low / (one_low + zero_high) if one_low > 0.0 else 0.0
    high = one_high / (one_high + zero_low) if one_high > 0.0 else 0.0
    return _with_limits(found, (low, max(low, high)), level)


def _with_one_and_zero(arm: Assigned, *, treated: bool, level: float) -> tuple[Ends, Ends]:
    """The shares of those assigned an arm who took it (or did not) and had an outcome of 1, and of 0.

    Where outcomes are missing, they are the share who took it times that among those of them whose outcome is known.
    """
    group, n_group = (arm.known_takers, arm.n_takers) if treated else (arm.known_others, arm.n_others)
    n = arm.n_reported
    if group.n == n_group:
        return _limits(group.total, n, level, 4), _limits(group.n - group.total, n, level, 4)
    share, mean = _limits(n_group, n, level, 4), _limits(group.total, group.n, level, 4)
    return (share[0] * mean[0], share[1] * mean[1]), (share[0] * (1.0 - mean[1]), share[1] * (1.0 - mean[0]))


def _limits(total: float, n: int, level: float, n_cells: int) -> Ends:
    low, high = cell_limits(np.array([float(total)]), np.array([float(n)]), level, n_cells, any_time=True)
    return float(low[0]), float(high[0])


def _difference(limits: list[Ends]) -> Ends:
    (low, high), (control_low, control_high) = limits
    return max(0.0, low - control_high), max(0.0, high - control_low)


def _with_limits(found: Quantity, ends: Ends, level: float) -> Quantity:
    if found.value is None and not found.sets:
        return found
    return replace(found, sets=(ConfidenceSet(*ends, _METHOD, Validity.ANY_TIME, level=level),))
