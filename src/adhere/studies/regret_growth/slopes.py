"""How fast regret grows with the number of patients: exponents and bends, and how sure they are."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adhere.errors import InputError
from adhere.intervals import t95
from adhere.simulation import Estimate

Floats = NDArray[np.float64]
TOLERANCE = 0.05  # an exponent this near is taken for the thing itself

LOGARITHMIC, ROOT, FASTER, LINEAR, UNCLEAR = "log T", "√T", "faster than √T", "T", "unclear"


def combination(weights: ArrayLike, values: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> Estimate:
    """A weighted sum of means over runs, with a 95% interval that is wide enough however the means go together.

    Simulations with one seed have their first runs' patients in common, so that a mean over m runs and one over n > m
    may be correlated, by √(m/n) at most. Every pair is taken to be so, to the side that widens the interval. For few
    runs it is wider too, by Student's t with the degrees of freedom of Welch and Satterthwaite.

    >>> combination([1, -1], [3.0, 1.0], [0.3, 0.4], n_runs=[100, 100]).se  # as if always the same luck
    0.7
    >>> combination([1, -1], [3.0, 1.0], [0.3, 0.4], n_runs=[1000, 10]).se  # hardly any luck in common
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
    """The slope of log regret against log T: the power of T that regret grows with.

    It is the plain least-squares line, that is a fixed weighted sum of the logarithms, so what it estimates does not
    depend on how many runs each point has; a logarithm's error is the relative error of its regret (delta method).

    >>> t = [100, 1000, 10_000]
    >>> exponent(t, [3.0, 30.0, 300.0], [0.1, 1.0, 10.0], n_runs=[100, 100, 100]).mean
    1.0...
    """
    mean, error = np.asarray(regret, float), np.asarray(errors, float)
    if not (mean > 0).all():
        raise InputError("regret", mean.tolist(), "positive numbers, for they have logarithms")
    away = np.log(n_patients) - np.log(n_patients).mean()
    return combination(away / (away @ away), np.log(mean), error / mean, n_runs)


def bend(regret: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> Estimate:
    """How much more the second of two equal stretches of log T costs than the first; for a + b log T nothing.

    >>> bend([10.0, 20.0, 30.0], [0.0, 0.0, 0.0], n_runs=[5, 5, 5]).mean
    0.0
    """
    return combination([1.0, -2.0, 1.0], regret, errors, n_runs)


def increments(regret: ArrayLike, errors: ArrayLike, n_runs: Sequence[int]) -> list[Estimate]:
    """What each stretch of T costs, from one number of patients to the next."""
    points = list(zip(np.asarray(regret, float), np.asarray(errors, float), n_runs, strict=True))
    return [combination([-1.0, 1.0], *zip(*pair, strict=True)) for pair in pairwise(points)]


def order_of_growth(power: Estimate, curve: Estimate) -> str:
    """What regret grows like, by its exponent and its bend over the longest trials.

    Logarithmic: the whole interval of the exponent is below 1/2, and the bend is not surely above zero. √T: the
    exponent is at most 1/2, but for the tolerance. Linear: the whole interval is near 1, but for the tolerance.

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
