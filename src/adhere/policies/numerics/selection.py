"""Drawing an index, and choosing among the largest of several numbers."""

import math
from typing import Any

import numpy as np

from adhere.compilation import Memo, State, generic, inline, specialise
from adhere.randomness import Stream, uniform

_BELOW_ONE = 1.0 - 2.0**-52


def draw_from(probabilities: Any, rng: Stream) -> Any:
    """Draw an index with the given probabilities, which sum to one."""
    u = uniform(rng)
    total = 0.0
    for index in range(probabilities.size - 1):
        total += probabilities[index]
        if u < total:
            return index
    return probabilities.size - 1


def draw_without_branches(probabilities: Any, rng: Stream) -> Any:
    """Draw the same index as `draw_from`, without branches at which a GPU's threads would wait for each other."""
    u, total, index = uniform(rng), 0.0, 0
    for other in range(probabilities.size - 1):
        total += probabilities[other]
        index += 1 if u >= total else 0
    return index


specialise(draw_from, lambda *_: draw_without_branches)
specialise(draw_from, lambda *_: draw_from, target="cpu")


@inline
def equally_likely(u: float, below: float, n: int) -> Any:
    """Return one of n indices, all equally likely if u is uniform on [0, below)."""
    if n == 2:
        return 1 if u + u >= below else 0
    return np.int64(u / below * n * _BELOW_ONE)  # the factor keeps it below n


@inline
def largest_of(values: Any) -> float:
    """Return the largest of several numbers without allocating memory, as NumPy's own method would."""
    largest = values[0]
    for index in range(1, values.size):
        largest = values[index] if values[index] > largest else largest
    return largest  # type: ignore[no-any-return]


@inline
def newest_wins_tie(n_tied: int, rng: Stream) -> bool:
    """Draw whether the newest of n tied candidates replaces the current one, with probability 1/n.

    If a loop over arms calls it at each tie, it ends with each of the tied arms equally often:

        best, n_tied, highest = 0, 0, -math.inf
        for arm in range(rule.n_arms):
            if value[arm] > highest:
                best, n_tied, highest = arm, 1, value[arm]
            elif value[arm] == highest:
                n_tied += 1
                if newest_wins_tie(n_tied, rng):
                    best = arm

    Otherwise the first arm would win every tie, and would therefore be given to every first patient.
    """
    return uniform(rng) * n_tied < 1.0


@inline
def draw_index_of_largest(values: Any, rng: Stream) -> int:
    """Return the index of the largest of several numbers; tied numbers are equally likely."""
    best, n_tied = 0, 1
    for index in range(1, values.size):
        if values[index] > values[best]:
            best, n_tied = index, 1
        elif values[index] == values[best]:
            n_tied += 1
            if newest_wins_tie(n_tied, rng):
                best = index
    return best


@inline
def share_among_largest(values: Any, n: int) -> None:
    """Turn the first n numbers into probabilities: equal ones for the largest number and its ties, 0 for the rest."""
    largest, n_tied = values[0], 0.0
    for index in range(1, n):
        largest = values[index] if values[index] > largest else largest
    for index in range(n):
        n_tied += 1.0 if values[index] == largest else 0.0
    for index in range(n):
        values[index] = 1.0 / n_tied if values[index] == largest else 0.0


@generic
def index_of(rule: Any, state: State, arm: Any) -> float:
    """Return the index of an arm: the number by which an index policy ranks arms, choosing the largest."""
    raise NotImplementedError


@inline
def choose_largest_index(rule: Any, state: State, memo: Memo, weight: float, rng: Stream) -> int:
    """Choose the arm with the largest index; tied arms are equally likely."""
    best, n_tied, highest = 0, 0, -math.inf
    for arm in range(rule.n_arms):
        index = index_of(rule, state, arm)
        if index > highest:
            best, n_tied, highest = arm, 1, index
        elif index == highest:
            n_tied += 1
            if newest_wins_tie(n_tied, rng):
                best = arm
    return best


@inline
def probabilities_of_largest_index(rule: Any, state: State, memo: Memo, weight: float, out: Any, rng: Stream) -> None:
    """Write equal probabilities for all arms with the largest index, and 0 for the others."""
    for arm in range(rule.n_arms):
        out[arm] = index_of(rule, state, arm)
    share_among_largest(out, rule.n_arms)
