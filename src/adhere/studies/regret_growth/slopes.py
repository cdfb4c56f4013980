"""Measure how fast regret grows with the number of patients: exponents and bends, with intervals."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adhere.errors import InputError
from adhere.intervals import t95
from adhere.simulation import Estimate

Floats = NDArray[np.float64]
TOLERANCE = 0.05  # tolerance of an exponent

LOGARITHMIC, ROOT, FASTER, LINEAR, UNCLEAR = "log T", "√T", "faster than √T", "T", "unclear"


def combination(weights: ArrayLike, values: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> Estimate:
    """Return a weighted sum of means over runs, with a 95% interval that is valid for any correlation between the
    means.

    Simulations with the same seed share the patients of their first runs. A mean over m runs and one over n > m runs
    may therefore be correlated, by at most √(m/n). Every pair is assumed to be so correlated, in the direction that
    widens the interval. With few runs the interval is also wider because it uses Student's t, with the degrees of
    freedom of Welch and Satterthwaite.

    >>> combination([1, -1], [3.0, 1.0], [0.3, 0.4], n_runs=[100, 100]).se  # as if perfectly correlated
    0.7
    >>> combination([1, -1], [3.0, 1.0], [0.3, 0.4], n_runs=[1000, 10]).se  # nearly independent
    0.523...
    """
    shares = np.abs(np.asarray(weights, float) * np.asarray(errors, float))
    runs = np.asarray(n_runs, float)
    common = np.sqrt(np.minimum.outer(runs, runs) / np.maximum.outer(runs, runs))
    mean, se = float(np.dot(weights, values)), float(np.sqrt(shares @ common @ shares))
    half = t95(_freedom(shares, runs)) * se
    return Estimate(mean, se, mean - half, mean + half)


def _freedom(shares: Floats, runs: Floats) -> float:
    variances = shares**2
    spread = float(np.sum(variances**2 / (runs - 1)))
    return float(variances.sum() ** 2 / spread) if spread > 0.0 else float(runs.min() - 1)


def exponent(n_patients: Sequence[int], regret: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> Estimate:
    """Return the slope of log regret against log T: the power of T with which regret grows.

    It is the ordinary least-squares slope, a fixed weighted sum of the logarithms, so the estimand does not depend on
    the number of runs per point. The error of a logarithm is the relative error of its regret (delta method).

    >>> t = [100, 1000, 10_000]
    >>> exponent(t, [3.0, 30.0, 300.0], [0.1, 1.0, 10.0], n_runs=[100, 100, 100]).mean
    1.0...
    """
    mean, error = np.asarray(regret, float), np.asarray(errors, float)
    if not (mean > 0).all():
        raise InputError("regret", mean.tolist(), "positive numbers, which have logarithms")
    away = np.log(n_patients) - np.log(n_patients).mean()
    return combination(away / (away @ away), np.log(mean), error / mean, n_runs)


def bend(regret: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> Estimate:
    """Return how much more regret grows over the second of two equal stretches of log T. For a + b log T it is 0.

    >>> bend([10.0, 20.0, 30.0], [0.0, 0.0, 0.0], n_runs=[5, 5, 5]).mean
    0.0
    """
    return combination([1.0, -2.0, 1.0], regret, errors, n_runs)


def increments(regret: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> list[Estimate]:
    """Return how much regret grows from each number of patients to the next."""
    points = list(zip(np.asarray(regret, float), np.asarray(errors, float), n_runs, strict=True))
    return [combination([-1.0, 1.0], *zip(*pair, strict=True)) for pair in pairwise(points)]


def order_of_growth(power: Estimate, curve: Estimate) -> str:
    """Return the order of growth of regret, from its exponent and its bend over the longest trials.

    - Logarithmic: the exponent's whole interval is below 1/2, and the bend is not surely above zero.
    - √T: the exponent is at most 1/2, within the tolerance.
    - Linear: the exponent's whole interval is near 1, within the tolerance.

    >>> order_of_growth(Estimate(0.51, 0.01, 0.49, 0.53), Estimate(900.0, 9.0, 880.0, 920.0))
    '√T'
    """
    assert power.low is not None
    assert power.high is not None
    assert curve.low is not None
    if power.high < 0.5 and curve.low <= 0.0:
        return LOGARITHMIC
    if power.low > 1.0 - TOLERANCE:
        return LINEAR
    if power.mean <= 0.5 + TOLERANCE:
        return ROOT
    return FASTER if power.low > 0.5 + TOLERANCE else UNCLEAR
