"""Difference and ratio of the mean outcomes of two groups, over all patients or within strata, with p-values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from adhere.analysis.estimates import ConfidenceSet, Quantity, Shape, Validity
from adhere.analysis.fixed_sample.intervals import (
    TwoProportions,
    fieller,
    score_difference,
    score_p_value,
    score_ratio,
    two_sided,
)
from adhere.analysis.fixed_sample.means import variance_of
from adhere.analysis.fixed_sample.missing_at_random import Completed
from adhere.analysis.formatting import NO_DIFFERENCE
from adhere.analysis.records import Floats
from adhere.intervals import RewardSums, normal_quantile


@dataclass(frozen=True)
class PairOfArms:
    """Two arms to compare, the confidence level, and whether and how to stratify.

    Strata have Mantel and Haenszel's weights or, with `by_patients`, their numbers of patients.
    """

    filled: Completed
    treatment: int
    control: int
    level: float = 0.95
    stratified: bool = False
    by_patients: bool = False

    @property
    def arms(self) -> tuple[int, int]:
        """Indices of both arms."""
        return self.treatment, self.control

    @property
    def names(self) -> tuple[str, str]:
        """Names of both arms."""
        return self.filled.known.arms[self.treatment], self.filled.known.arms[self.control]

    @property
    def patients(self) -> list[float] | None:
        """Numbers of patients by stratum if these are the weights, otherwise None."""
        return self.filled.known.by_stratum_patients.tolist() if self.by_patients else None

    @property
    def by_stratum(self) -> list[tuple[RewardSums, RewardSums]]:
        """Outcomes of both arms in each stratum."""
        cells = self.filled.cells
        return list(zip(cells.by_stratum(self.treatment), cells.by_stratum(self.control), strict=True))

    @property
    def weights(self) -> Floats:
        """Weights of the strata, summing to one."""
        return np.array(stratum_weights(self.by_stratum, self.patients))


class Contrast(NamedTuple):
    """Difference, ratio and p-value of a comparison."""

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
    """Compare two non-empty groups.

    If some outcomes of a group are completed, `information` is the fraction of the patients that its known outcomes
    are worth. The group then counts as this many patients, with the same mean and variance.

    For outcomes 0 or 1, the methods are Miettinen and Nurminen's intervals and the score test. For other outcomes,
    they are Welch's t for the difference and Fieller's set for the ratio. If outcomes do not vary, or a group has
    only one, their variance cannot be estimated. It is at most the variance of outcomes 0 or 1 with the same mean, so
    the methods for these are used.
    """
    n = treated.n + controls.n
    pair = TwoProportions(*_worth(treated, information[0]), *_worth(controls, information[1]))
    spreads = variance_of(treated) / pair.n_treated, variance_of(controls) / pair.n_controls
    binary = treated.binary and controls.binary
    as_binary = binary or min(treated.n, controls.n) < 2 or sum(spreads) == 0.0
    if as_binary:
        low, high = score_difference(pair, level)
        method, p_value = "Miettinen–Nurminen", score_p_value(pair)
    else:
        low, high, p_value = _welch(pair, spreads, level)
        method = "Welch"
    difference = Quantity(pair.difference, (ConfidenceSet(low, high, method, validity, level=level),), n)
    return Contrast(difference, _ratio(pair, None if as_binary else spreads, n, level, validity), p_value)


def _worth(group: RewardSums, information: float) -> tuple[float, float]:
    """Return sum and number of outcomes, scaled to the number of patients that they are worth (at least one)."""
    n = max(1.0, group.n * information)
    return min(group.total * (n / group.n), n), n


def _ratio(
    pair: TwoProportions, spreads: tuple[float, float] | None, n: int, level: float, validity: Validity
) -> Quantity:
    """Return the ratio of the means; without `spreads` (the variances of both means), as for outcomes 0 or 1."""
    mean = pair.treated / pair.n_treated
    if not pair.treated and not pair.controls:
        return Quantity(None, n=n, reason="the mean outcome is 0 in both groups: their ratio is not defined")
    if spreads is None or not pair.treated or not pair.controls:
        low, high = score_ratio(pair, level)
        found = ConfidenceSet(low, high, "Miettinen–Nurminen", validity, level=level)
    else:
        control_mean = pair.controls / pair.n_controls
        found = not_negative(fieller(mean, control_mean, *spreads, 0.0, level, validity=validity))
    if not pair.controls:
        return Quantity(None, (found,), n, "the mean outcome of the control is 0: the ratio is infinite")
    return Quantity(mean / (pair.controls / pair.n_controls), (found,), n)


def not_negative(given: ConfidenceSet) -> ConfidenceSet:
    """Return the non-negative part of a set; ratios of means of outcomes from 0 to 1 are not negative."""
    if given.shape is Shape.INTERVAL and given.high >= 0.0:
        return replace(given, low=max(0.0, given.low))
    if given.shape is Shape.OUTSIDE and given.low < 0.0:
        return replace(given, low=max(0.0, given.high), high=math.inf, shape=Shape.INTERVAL)
    return given


def _welch(pair: TwoProportions, spreads: tuple[float, float], level: float) -> tuple[float, float, float]:
    """Return the interval, clipped to [-1, 1], and the p-value by Welch's t (Welch 1947, Biometrika 34)."""
    from scipy.special import stdtr, stdtrit

    difference, variance = pair.difference, sum(spreads)
    each = (spread**2 / max(1.0, n - 1) for spread, n in zip(spreads, (pair.n_treated, pair.n_controls), strict=True))
    freedom = variance**2 / sum(each)
    error = math.sqrt(variance)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
    p_value = 2.0 * float(stdtr(freedom, -abs(difference) / error))
    return max(-1.0, difference - half), min(1.0, difference + half), p_value


def number_needed(difference: Quantity) -> Quantity:
    """Return the number needed to treat for one more success; it is negative if the treatment harms.

    If the interval of the difference contains 0, the set is the complement of an interval: benefit from 1/high on,
    and harm up to 1/low, through infinity (Altman 1998, British Medical Journal 317). If two proportions cannot have
    this difference, or any difference in its set, the number is omitted but the set is given. Omitting the set too
    would select the trials in which it misleads.
    """
    if difference.sets and difference.sets[0].says_nothing:
        reason = difference.reason or "the set of the difference says nothing, so there is no number needed to treat"
        anything = replace(difference.sets[0], low=-math.inf, high=math.inf, shape=Shape.EVERYTHING)
        return Quantity(None, (anything,), difference.n, reason)
    sets = tuple(inverse(one) for one in difference.sets)
    if difference.value is None:
        return Quantity(None, sets, difference.n, difference.reason)
    if abs(difference.value) > 1.0:
        reason = "the estimated difference is beyond what outcomes from 0 to 1 can have: no number needed to treat"
        return Quantity(None, sets, difference.n, reason)
    if difference.value == 0.0:
        return Quantity(None, sets, difference.n, NO_DIFFERENCE)
    return Quantity(1.0 / difference.value, sets, difference.n, difference.reason)


def inverse(given: ConfidenceSet) -> ConfidenceSet:
    """Return the set of the inverses of the values in a set.

    >>> print(inverse(ConfidenceSet(0.1, 0.25, "")), inverse(ConfidenceSet(-0.05, 0.25, "")), sep="; ")
    [4.000, 10.000]; unbounded: below -20.000 or above 4.000
    >>> print(inverse(ConfidenceSet(-2.0, 4.0, "", shape=Shape.OUTSIDE)))
    [-0.500, 0.250]
    """
    if given.shape in (Shape.EVERYTHING, Shape.EMPTY):
        return given
    low, high = given.low, given.high
    pieces = [(low, high)] if given.shape is Shape.INTERVAL else [(-math.inf, low), (high, math.inf)]
    inverses: list[tuple[float, float]] = []
    for first, last in pieces:  # an end of 0 becomes infinite, with the sign of the side from which it is approached
        if first < 0.0:
            inverses.append((1.0 / last if last < 0.0 else -math.inf, 1.0 / first))
        if last > 0.0:
            inverses.append((1.0 / last, 1.0 / first if first > 0.0 else math.inf))
    merged: list[tuple[float, float]] = []
    for first, last in sorted(inverses):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    if not merged:
        return replace(given, low=math.inf, high=-math.inf, shape=Shape.EMPTY)
    if len(merged) == 2:
        return replace(given, low=merged[0][1], high=merged[1][0], shape=Shape.OUTSIDE)
    everything = merged == [(-math.inf, math.inf)]
    shape = Shape.EVERYTHING if everything else Shape.INTERVAL
    return replace(given, low=merged[0][0], high=merged[0][1], shape=shape)


Strata = Sequence[tuple[RewardSums, RewardSums]]

BY_PATIENTS = "strata weighted by patients"
NO_STRATUM = "no stratum has known outcomes in both arms"
_NO_VARIANCE = "outcomes do not vary within strata enough to say how sure this is; see the unstratified comparison"


def alone_note(n: int) -> str:
    """Return a sentence on patients in strata that cannot be compared; empty if there are none."""
    return f" {n} patients are in strata that have one of the arms only; they do not count here." if n else ""


def stratum_weights(strata: Strata, patients: Sequence[float] | None = None) -> list[float]:
    """Return weights of the strata that sum to one: n₁n₀/(n₁ + n₀) or `patients`; 0 if a stratum has only one arm."""
    weights = patients or [one.n * two.n / max(1, one.n + two.n) for one, two in strata]
    found = [weight if one.n and two.n else 0.0 for weight, (one, two) in zip(weights, strata, strict=True)]
    whole = sum(found)
    return [weight / whole for weight in found] if whole else found


def compare_strata(
    strata: Strata,
    level: float = 0.95,
    *,
    lost: tuple[float, float] = (0.0, 0.0),
    patients: Sequence[float] | None = None,
) -> Contrast:
    """Compare treatment and control within strata, each given as a pair (treated, controls).

    If some outcomes are completed, `lost` has the variances that missing outcomes add to the two weighted means.

    The weight of a stratum is n₁n₀/(n₁ + n₀); strata with only one arm have no weight. For outcomes 0 or 1, the
    difference has Sato's variance, which is valid for few large and for many small strata. The ratio has Greenland
    and Robins' variance. The p-value is from the Cochran–Mantel–Haenszel test without continuity correction.

    For other outcomes, the difference is the weighted mean difference with variances within strata and arms. The
    ratio is that of the weighted means, with Fieller's set.

    If `patients` is given, the weights are these numbers of patients by stratum (of all arms). The result is the
    average effect over patients, for trials that split arms differently in different strata. It is computed by the
    method for other outcomes, plus the variance that random sizes of strata add.

    References
    ----------
    Greenland and Robins (1985), Biometrics 41 (difference and ratio); Cochran (1954), Biometrics 10, and Mantel and
    Haenszel (1959), Journal of the National Cancer Institute 22 (the test); Sato (1989), Biometrics 45; Rothman and
    Greenland (1998), Modern Epidemiology, chapter 15.

    """
    weights = stratum_weights(strata, patients)
    used = [(treated, controls) for treated, controls in strata if treated.n and controls.n]
    if not used:
        return Contrast(Quantity(None, reason=NO_STRATUM), Quantity(None, reason=NO_STRATUM), None)
    binary = all(treated.binary and controls.binary for treated, controls in used)
    if binary and patients is None:
        return _binary(used, level, lost)
    n_patients = None if patients is None else sum(n for n, weight in zip(patients, weights, strict=True) if weight)
    return _general(used, [weight for weight in weights if weight], level, lost, n_patients)


def _binary(strata: Strata, level: float, lost: tuple[float, float]) -> Contrast:
    # In the formulas a of n treated patients and b of m controls have a success.
    counts = [(one.total, one.n, two.total, two.n, one.n + two.n) for one, two in strata]
    weight = sum(n * m / total for _, n, _, m, total in counts)
    treated = sum(a * m / total for a, _, _, m, total in counts)
    control = sum(b * n / total for _, n, b, _, total in counts)
    difference = (treated - control) / weight
    sato = sum((n * n * b - m * m * a + n * m * (m - n) / 2) / total**2 for a, n, b, m, total in counts)
    discordant = sum((a * (m - b) + b * (n - a)) / (2 * total) for a, n, b, m, total in counts)
    variance = (difference * sato + discordant) / weight**2 + sum(lost)
    pooled = sum((n * m * (a + b) - a * b * total) / total**2 for a, n, b, m, total in counts)
    log_variance = pooled / (treated * control) if treated and control else 0.0
    if any(lost) and treated and control:
        log_variance += weight**2 * (lost[0] / treated**2 + lost[1] / control**2)
    hypergeometric = sum(
        n * m * (a + b) * (total - a - b) / (total**2 * (total - 1)) for a, n, b, m, total in counts if total > 1
    )
    hypergeometric += weight**2 * sum(lost)
    p_value = two_sided((treated - control) / math.sqrt(hypergeometric)) if hypergeometric > 0.0 else 1.0
    n_used = sum(total for *_, total in counts)
    return Contrast(
        _difference(difference, variance, n_used, "Mantel–Haenszel, Sato", level),
        _stratified_ratio(treated, control, log_variance, n_used, level),
        p_value,
    )


def _stratified_ratio(treated: float, control: float, log_variance: float, n: int, level: float) -> Quantity:
    if not control:
        extent = "infinite" if treated else "not defined"
        return Quantity(None, n=n, reason=f"the control has no success in any stratum: the ratio is {extent}")
    ratio = treated / control
    if not log_variance > 0.0:
        return Quantity(ratio, n=n, reason=_NO_VARIANCE)
    factor = math.exp(normal_quantile(level) * math.sqrt(log_variance))
    found = ConfidenceSet(ratio / factor, ratio * factor, "Mantel–Haenszel, Greenland–Robins", level=level)
    return Quantity(ratio, (found,), n)


def _general(
    strata: Strata, weights: Sequence[float], level: float, lost: tuple[float, float], n_patients: float | None
) -> Contrast:
    """Compare by weighted means. With `n_patients`, the weights are the strata's shares of this many patients."""
    spreads = [_variances([pair[arm] for pair in strata]) for arm in (0, 1)]
    n_used = sum(one.n + two.n for one, two in strata)
    means, variances = [], []
    for arm in (0, 1):
        means.append(
            sum(weight * pair[arm].total / pair[arm].n for weight, pair in zip(weights, strata, strict=True))
        )
        squares = (weight**2 * spread for weight, spread in zip(weights, spreads[arm], strict=True))
        variances.append(sum(squares) + lost[arm])
    difference, variance = means[0] - means[1], sum(variances)
    if n_patients is not None:
        effects = [one.total / one.n - two.total / two.n for one, two in strata]
        apart = [(effect - difference) ** 2 - sum(spread) for effect, *spread in zip(effects, *spreads, strict=True)]
        variance += max(0.0, sum(weight * one for weight, one in zip(weights, apart, strict=True))) / n_patients
    p_value = two_sided(difference / math.sqrt(variance)) if variance > 0.0 else None
    ratio = Quantity(None, n=n_used, reason="the mean outcome of the control is 0: the ratio is not defined")
    if means[1] > 0.0:
        found = None
        if variance > 0.0:
            found = not_negative(fieller(means[0], means[1], variances[0], variances[1], 0.0, level))
        ratio = Quantity(means[0] / means[1], (found,) if found else (), n_used, "" if found else _NO_VARIANCE)
    method = "Mantel–Haenszel weights" if n_patients is None else BY_PATIENTS
    return Contrast(_difference(difference, variance, n_used, method, level), ratio, p_value)


def _variances(groups: Sequence[RewardSums]) -> list[float]:
    """Return the variance of each group's mean; a group of one patient uses the pooled variance of its arm."""
    freedom = sum(group.n - 1 for group in groups)
    pooled = sum(variance_of(group) * (group.n - 1) for group in groups) / freedom if freedom else 0.0
    return [(variance_of(group) if group.n > 1 else pooled) / group.n for group in groups]


def _difference(value: float, variance: float, n: int, method: str, level: float) -> Quantity:
    if not variance > 0.0:
        return Quantity(value, n=n, reason=_NO_VARIANCE)
    half = normal_quantile(level) * math.sqrt(variance)
    return Quantity(value, (ConfidenceSet(max(-1.0, value - half), min(1.0, value + half), method, level=level),), n)
