"""Look by posterior: compares arms by the Beta posteriors of their means."""

import math
from typing import Any

from adhere.compilation import implements, no_inline
from adhere.looks.beta_quadrature import RESULT, compare_posteriors, set_posterior
from adhere.looks.judge import (
    ACTIVE,
    BY_EQUIVALENCE,
    BY_FUTILITY,
    BY_INFERIORITY,
    BY_SUPERIORITY,
    EQUIVALENT,
    FUTILE,
    GO_ON,
    N_VALUES,
    ControlledPosteriorRules,
    PosteriorRules,
    clear,
    judge,
    pick_best,
    status_against_control,
    status_of,
    write,
)


@implements(judge, PosteriorRules)
def judge_by_posterior(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Judge all arms against one another by their posteriors."""
    clear(values)
    return judge_posteriors(rules, look, evidence, status, values)


@no_inline
def judge_posteriors(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Compare all remaining arms with one another."""
    equivalence, futility = rules.equivalence[look], rules.futility[look]
    # A threshold that is NaN is not equal to itself.
    n_passes = 2 if equivalence == equivalence or futility == futility else 1
    decision, gain = GO_ON, math.nan
    for one in range(n_passes):  # the first pass has no margin; the second has it, for the arms that remain
        margin = rules.margin if one == 1 else 0.0
        is_reflected = one == 1 and has_high_means(evidence, status)
        n_left = set_posteriors(evidence, status, is_reflected)
        alike = compare_posteriors(n_left, margin, evidence.work)
        if one == 0:
            gain = evidence.work[RESULT * n_left + 1]  # with two arms, the first counts as the control
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
def set_posteriors(evidence: Any, status: Any, is_reflected: bool) -> int:
    """Write the posteriors of the remaining arms into `work`, in order, and return the number of these arms."""
    n_left, place = 0, 0
    for arm in range(status.size):
        n_left += 1 if status[arm] == ACTIVE else 0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            set_posterior(n_left, place, evidence.n[arm], evidence.sums[arm], is_reflected, evidence.work)
            place += 1
    return n_left


@no_inline
def has_high_means(evidence: Any, status: Any) -> bool:
    """Return whether the means of the remaining arms are above 1/2 on average."""
    above = 0.0
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            above += evidence.sums[arm] / max(1.0, evidence.n[arm]) - 0.5
    return above > 0.0


@no_inline
def note_equivalence(alike: float, equivalence: float, status: Any, values: Any) -> int:
    """Store the probability that the remaining arms are equivalent, and update their status.

    If it reaches the threshold, return EQUIVALENT; otherwise return GO_ON.
    """
    for arm in range(status.size):
        if status[arm] == ACTIVE:
            write(values, arm * N_VALUES + BY_EQUIVALENCE, alike, equivalence)
            status[arm] = EQUIVALENT if alike >= equivalence else ACTIVE
    return EQUIVALENT if alike >= equivalence else GO_ON


@implements(status_against_control, ControlledPosteriorRules)
def posterior_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """Judge an arm by P(better than the control), P(equivalent to it) and P(better by more than the margin)."""
    equivalence, futility, first = rules.equivalence[look], rules.futility[look], arm * N_VALUES
    # A threshold that is NaN is not equal to itself.
    margin = rules.margin if equivalence == equivalence or futility == futility else 0.0
    better, alike, gain = compare_two(arm, rules.control, margin, evidence)
    return status_of(
        write(values, first + BY_SUPERIORITY, better, rules.superiority[look]) >= rules.superiority[look],
        write(values, first + BY_INFERIORITY, better, rules.inferiority[look]) <= rules.inferiority[look],
        write(values, first + BY_EQUIVALENCE, alike, equivalence) >= equivalence,
        write(values, first + BY_FUTILITY, gain, futility) <= futility,
    )


@no_inline
def compare_two(arm: int, control: int, margin: float, evidence: Any) -> tuple[float, float, float]:
    """Return P(θ > θ_c), P(|θ - θ_c| < margin) and P(θ - θ_c > margin).

    Without a margin the second is NaN, and the third equals the first.
    """
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
