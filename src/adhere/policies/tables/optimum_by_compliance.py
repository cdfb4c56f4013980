"""The optimum for two arms under the prior of `uniform-other`, by counts of recommendations, arms taken and rewards.

Under that prior P(taken | recommended) and P(reward | taken) are independent and uniform. Six numbers therefore
replace the eight counts of (recommended, taken, reward):

- N_0 and N_1: how often each arm was taken
- s_0 and s_1: the successes among them
- t_0 and t_1: how often the first arm had been recommended among them

Swapping the names of the two recommendations, or of the two arms, does not change a value. So one of four states is
stored: the one with N_0 ≤ N_1 and t_0 ≤ N_0 / 2. For 40 patients this leaves 8 million of 400 million states.

The states after n patients are ordered by N_0, t_0, t_1, s_0, s_1.
"""

from typing import Any

import numpy as np

from adhere.compilation import Kernel, State, inline
from adhere.policies.base.generic import Rule
from adhere.policies.tables.dynamic_programming import (
    FIRST,
    SECOND,
    TIE,
    Integers,
    better_of,
    decision_at,
    larger_mean,
    other_way_round,
)


def starts_of(n: int) -> Integers:
    """Return the index at which the states with each N_0 begin.

    >>> starts_of(2).tolist()
    [0, 9, 17]
    """
    first = np.arange(n // 2 + 1)
    return np.concatenate([[0], np.cumsum((first // 2 + 1) * (first + 1) * (n - first + 1) ** 2)])


def all_starts(horizon: int) -> Integers:
    """Return `starts_of` for every n below the horizon, counted from the first state of the first layer."""
    starts, before = np.zeros((horizon, horizon // 2 + 1), np.int64), 0
    for n in range(horizon):
        *own, size = starts_of(n).tolist()
        starts[n, : len(own)] = np.array(own) + before
        before += size
    return starts


@inline
def position_of(starts: Any, n_0: Any, n_1: Any, t_0: Any, t_1: Any) -> Any:
    """Return the index of the first state with these counts, and the steps for one more success of each arm.

    The last value says whether the names of the recommendations are swapped there.
    """
    swapped = n_0 > n_1
    few, many, t_few, t_many = (n_1, n_0, t_1, t_0) if swapped else (n_0, n_1, t_0, t_1)
    renamed = 2 * t_few > few
    t_few, t_many = (few - t_few, many - t_many) if renamed else (t_few, t_many)
    place = starts[few] + (t_few * (many + 1) + t_many) * ((few + 1) * (many + 1))
    return place, 1 if swapped else many + 1, many + 1 if swapped else 1, renamed


@inline
def value_after(later: Any, at: Any, step: Any, mean: float) -> float:
    """Return the expected reward of all remaining patients if an arm is taken now."""
    return mean * (1.0 + later[at + step]) + (1.0 - mean) * later[at]  # type: ignore[no-any-return]


def decide(layer: Any, values: Any, first: int, end: int) -> None:
    """Write the better recommendation in each state with N_0 from `first` to `end`, and the state's value."""
    own, codes, later, starts = values.own, values.codes, values.later, values.later_starts
    for n_0 in range(first, end):
        n_1 = layer.n - n_0
        place = values.own_starts[n_0]
        for t_0 in range(n_0 // 2 + 1):
            for t_1 in range(n_1 + 1):
                # The suffixes are the recommendation and the arm taken.
                at_00, up_00, over_00, _ = position_of(starts, n_0 + 1, n_1, t_0 + 1, t_1)
                at_01, up_01, over_01, _ = position_of(starts, n_0, n_1 + 1, t_0, t_1 + 1)
                at_10, up_10, over_10, _ = position_of(starts, n_0 + 1, n_1, t_0, t_1)
                at_11, up_11, over_11, _ = position_of(starts, n_0, n_1 + 1, t_0, t_1)
                takes_00 = (t_0 + 1.0) / (t_0 + t_1 + 2.0)
                takes_10 = (n_0 - t_0 + 1.0) / (layer.n - t_0 - t_1 + 2.0)
                for s_0 in range(n_0 + 1):
                    mean_0 = (s_0 + 1.0) / (n_0 + 2.0)
                    row_00, row_01 = at_00 + s_0 * up_00, at_01 + s_0 * up_01
                    row_10, row_11 = at_10 + s_0 * up_10, at_11 + s_0 * up_11
                    for s_1 in range(n_1 + 1):
                        mean_1 = (s_1 + 1.0) / (n_1 + 2.0)
                        value_00 = value_after(later, row_00 + s_1 * over_00, up_00, mean_0)
                        value_01 = value_after(later, row_01 + s_1 * over_01, over_01, mean_1)
                        value_10 = value_after(later, row_10 + s_1 * over_10, up_10, mean_0)
                        value_11 = value_after(later, row_11 + s_1 * over_11, over_11, mean_1)
                        value_0 = takes_00 * value_00 + (1.0 - takes_00) * value_01
                        value_1 = takes_10 * value_10 + (1.0 - takes_10) * value_11
                        own[place] = max(value_0, value_1)
                        codes[place] = better_of(value_0, value_1)
                        place += 1


DECIDE = Kernel(decide)


@inline
def best_recommendation(rule: Rule, state: State) -> Any:
    """Return the recommendation in the table, or after the horizon the one with the larger expected reward."""
    t_0, t_1, successes = state.after_first[0], state.after_first[1], state.successes
    n_0, n_1 = t_0 + state.after_second[0], t_1 + state.after_second[1]
    if n_0 + n_1 >= rule.horizon:
        return larger_expectation(successes, n_0, n_1, t_0, t_1)
    starts = rule.starts[np.int64(n_0 + n_1)]
    place, step_0, step_1, renamed = position_of(starts, np.int64(n_0), np.int64(n_1), np.int64(t_0), np.int64(t_1))
    place += np.int64(successes[0]) * step_0 + np.int64(successes[1]) * step_1
    decision = decision_at(rule.decisions, place)
    return other_way_round(decision) if renamed else decision


@inline
def larger_expectation(successes: Any, n_0: float, n_1: float, t_0: float, t_1: float) -> Any:
    """Return the recommendation after which the better arm is taken more often, or TIE."""
    arm = larger_mean(successes, n_0, n_1)
    first = (t_0 + 1.0) * (n_0 - t_0 + n_1 - t_1 + 2.0)
    second = (n_0 - t_0 + 1.0) * (t_0 + t_1 + 2.0)
    if arm == TIE or first == second:
        return TIE
    return FIRST if (first > second) == (arm == FIRST) else SECOND
