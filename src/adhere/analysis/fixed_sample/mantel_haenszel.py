"""Difference and ratio of two arms within strata, pooled with Mantel and Haenszel's weights or by patients."""

from __future__ import annotations

import math
from collections.abc import Sequence

from adhere.analysis.confidence_set import ConfidenceSet, Quantity
from adhere.analysis.fixed_sample.fieller import fieller
from adhere.analysis.fixed_sample.means import variance_of
from adhere.analysis.fixed_sample.score_interval import two_sided
from adhere.analysis.fixed_sample.two_arms import Contrast, not_negative
from adhere.intervals import RewardSums, normal_quantile

Strata = Sequence[tuple[RewardSums, RewardSums]]

BY_PATIENTS = "strata weighted by patients"
NO_STRATUM = "no stratum has known outcomes in both arms"
_NO_VARIANCE = "outcomes do not vary within strata enough to say how sure this is; see the unstratified comparison"


def alone_note(n: int) -> str:
    """Of patients in strata that cannot be compared; empty where there are none."""
    return f" {n} patients are in strata that have one of the arms only; they do not count here." if n else ""


def stratum_weights(strata: Strata, patients: Sequence[float] | None = None) -> list[float]:
    """Weights of the strata, n₁n₀/(n₁ + n₀) or their `patients`, summing to one; 0 for strata with one arm alone."""
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
    """Compare treatment and control within strata, given as pairs (treated, controls).

    If some outcomes are not known but completed, `lost` is what that adds to the variances of the two weighted means.

    The weight of a stratum is n₁n₀/(n₁ + n₀); strata with one arm alone have none. Outcomes 0 or 1: the difference
    with Sato's variance, which holds for few large and many small strata; the ratio with Greenland and Robins'; the
    p-value is Cochran, Mantel and Haenszel's, without continuity correction. Other outcomes: the weighted mean
    difference with variances within strata and arms, the ratio of the weighted means by Fieller. With
    `patients`, their numbers by stratum (of all arms) are the weights: the average over patients, where arms were
    split differently in different strata. It is computed as for other outcomes, with the variance that chance in the
    sizes of strata adds.

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
    # In the formulas a of n are treated successes, b of m those of controls.
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
        _ratio(treated, control, log_variance, n_used, level),
        p_value,
    )


def _ratio(treated: float, control: float, log_variance: float, n: int, level: float) -> Quantity:
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
    """Compare by weighted means; `n_patients` says that the weights are the shares of so many patients."""
    spreads = [_variances([pair[arm] for pair in strata]) for arm in (0, 1)]
    n_used = sum(one.n + two.n for one, two in strata)
    means, variances = (
        [
            sum(weight * pair[arm].total / pair[arm].n for weight, pair in zip(weights, strata, strict=True))
            for arm in (0, 1)
        ],
        [
            sum(weight**2 * spread for weight, spread in zip(weights, spreads[arm], strict=True)) + lost[arm]
            for arm in (0, 1)
        ],
    )
    difference, variance = means[0] - means[1], sum(variances)
    if n_patients is not None:
        effects = [one.total / one.n - two.total / two.n for one, two in strata]
        apart = [(effect - difference) ** 2 - sum(spread) for effect, *spread in zip(effects, *spreads, strict=True)]
        variance += max(0.0, sum(weight * one for weight, one in zip(weights, apart, strict=True))) / n_patients
    p_value = two_sided(difference / math.sqrt(variance)) if variance > 0.0 else None
    ratio = Quantity(None, n=n_used, reason="the mean outcome of the control is 0: the ratio is not defined")
    if means[1] > 0.0:
        found = (
            not_negative(fieller(means[0], means[1], variances[0], variances[1], 0.0, level))
            if variance > 0.0
            else None
        )
        ratio = Quantity(means[0] / means[1], (found,) if found else (), n_used, "" if found else _NO_VARIANCE)
    method = "Mantel–Haenszel weights" if n_patients is None else BY_PATIENTS
    return Contrast(_difference(difference, variance, n_used, method, level), ratio, p_value)


def _variances(groups: Sequence[RewardSums]) -> list[float]:
    """The variance of each group's mean; a group of one has that of the others of its arm, pooled."""
    freedom = sum(group.n - 1 for group in groups)
    pooled = sum(variance_of(group) * (group.n - 1) for group in groups) / freedom if freedom else 0.0
    return [(variance_of(group) if group.n > 1 else pooled) / group.n for group in groups]


def _difference(value: float, variance: float, n: int, method: str, level: float) -> Quantity:
    if not variance > 0.0:
        return Quantity(value, n=n, reason=_NO_VARIANCE)
    half = normal_quantile(level) * math.sqrt(variance)
    return Quantity(value, (ConfidenceSet(max(-1.0, value - half), min(1.0, value + half), method, level=level),), n)
