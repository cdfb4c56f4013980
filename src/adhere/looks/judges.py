"""How each kind of rules decides at a look."""

from __future__ import annotations

import math
from typing import Any

from adhere.compilation import generic, implements, no_inline
from adhere.looks.best_arm import compare_two, judge_posteriors, pick_best, share_beliefs, write
from adhere.looks.group_sequential import z_statistic
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
    BeliefRules,
    ControlledPosteriorRules,
    NoRules,
    PosteriorRules,
    WealthRules,
    ZRules,
    judge,
)
from adhere.looks.posterior import RESULT


@implements(judge, NoRules)
def judge_nothing(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Go on to the end."""
    clear(values)
    return GO_ON


@implements(judge, PosteriorRules)
def judge_by_posterior(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """All arms among one another, by their posteriors."""
    clear(values)
    return judge_posteriors(rules, look, evidence, status, values)


@implements(judge, BeliefRules)
def judge_by_belief(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Arms by what the policy believes of those that are left."""
    clear(values)
    n_left = share_beliefs(evidence, status)
    if rules.control >= 0:
        return compare_with_control(rules, look, evidence, status, values)
    return pick_best(n_left, rules.superiority[look], rules.inferiority[look], evidence.work, status, values)


@implements(judge, WealthRules)
@implements(judge, ZRules)
@implements(judge, ControlledPosteriorRules)
def judge_against_control(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Arms against the control, each by `status_against_control`."""
    clear(values)
    return compare_with_control(rules, look, evidence, status, values)


@no_inline
def clear(values: Any) -> None:
    """Nothing was compared yet."""
    for place in range(values.size):
        values[place] = math.nan


@no_inline
def compare_with_control(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Find the status of every arm that is left beside the control, and what follows for the trial.

    It stops when an arm is superior, or when none is left: for what the first arm was dropped for at this look.
    """
    n_superior, n_left, dropped_for = 0, 0, GO_ON
    for arm in range(status.size):
        if arm != rules.control and status[arm] == ACTIVE:
            found = status_against_control(rules, look, arm, evidence, values)
            status[arm] = found
            if found == SUPERIOR:
                n_superior += 1
            elif found == ACTIVE:
                n_left += 1
            elif dropped_for == GO_ON:
                dropped_for = found
    if n_superior > 0:
        return SUPERIOR
    return GO_ON if n_left > 0 else dropped_for


@generic
def status_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """What one arm is found to be; writes its values."""
    raise NotImplementedError


@implements(status_against_control, ControlledPosteriorRules)
def posterior_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """By the probabilities that the arm is better, that both are alike, and that it gains more than the margin."""
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


@implements(status_against_control, BeliefRules)
def belief_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """By the probability that the arm, one of two, is better."""
    better, first = evidence.work[2 * RESULT + arm], arm * N_VALUES
    return status_of(
        write(values, first + BY_SUPERIORITY, better, rules.superiority[look]) >= rules.superiority[look],
        write(values, first + BY_INFERIORITY, better, rules.inferiority[look]) <= rules.inferiority[look],
        False,
        False,
    )


@implements(status_against_control, ZRules)
def z_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """By the z-statistic; for equivalence by the difference and so many of its standard errors."""
    z, difference, error = z_statistic(evidence, arm, rules.control)
    equivalence, first = rules.equivalence[look], arm * N_VALUES
    at_most = abs(difference) + equivalence * error
    return status_of(
        write(values, first + BY_SUPERIORITY, z, rules.superiority[look]) >= rules.superiority[look],
        write(values, first + BY_INFERIORITY, z, rules.inferiority[look]) <= -rules.inferiority[look],
        write(values, first + BY_EQUIVALENCE, at_most, equivalence) < rules.margin,
        write(values, first + BY_FUTILITY, z, rules.futility[look]) <= rules.futility[look],
    )


@implements(status_against_control, WealthRules)
def wealth_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """By the largest wealth of the bet that the arm is better, and of the bet that it is worse."""
    up, down, first = evidence.log_up[arm], evidence.log_down[arm], arm * N_VALUES
    values[first + BY_SUPERIORITY], values[first + BY_INFERIORITY] = up, down
    return status_of(up >= rules.log_threshold, down >= rules.log_threshold, False, False)


@no_inline
def status_of(is_superior: bool, is_inferior: bool, is_equivalent: bool, is_futile: bool) -> int:
    """The first that holds."""
    if is_superior:
        return SUPERIOR
    if is_inferior:
        return INFERIOR
    if is_equivalent:
        return EQUIVALENT
    return FUTILE if is_futile else ACTIVE
