"""Missing outcomes in plain Python: effects from a list of kinds of patients, variances by weighing kinds anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

STEP = 1e-3


@dataclass(frozen=True)
class Patient:
    """Patients of one kind, `count` of them; `taken` or `outcome` is None where it is not known."""

    assigned: int
    taken: int | None
    outcome: float | None
    count: int
    stratum: int = 0


Weights = Sequence[float]


def cell_mean(patients: Sequence[Patient], weights: Weights, like: Patient) -> float:
    """The mean of the known outcomes of those who were assigned and took the same in the same stratum."""
    total = whole = 0.0
    for one, weight in zip(patients, weights, strict=True):
        same = (one.assigned, one.taken, one.stratum) == (like.assigned, like.taken, like.stratum)
        if same and one.outcome is not None:
            total += weight * one.outcome
            whole += weight
    return total / whole


def mean_outcome(patients: Sequence[Patient], weights: Weights, arm: int, stratum: int | None = None) -> float:
    """The mean outcome of an arm, each outcome at its cell's mean: missing at random given the cell."""
    total = whole = 0.0
    for one, weight in zip(patients, weights, strict=True):
        if one.assigned == arm and stratum in (None, one.stratum):
            total += weight * cell_mean(patients, weights, one)
            whole += weight
    return total / whole


def share_taking(patients: Sequence[Patient], weights: Weights, arm: int, stratum: int | None = None) -> float:
    """The share of those assigned an arm who took arm 1, where it is known."""
    total = whole = 0.0
    for one, weight in zip(patients, weights, strict=True):
        if one.assigned == arm and one.taken is not None and stratum in (None, one.stratum):
            total += weight * (one.taken == 1)
            whole += weight
    return total / whole


def difference(patients: Sequence[Patient], weights: Weights) -> float:
    """Intention-to-treat of arm 1 against arm 0."""
    return mean_outcome(patients, weights, 1) - mean_outcome(patients, weights, 0)


def stratified_difference(patients: Sequence[Patient], weights: Weights) -> float:
    """The mean of the strata's differences, weighted by n₁n₀/(n₁ + n₀) of all patients assigned (fixed weights)."""
    total = whole = 0.0
    for stratum in sorted({one.stratum for one in patients}):
        counts = [
            sum(one.count for one in patients if one.assigned == arm and one.stratum == stratum) for arm in (0, 1)
        ]
        weight = counts[0] * counts[1] / sum(counts)
        means = [mean_outcome(patients, weights, arm, stratum) for arm in (0, 1)]
        total += weight * (means[1] - means[0])
        whole += weight
    return total / whole


def complier_effect(patients: Sequence[Patient], weights: Weights) -> float:
    """The difference in outcomes over the difference in who took arm 1."""
    taken = share_taking(patients, weights, 1) - share_taking(patients, weights, 0)
    return difference(patients, weights) / taken


def latent_effect(patients: Sequence[Patient], weights: Weights) -> float:
    """The compliers' effect if outcomes are missing by compliance type alone (Frangakis and Rubin 1999)."""
    means = []
    for took in (1, 0):
        numerator = denominator = 0.0
        for arm, sign in ((1, 1.0), (0, -1.0)):
            total = known = whole = 0.0
            for one, weight in zip(patients, weights, strict=True):
                if one.assigned == arm:
                    whole += weight
                    if one.outcome is not None and one.taken is not None and (one.taken == 1) == (took == 1):
                        total += weight * one.outcome
                        known += weight
            numerator += sign * total / whole
            denominator += sign * known / whole
        means.append(numerator / denominator)
    return means[0] - means[1]


def value(patients: Sequence[Patient], estimate: Callable[[Sequence[Patient], Weights], float]) -> float:
    """The estimate from these patients."""
    return estimate(patients, [float(one.count) for one in patients])


def variance(patients: Sequence[Patient], estimate: Callable[[Sequence[Patient], Weights], float]) -> float:
    """The variance by the infinitesimal jackknife: how the estimate moves as one patient weighs a little more."""
    counts = [float(one.count) for one in patients]
    total = 0.0
    for place, one in enumerate(patients):
        ends = []
        for step in (STEP, -STEP):
            moved = counts.copy()
            moved[place] += step
            ends.append(estimate(patients, moved))
        total += one.count * ((ends[0] - ends[1]) / (2.0 * STEP)) ** 2
    return total
