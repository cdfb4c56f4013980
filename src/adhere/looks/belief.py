"""Look by belief: compares arms by the policy's own probability that each is best."""

from typing import Any

from adhere.compilation import implements, no_inline
from adhere.looks.beta_quadrature import RESULT
from adhere.looks.judge import (
    ACTIVE,
    BY_INFERIORITY,
    BY_SUPERIORITY,
    N_VALUES,
    BeliefRules,
    clear,
    compare_with_control,
    judge,
    pick_best,
    status_against_control,
    status_of,
    write,
)


@implements(judge, BeliefRules)
def judge_by_belief(rules: Any, look: int, evidence: Any, status: Any, values: Any) -> int:
    """Judge the remaining arms by the policy's beliefs."""
    clear(values)
    n_left = share_beliefs(evidence, status)
    if rules.control >= 0:
        return compare_with_control(rules, look, evidence, status, values)
    return pick_best(n_left, rules.superiority[look], rules.inferiority[look], evidence.work, status, values)


@no_inline
def share_beliefs(evidence: Any, status: Any) -> int:
    """Rescale the beliefs in the remaining arms to a sum of 1, and write them into row RESULT of `work`.

    If their sum is 0, all remaining arms get equal beliefs. Return the number of remaining arms.
    """
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


@implements(status_against_control, BeliefRules)
def belief_against_control(rules: Any, look: int, arm: int, evidence: Any, values: Any) -> int:
    """Judge an arm of a trial with two arms by the policy's probability that it is better than the control."""
    better, first = evidence.work[2 * RESULT + arm], arm * N_VALUES
    return status_of(
        write(values, first + BY_SUPERIORITY, better, rules.superiority[look]) >= rules.superiority[look],
        write(values, first + BY_INFERIORITY, better, rules.inferiority[look]) <= rules.inferiority[look],
        False,
        False,
    )
