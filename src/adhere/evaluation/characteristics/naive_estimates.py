"""Naive estimates of many simulated trials, computed as if size and allocation had been fixed."""

from functools import cache
from typing import NamedTuple

import numpy as np

from adhere.evaluation.outcomes import Floats, TrialOutcomes
from adhere.evaluation.scenarios.scenario import Bools
from adhere.intervals import Z95, student_quantile

_ROUNDING = 1e-12  # a smaller variance is a rounding error
_N_NODES = 129


class Estimates(NamedTuple):
    """Estimates of each arm against another one, [run, arm], and whether their 95% intervals cover the truth.

    Missing values of a trial are NaN or False.
    """

    estimate: Floats
    has_interval: Bools
    covers: Bools


def intention_to_treat(outcomes: TrialOutcomes, other: int, true_effects: Floats) -> Estimates:
    """Compute differences of mean outcomes by arm chosen, with Welch's interval.

    There is an interval if both arms have at least two outcomes and outcomes vary in at least one of them.
    """
    n, sums, squares = (one.sum(axis=2) for one in (outcomes.n, outcomes.sums, outcomes.squares))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / n
        estimate = means - means[:, [other]]
        of_mean = _variance(n, means, squares) / n
        variance = of_mean + of_mean[:, [other]]
        parts = of_mean**2 / (n - 1)
        freedom = variance**2 / (parts + parts[:, [other]])
        has_interval = (np.minimum(n, n[:, [other]]) > 1) & (variance > _ROUNDING)
        reach = _student(np.where(has_interval, freedom, 1.0)) * np.sqrt(np.where(has_interval, variance, 0.0))
        covers = has_interval & (np.abs(estimate - true_effects) <= reach)
    return Estimates(estimate, has_interval, covers)


def compliers(outcomes: TrialOutcomes, other: int, true_effects: Floats) -> Estimates:
    """Compute Wald's ratio with Fieller's confidence set (Anderson–Rubin test), for patients with complete reports.

    The ratio is the difference in mean outcomes divided by the difference in the shares who took the arm, by arm
    chosen. An effect on outcomes from 0 to 1 is from -1 to 1, so estimates are clipped to this range. Otherwise a few
    trials with nearly equal shares would dominate bias and mean square error. The set contains the true θ if the mean
    of Y - θD differs by at most 1.96 standard errors.
    """
    n_arms = outcomes.n.shape[1]
    n, sums, squares = (one[:, :, :n_arms] for one in (outcomes.n, outcomes.sums, outcomes.squares))
    n_chosen, total, total_squares = (one.sum(axis=2) for one in (n, sums, squares))
    estimate, theta = np.full(n_chosen.shape, np.nan), np.broadcast_to(true_effects, n_chosen.shape)
    has_interval, covers = np.zeros((2, *n_chosen.shape), np.bool_)
    for arm in range(n_arms):
        if arm == other:
            continue
        pair, at = [arm, other], theta[:, [arm]]
        size, took, of_takers = n_chosen[:, pair], n[:, pair, arm], sums[:, pair, arm]
        with np.errstate(invalid="ignore", divide="ignore"):
            reward, share = total[:, pair] / size, took / size
            numerator, denominator = reward[:, 0] - reward[:, 1], share[:, 0] - share[:, 1]
            ratio = np.where(denominator == 0.0, np.nan, numerator / denominator)
            residual = reward - at * share  # mean of Y - θD
            residual_squares = total_squares[:, pair] - 2.0 * at * of_takers + at**2 * took
            variance = (_variance(size, residual, residual_squares) / size).sum(axis=1)
            distance = np.abs(residual[:, 0] - residual[:, 1])
        estimate[:, arm] = np.clip(ratio, -1.0, 1.0)
        has_interval[:, arm] = (size > 1).all(axis=1) & (variance > _ROUNDING)
        covers[:, arm] = has_interval[:, arm] & (distance <= Z95 * np.sqrt(np.where(variance > 0, variance, 0.0)))
    return Estimates(estimate, has_interval, covers)


def _variance(n: Floats, means: Floats, squares: Floats) -> Floats:
    """Return the variance of samples of size n, given their means and sums of squares."""
    spread: Floats = np.maximum(squares - n * means**2, 0.0) / (n - 1)
    return spread


def _student(freedom: Floats) -> Floats:
    """Return 97.5% quantiles of Student's t, interpolated within 0.1% because every trial needs a quantile."""
    inverse, logarithm = _student_nodes()
    quantiles: Floats = np.exp(np.interp(1.0 / np.maximum(freedom, 1.0), inverse, logarithm))
    return quantiles


@cache
def _student_nodes() -> tuple[Floats, Floats]:
    inverse = np.linspace(0.0, 1.0, _N_NODES)
    quantiles = [Z95, *(student_quantile(1.0 / one, 0.95) for one in inverse[1:].tolist())]
    return inverse, np.log(quantiles)
