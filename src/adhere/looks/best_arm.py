"""Which arm is best, which are not worth going on with, and which are alike."""

from __future__ import annotations

import math
from typing import Any

from adhere.compilation import no_inline
from adhere.looks.judge import (
    ACTIVE,
    BY_EQUIVALENCE,
    BY_FUTILITY,
    BY_INFERIORITY,
    BY_SUPERIORITY,
    EQUIVALENT,
    FUTILE,
    GO_ON,
    INFERIOR,
    N_VALUES,
    SUPERIOR,
)
from adhere.looks.posterior import RESULT, compare_posteriors, set_posterior


@no_inline
def judge_posteriors(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Compare all arms that are left with one another."""
    equivalence, futility = rules.equivalence[look], rules.futility[look]
    # A threshold that is NaN is not equal to itself.
    n_passes = 2 if equivalence == equivalence or futility == futility else 1
    decision, gain = GO_ON, math.nan
    for one in range(n_passes):  # with no margin, and, among those that are then left, with it
        margin = rules.margin if one == 1 else 0.0
        is_reflected = one == 1 and has_high_means(evidence, status)
        n_left = set_posteriors(evidence, status, is_reflected)
        alike = compare_posteriors(n_left, margin, evidence.work)
        if one == 0:
            gain = evidence.work[RESULT * n_left + 1]  # of two arms, of which the first counts as a control
            decision = pick_best(
                n_left, rules.superiority[look], rules.inferiority[look], evidence.work, status, values
            )
            if decision != GO_ON:
                return decision
        elif margin > 0.0:
            gain = 1.0 - evidence.work[RESULT * n_left + (1 if is_reflected else 0)]
            decision = note_equivalence(alike, equivalence, status, values)
    if decision == GO_ON and futility == futility and status.size == 2:
        values[N_VALUES + BY_FUTILITY] = gain
        if gain <= futility:
            status[1], decision = FUTILE, FUTILE
    return decision


@no_inline
def compare_two(arm: int, control: int, margin: float, evidence: Any) -> tuple[float, float, float]:
    """P(θ > θ_c), P(|θ - θ_c| < margin) and P(θ - θ_c > margin); without a margin, the first of them only."""
    better, alike, gain = math.nan, math.nan, math.nan
    n, total = evidence.n[arm], evidence.sums[arm]
    n_control, total_of_control = evidence.n[control], evidence.sums[control]
    is_high = total / max(1.0, n) + total_of_control / max(1.0, n_control) > 1.0
    for one in range(2 if margin > 0.0 else 1):
        is_reflected = one == 1 and is_high
        set_posterior(2, 0, n_control, total_of_control, is_reflected, evidence.work)
        set_posterior(2, 1, n, total, is_reflected, evidence.work)
        alike = compare_posteriors(2, margin if one == 1 else 0.0, evidence.work)
        if one == 0:
            better = evidence.work[2 * RESULT + 1]
        else:
            gain = 1.0 - evidence.work[2 * RESULT + (1 if is_reflected else 0)]
    return (better, alike, gain) if margin > 0.0 else (better, math.nan, better)


@no_inline
def has_high_means(evidence: Any, status: Any) -> bool:
    """Whether the means of the arms left lie above 1/2."""
    above = 0.0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            above += evidence.sums[arm] / max(1.0, evidence.n[arm]) - 0.5
    return above > 0.0


@no_inline
def set_posteriors(evidence: Any, status: Any, is_reflected: bool) -> int:
    """Compare the arms that are left, in their order; returns how many they are."""
    n_left, place = 0, 0
    for arm in range(status.size):
        n_left += 1 if status[arm] == ACTIVE else 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            set_posterior(n_left, place, evidence.n[arm], evidence.sums[arm], is_reflected, evidence.work)
            place += 1
    return n_left


@no_inline
def note_equivalence(alike: float, equivalence: float, status: Any, values: Any) -> int:
    """Note the probability that the arms left are alike, and whether they are."""
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            write(values, arm * N_VALUES + BY_EQUIVALENCE, alike, equivalence)
            status[arm] = EQUIVALENT if alike >= equivalence else ACTIVE
    return EQUIVALENT if alike >= equivalence else GO_ON


@no_inline
def pick_best(n_left: int, superiority: float, inferiority: float, work: Any, status: Any, values: Any) -> int:
    """Find the arm that is superior, or drop those that are inferior.

    The results in `work` are the probabilities of the arms left, in their order, of being best.
    """
    best, best_place, place = -1, 0, 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            probability = work[RESULT * n_left + place]
            write(values, arm * N_VALUES + BY_SUPERIORITY, probability, superiority)
            write(values, arm * N_VALUES + BY_INFERIORITY, probability, inferiority)
            if best < 0 or probability > work[RESULT * n_left + best_place]:
                best, best_place = arm, place
            place += 1
    largest = work[RESULT * n_left + best_place]
    if largest >= superiority:
        status[best] = SUPERIOR
        return SUPERIOR
    # The best is dropped last, so that it need not be looked at: it is what is left.
    n_dropped, place = 0, 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            if arm != best and work[RESULT * n_left + place] <= inferiority:
                status[arm] = INFERIOR
                n_dropped += 1
            place += 1
    if n_dropped == n_left - 1:
        status[best] = SUPERIOR
        return SUPERIOR
    return GO_ON


@no_inline
def share_beliefs(evidence: Any, status: Any) -> int:
    """Write the beliefs in the arms left, rescaled, as results; equal ones where nothing is left of them."""
    total, n_left, place = 0.0, 0, 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            total += evidence.beliefs[arm]
            n_left += 1
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            evidence.work[RESULT * n_left + place] = evidence.beliefs[arm] / total if total > 0.0 else 1.0 / n_left
            place += 1
    return n_left


@no_inline
def write(values: Any, place: int, value: float, threshold: float) -> float:
    """Note a number that is compared with a threshold, unless there is none."""
    if threshold == threshold:
        values[place] = value
    return value
