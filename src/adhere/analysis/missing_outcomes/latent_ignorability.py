"""Effect on compliers if missingness depends on compliance type and treatment taken, not at random."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from adhere.analysis.cells import Cells, added
from adhere.analysis.estimates import ConfidenceSet, Quantity
from adhere.analysis.fixed_sample.assigned_moments import MORE, ROUNDING, Assigned
from adhere.analysis.fixed_sample.intervals import fieller
from adhere.analysis.records import Floats
from adhere.analysis.sentences import say
from adhere.intervals import RewardSums, normal_quantile

DELTA: Final = "delta method"
BY_MEANS: Final = "Fieller, one mean after the other"
_STRONG: Final = 6.0  # standard errors from 0 that both denominators need for the delta method


def latent_effect(cells: Cells, treatment: int, control: int, level: float = 0.95) -> Quantity:
    """Estimate the effect on compliers under latent ignorability and the compound exclusion restriction.

    Let R = 1 if both the outcome Y and the treatment taken are known, and D = 1 if the patient took the treatment.
    Each contrast Δ is the mean among patients assigned the treatment minus the mean among patients assigned the
    control. For two arms,

        E[Y(1) | complier] = Δ[RDY] / Δ[RD],      E[Y(0) | complier] = Δ[R(1−D)Y] / Δ[R(1−D)].

    There are three assumptions. Given compliance type and treatment taken, missingness does not depend on the
    outcome. Assignment changes neither the outcome nor the reporting of always-takers and never-takers. There are no
    defiers.

    If both denominators are 6 standard errors from 0, the interval is from the delta method. Otherwise it combines
    Fieller's sets of the two means; there is no interval if one of these sets is unbounded.

    >>> import numpy as np
    >>> from adhere.analysis.cells import cells_of
    >>> from adhere.analysis.records import Records
    >>> chosen, taken = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 0])
    >>> reward, count = np.array([1.0, 0.0, np.nan, 1.0, 0.0, np.nan]), np.array([40, 40, 20, 56, 24, 20])
    >>> found = latent_effect(cells_of(Records("", "", ("a", "b"), chosen, taken, reward, count=count)), 1, 0)
    >>> print(f"{found.value:.3f}", found.sets[0])
    0.200 [0.051, 0.349]

    References
    ----------
    Frangakis and Rubin (1999), Biometrika 86; Zhou and Li (2006), Biometrics 62.

    """
    if len(cells.arms) != 2:
        return Quantity(None, reason=say("latent_needs_two_arms"))
    arms = (treatment, control)
    n_known = int(sum(cells.cell(arm, treatment).n + cells.others(arm, treatment).n for arm in arms))
    n = [int(cells.patients[arm].sum()) for arm in arms]
    if min(n) < 2:
        return Quantity(None, n=n_known, reason=say("latent_nobody"))
    for arm in arms:
        if not cells.cell(arm, treatment).n + cells.others(arm, treatment).n:
            return Quantity(None, n=n_known, reason=say("nobody_known", arm=cells.arms[arm]))
    contrast, covariance = _contrast(cells, treatment, control)
    for place, how, more, fewer in ((1, "having taken", *arms), (3, "without having taken", *arms[::-1])):
        if (contrast[place] <= 0.0) if place == 1 else (contrast[place] >= 0.0):
            names = {"more": cells.arms[more], "fewer": cells.arms[fewer], "treatment": cells.arms[treatment]}
            return Quantity(None, n=n_known, reason=say("no_more_report", how=how, **names))
    if any(_ratio_variance(contrast, covariance, place) <= ROUNDING for place in (0, 2)):
        _, covariance = _contrast(cells, treatment, control, smoothed=True)  # no variation may be chance
    strength = min(_errors(sign * contrast[place], covariance[place, place]) for place, sign in ((1, 1), (3, -1)))
    if strength >= _STRONG:
        return _by_delta(contrast, covariance, n_known, level)
    # Each mean has half of the error (Bonferroni). Fieller's sets are valid even if few patients comply.
    limits = []
    for place, how in ((0, "having taken"), (2, "without having taken")):
        found = _mean(contrast, covariance, place, (1.0 + level) / 2.0)
        if found is None:
            reason = say("too_few_report", how=how, treatment=cells.arms[treatment])
            return Quantity(None, n=n_known, reason=reason)
        limits.append(found)
    value = float(contrast[0] / contrast[1] - contrast[2] / contrast[3])
    (low, high), (low_without, high_without) = limits
    found_set = ConfidenceSet(low - high_without, high - low_without, BY_MEANS, level=level)
    return Quantity(value, (_possible(found_set),), n_known)


def _possible(given: ConfidenceSet) -> ConfidenceSet:
    """Clip an interval to [-1, 1]; return it unchanged if it lies outside."""
    low, high = max(-1.0, given.low), min(1.0, given.high)
    return replace(given, low=low, high=high) if low < high else given


def _errors(share: float, variance: float) -> float:
    """Return the number of standard errors by which a share of compliers exceeds 0."""
    return share / math.sqrt(variance) if variance > 0.0 else math.inf if share > 0.0 else -math.inf


def _by_delta(contrast: Floats, covariance: Floats, n: int, level: float) -> Quantity:
    with_it, reporting, without_it, reporting_without = contrast.tolist()
    value = with_it / reporting - without_it / reporting_without
    of_first = 1.0 / reporting, -with_it / reporting**2
    of_second = -1.0 / reporting_without, without_it / reporting_without**2
    slope = np.array([*of_first, *of_second])
    half = normal_quantile(level) * math.sqrt(max(0.0, float(slope @ covariance @ slope)))
    return Quantity(value, (_possible(ConfidenceSet(value - half, value + half, DELTA, level=level)),), n)


def _ratio_variance(contrast: Floats, covariance: Floats, place: int) -> float:
    """Return the variance of a complier mean by the delta method."""
    numerator, denominator = contrast[place : place + 2].tolist()
    slope = np.array([1.0 / denominator, -numerator / denominator**2])
    return float(slope @ covariance[place : place + 2, place : place + 2] @ slope)


def _mean(contrast: Floats, covariance: Floats, place: int, level: float) -> tuple[float, float] | None:
    """Return Fieller's limits of a complier mean, clipped to [0, 1] if possible; None if they form no interval."""
    numerator, denominator = (float(one) for one in contrast[place : place + 2])
    variance, of_both, _, of_denominator = covariance[place : place + 2, place : place + 2].ravel().tolist()
    found = fieller(numerator, denominator, variance, of_denominator, of_both, level)
    if not found.is_bounded:
        return None
    low, high = max(0.0, found.low), min(1.0, found.high)
    return (low, high) if low < high else (found.low, found.high)


def _contrast(cells: Cells, treatment: int, control: int, *, smoothed: bool = False) -> tuple[Floats, Floats]:
    """Return differences of the means of RDY, RD, R(1−D)Y and R(1−D) between the arms, and their covariances."""
    arms = (treatment, control)
    means, covariances = zip(*(_moments(cells, arm, treatment, smoothed) for arm in arms), strict=True)
    return means[0] - means[1], covariances[0] + covariances[1]


def _moments(cells: Cells, arm: int, treatment: int, smoothed: bool) -> tuple[Floats, Floats]:
    """Return means of RDY, RD, R(1−D)Y and R(1−D) among patients assigned an arm, and their covariances.

    `smoothed` adds one patient to each of four cells: took the treatment or not, with a known outcome of 0 or 1.
    """
    more = MORE if smoothed else Assigned(RewardSums(), RewardSums())
    n = float(cells.patients[arm].sum()) + more.n
    means, products = np.zeros(4), np.zeros((4, 4))
    takers, others = cells.cell(arm, treatment), cells.others(arm, treatment)
    for place, known in ((0, added((takers, more.takers))), (2, added((others, more.others)))):
        means[place : place + 2] = known.total / n, known.n / n
        both = np.array([[known.squares, known.total], [known.total, float(known.n)]])
        products[place : place + 2, place : place + 2] = both / n
    covariance: Floats = (products - np.outer(means, means)) / (n - 1.0)
    return means, covariance
