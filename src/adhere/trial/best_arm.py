"""Which arm is best, which are not worth going on with, and which are alike, by probabilities of being best."""

from __future__ import annotations

import math
from typing import Any

from adhere.compilation import no_inline
from adhere.trial.beta_posterior import (
    COMPARED,
    RESULT,
    probabilities_of_being_best,
    probability_within,
    set_posteriors,
)
from adhere.trial.looks import (
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


@no_inline
def compare_posteriors(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Compare all arms that are left with one another."""
    n_arms, work = rules.n_arms, evidence.work
    mark_active(n_arms, status, work)
    set_posteriors(n_arms, evidence.n, evidence.sums, False, work)
    probabilities_of_being_best(n_arms, work)
    decision = pick_best(n_arms, rules.superiority[look], rules.inferiority[look], work, status, values)
    if decision != GO_ON:
        return decision
    equivalence, futility = rules.equivalence[look], rules.futility[look]
    if equivalence == equivalence:
        mark_active(n_arms, status, work)
        set_for_margin(n_arms, evidence, work)
        alike = probability_within(n_arms, rules.margin, work)
        for arm in range(n_arms):
            if status[arm] == ACTIVE:
                values[arm * N_VALUES + BY_EQUIVALENCE] = alike
                if alike >= equivalence:
                    status[arm], decision = EQUIVALENT, EQUIVALENT
    if decision == GO_ON and futility == futility and n_arms == 2:  # the first arm counts as a control
        _, _, gain = posteriors_of_two(n_arms, rules.margin, True, 1, 0, evidence)
        values[N_VALUES + BY_FUTILITY] = gain
        if gain <= futility:
            status[1], decision = FUTILE, FUTILE
    return decision


@no_inline
def posteriors_of_two(
    n_arms: int, margin: float, by_margin: bool, arm: int, control: int, evidence: Any
) -> tuple[float, float, float]:
    """P(θ > θ_c), P(|θ - θ_c| < margin) and P(θ - θ_c > margin), the last two only where they are asked for."""
    work = evidence.work
    for other in range(n_arms):
        work[COMPARED * n_arms + other] = 0.0
    work[COMPARED * n_arms + arm], work[COMPARED * n_arms + control] = 1.0, 1.0
    set_posteriors(n_arms, evidence.n, evidence.sums, False, work)
    probabilities_of_being_best(n_arms, work)
    better = work[RESULT * n_arms + arm]
    if not by_margin or margin <= 0.0:
        return better, math.nan, better
    is_reflected = set_for_margin(n_arms, evidence, work)
    alike = probability_within(n_arms, margin, work)
    return better, alike, 1.0 - work[RESULT * n_arms + (arm if is_reflected else control)]


@no_inline
def mark_active(n_arms: int, status: Any, work: Any) -> None:
    """Compare the arms that are left."""
    for arm in range(n_arms):
        work[COMPARED * n_arms + arm] = 1.0 if status[arm] == ACTIVE else 0.0


@no_inline
def set_for_margin(n_arms: int, evidence: Any, work: Any) -> bool:
    """Set the posteriors for `probability_within`, reflected where means are high; returns whether they are."""
    above = 0.0
    for arm in range(n_arms):
        if work[COMPARED * n_arms + arm] > 0.0:
            above += (1.0 + evidence.sums[arm]) / (2.0 + evidence.n[arm]) - 0.5
    set_posteriors(n_arms, evidence.n, evidence.sums, above > 0.0, work)
    return above > 0.0


@no_inline
def share_beliefs(n_arms: int, evidence: Any, status: Any) -> None:
    """Write the beliefs in the arms that are left, rescaled; equal ones where nothing is left of them."""
    total, n_left = 0.0, 0
    for arm in range(n_arms):
        if status[arm] == ACTIVE:
            total += evidence.beliefs[arm]
            n_left += 1
    for arm in range(n_arms):
        share = evidence.beliefs[arm] / total if total > 0.0 else 1.0 / n_left
        evidence.work[RESULT * n_arms + arm] = share if status[arm] == ACTIVE else 0.0


@no_inline
def pick_best(n_arms: int, superiority: float, inferiority: float, work: Any, status: Any, values: Any) -> int:
    """Find the arm that is superior, or drop those that are inferior, by their probabilities of being best."""
    best, n_left = -1, 0
    for arm in range(n_arms):
        if status[arm] == ACTIVE:
            n_left += 1
            probability = work[RESULT * n_arms + arm]
            write(values, arm * N_VALUES + BY_SUPERIORITY, probability, superiority)
            write(values, arm * N_VALUES + BY_INFERIORITY, probability, inferiority)
            if best < 0 or probability > work[RESULT * n_arms + best]:
                best = arm
    if work[RESULT * n_arms + best] >= superiority:
        status[best] = SUPERIOR
        return SUPERIOR
    worst = least_probable(n_arms, work, status)
    while n_left > 1 and work[RESULT * n_arms + worst] <= inferiority:
        status[worst] = INFERIOR
        n_left -= 1
        worst = least_probable(n_arms, work, status)
    if n_left == 1:
        status[best] = SUPERIOR
        return SUPERIOR
    return GO_ON


@no_inline
def least_probable(n_arms: int, work: Any, status: Any) -> int:
    """The arm left that is least probably the best."""
    worst = -1
    for arm in range(n_arms):
        if status[arm] == ACTIVE and (worst < 0 or work[RESULT * n_arms + arm] < work[RESULT * n_arms + worst]):
            worst = arm
    return worst


@no_inline
def write(values: Any, place: int, value: float, threshold: float) -> float:
    """Note a number that is compared with a threshold, unless there is none."""
    if threshold == threshold:
        values[place] = value
    return value
