"""Difference and ratio of the mean outcomes of two groups, with the p-value of no difference."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from adhere.analysis.confidence_set import ConfidenceSet, Quantity, Shape, Validity
from adhere.analysis.fixed_sample.fieller import fieller
from adhere.analysis.fixed_sample.means import variance_of
from adhere.analysis.fixed_sample.score_interval import TwoProportions, score_difference, score_p_value, score_ratio
from adhere.intervals import RewardSums


class Contrast(NamedTuple):
    """What a comparison says, before it is put into words."""

    difference: Quantity
    ratio: Quantity
    p_value: float | None


def compare_groups(
    treated: RewardSums,
    controls: RewardSums,
    level: float = 0.95,
    validity: Validity = Validity.FIXED,
    *,
    information: tuple[float, float] = (1.0, 1.0),
) -> Contrast:
    """Compare two groups, neither of them empty.

    If some outcomes of a group are not known but completed, `information` is the part of the patients that the known
    outcomes are worth: the group counts as so many fewer, with the same mean and variance.

    Outcomes 0 or 1: Miettinen–Nurminen intervals and score test. Others: Welch's t for the difference, Fieller for
    the ratio. Where outcomes do not vary, or a group has one alone, their variance cannot be estimated; it is at most
    that of outcomes 0 or 1 with the same mean, so the intervals for those are taken.
    """
    n = treated.n + controls.n
    pair = TwoProportions(*_worth(treated, information[0]), *_worth(controls, information[1]))
    spread, control_spread = variance_of(treated) / pair.n_treated, variance_of(controls) / pair.n_controls
    binary = treated.binary and controls.binary
    as_binary = binary or min(treated.n, controls.n) < 2 or spread + control_spread == 0.0
    if as_binary:
        low, high = score_difference(pair, level)
        method, p_value = "Miettinen–Nurminen", score_p_value(pair)
    else:
        low, high, p_value = _welch(pair.difference, spread, pair.n_treated, control_spread, pair.n_controls, level)
        method = "Welch"
    difference = Quantity(pair.difference, (ConfidenceSet(low, high, method, validity, level=level),), n)
    return Contrast(difference, _ratio(n, pair, spread, control_spread, as_binary, level, validity), p_value)


def _worth(group: RewardSums, information: float) -> tuple[float, float]:
    """Sum and number of outcomes, scaled to the number that the group is worth (at least one)."""
    n = max(1.0, group.n * information)
    return min(group.total * (n / group.n), n), n


def _ratio(
    n: int,
    pair: TwoProportions,
    spread: float,
    control_spread: float,
    as_binary: bool,
    level: float,
    validity: Validity,
) -> Quantity:
    mean = pair.treated / pair.n_treated
    if not pair.treated and not pair.controls:
        return Quantity(None, n=n, reason="the mean outcome is 0 in both groups: their ratio is not defined")
    if as_binary or not pair.treated or not pair.controls:
        low, high = score_ratio(pair, level)
        found = ConfidenceSet(low, high, "Miettinen–Nurminen", validity, level=level)
    else:
        control_mean = pair.controls / pair.n_controls
        found = not_negative(fieller(mean, control_mean, spread, control_spread, 0.0, level, validity=validity))
    if not pair.controls:
        return Quantity(None, (found,), n, "the mean outcome of the control is 0: the ratio is infinite")
    return Quantity(mean / (pair.controls / pair.n_controls), (found,), n)


def not_negative(given: ConfidenceSet) -> ConfidenceSet:
    """The part of a set that is not below 0, as ratios of means of outcomes from 0 to 1 are."""
    if given.shape is Shape.INTERVAL and given.high >= 0.0:
        return replace(given, low=max(0.0, given.low))
    if given.shape is Shape.OUTSIDE and given.low < 0.0:
        return replace(given, low=max(0.0, given.high), high=math.inf, shape=Shape.INTERVAL)
    return given


def _welch(
    difference: float, spread: float, n: float, control_spread: float, n_controls: float, level: float
) -> tuple[float, float, float]:
    """Ends and p-value by Welch's t (Welch 1947, Biometrika 34); a difference of such means is from -1 to 1."""
    from scipy.special import stdtr, stdtrit

    variance = spread + control_spread
    freedom = variance**2 / (spread**2 / max(1.0, n - 1) + control_spread**2 / max(1.0, n_controls - 1))
    error = math.sqrt(variance)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
    p_value = 2.0 * float(stdtr(freedom, -abs(difference) / error))
    return max(-1.0, difference - half), min(1.0, difference + half), p_value
