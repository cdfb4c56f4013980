"""The optimum for two arms with independent uniform priors, by the successes and failures of each arm.

A state is n_0, s_0, n_1, s_1: rewards and successes of each arm. Swapping the arms gives a second state with the same
value, so only the state with n_0 ≤ n_1 is stored. The states after n rewards are ordered by n_0, then s_0, then s_1.
"""

from typing import Any

import numpy as np

from adhere.compilation import Kernel, State, inline
from adhere.policies.base.generic import Rule
from adhere.policies.tables.dynamic_programming import Integers, better_of, decision_at, larger_mean, other_way_round


def starts_of(n: int) -> Integers:
    """Return the index at which the states with each n_0 begin.

    >>> starts_of(2).tolist()
    [0, 3, 7]
    """
    first = np.arange(n // 2 + 1)
    return np.concatenate([[0], np.cumsum((first + 1) * (n - first + 1))])


@inline
def position_of(n_0: Any, s_0: Any, n_1: Any, s_1: Any) -> Any:
    """Return the index of a state with n_0 ≤ n_1 in the table.

    All layers with fewer rewards have C(n + 3, 4) states. The table contains half of them, and once more half of the
    states with n_0 = n_1.
    """
    n = n_0 + n_1
    m = (n + 1) // 2
    layers = (n * (n + 1) * (n + 2) * (n + 3) // 24 + m * (m + 1) * (2 * m + 1) // 6) // 2
    blocks = n_0 * (n_0 + 1) * (3 * n + 5 - 2 * n_0) // 6
    return layers + blocks + s_0 * (n_1 + 1) + s_1


def decide(layer: Any, values: Any, first: int, end: int) -> None:
    """Write the better arm in each state with n_0 from `first` to `end`, and the state's value."""
    own, codes, later = values.own, values.codes, values.later
    for n_0 in range(first, end):
        n_1 = layer.n - n_0
        place = values.own_starts[n_0]
        # With one more reward, the first arm may have more rewards than the second; the arms are then swapped.
        if n_0 < n_1:
            start_0, step_0, step_1 = values.later_starts[n_0 + 1], n_1 + 1, 1
        else:
            start_0, step_0, step_1 = values.later_starts[n_1], 1, n_0 + 2
        start_1 = values.later_starts[n_0]
        for s_0 in range(n_0 + 1):
            mean_0 = (s_0 + 1.0) / (n_0 + 2.0)
            failed_0, failed_1 = start_0 + s_0 * step_0, start_1 + s_0 * (n_1 + 2)
            for s_1 in range(n_1 + 1):
                mean_1 = (s_1 + 1.0) / (n_1 + 2.0)
                at_0, at_1 = failed_0 + s_1 * step_1, failed_1 + s_1
                value_0 = mean_0 * (1.0 + later[at_0 + step_0]) + (1.0 - mean_0) * later[at_0]
                value_1 = mean_1 * (1.0 + later[at_1 + 1]) + (1.0 - mean_1) * later[at_1]
                own[place] = max(value_0, value_1)
                codes[place] = better_of(value_0, value_1)
                place += 1


DECIDE = Kernel(decide)


@inline
def best_arm(rule: Rule, state: State) -> Any:
    """Return the arm in the table, or after the horizon the arm with the larger mean."""
    successes, failures = state.successes, state.failures
    n_0, n_1 = successes[0] + failures[0], successes[1] + failures[1]
    if n_0 + n_1 >= rule.horizon:
        return larger_mean(successes, n_0, n_1)
    few, many, s_few, s_many = np.int64(n_0), np.int64(n_1), np.int64(successes[0]), np.int64(successes[1])
    swapped = few > many
    if swapped:
        few, many, s_few, s_many = many, few, s_many, s_few
    decision = decision_at(rule.decisions, position_of(few, s_few, many, s_many))
    return other_way_round(decision) if swapped else decision
