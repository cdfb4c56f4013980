"""In which cell of a population's table a patient's draw lands."""

from __future__ import annotations

from typing import Any

import numpy as np

from adhere.compilation import inline, no_inline
from adhere.compilation.hints import in_wide_vectors

# Up to how many cells a draw is compared with every boundary; among more a guide says where to begin.
FEW_CELLS = 32
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ALL_STEPS = 1 << 53
_LOW_BITS, _HIGH_BITS = np.uint64(21), np.uint64(32)  # of the 53 of a step


@no_inline
def look_up_among_few(bounds: Any, actuals: Any, rewards: Any, n: int, steps: Any, actual: Any, reward: Any) -> None:
    """What each of n patients takes and gains: what belongs to the cell in which its draw lands.

    Three boundaries in one pass: two arms and two rewards make four cells.
    """
    in_wide_vectors()
    last = bounds.size - 1
    for i in range(n):
        actual[i], reward[i] = actuals[0], rewards[0]
    for cell in range(0, last, 3):
        # Beyond the last cell there is a boundary that no draw reaches.
        next_1, next_2, next_3 = cell + 1, cell + 2, cell + 3
        next_2 = next_2 if next_2 < last else last
        next_3 = next_3 if next_3 < last else last
        bound_1, bound_2, bound_3 = bounds[cell], bounds[next_1], bounds[next_2]
        actual_1, actual_2, actual_3 = actuals[next_1], actuals[next_2], actuals[next_3]
        reward_1, reward_2, reward_3 = rewards[next_1], rewards[next_2], rewards[next_3]
        for i in range(n):
            its_actual, its_reward, draw = actual[i], reward[i], steps[i]
            its_actual, its_reward = (actual_1, reward_1) if draw >= bound_1 else (its_actual, its_reward)
            its_actual, its_reward = (actual_2, reward_2) if draw >= bound_2 else (its_actual, its_reward)
            its_actual, its_reward = (actual_3, reward_3) if draw >= bound_3 else (its_actual, its_reward)
            actual[i], reward[i] = its_actual, its_reward


@inline
def look_up(actuals: Any, rewards: Any, n: int, cells: Any, actual: Any, reward: Any) -> None:
    """What each of n patients takes and gains, from its cell."""
    for i in range(n):
        actual[i], reward[i] = actuals[cells[i]], rewards[cells[i]]


@inline
def find_among_few(bounds: Any, n: int, steps: Any, cells: Any) -> None:
    """The cell in which each of n draws lands: so many boundaries lie at or below it. Three in one pass, as above."""
    last = bounds.size - 1
    for i in range(n):
        cells[i] = 0
    for cell in range(0, last, 3):
        next_1 = cell + 1 if cell + 1 < last else last
        next_2 = cell + 2 if cell + 2 < last else last
        bound_1, bound_2, bound_3 = bounds[cell], bounds[next_1], bounds[next_2]
        for i in range(n):
            draw = steps[i]
            cells[i] += np.uint32(draw >= bound_1) + np.uint32(draw >= bound_2) + np.uint32(draw >= bound_3)


def guide_for(bounds: Any) -> Any:
    """Room for the guide to each draw's cells, where there are many: four entries for each cell."""
    n_draws, n_cells = bounds.shape[-2:]
    n_entries = 4 << int(n_cells - 1).bit_length() if n_cells > FEW_CELLS else 0
    return np.zeros((n_draws, n_entries), np.uint32)


@no_inline
def fill_guide(bounds: Any, guide: Any) -> None:
    """Say of each of equal parts of the range of a draw in which cell it begins."""
    if guide.shape[1] > 0:
        width = _ALL_STEPS // guide.shape[1]
        for draw in range(guide.shape[0]):
            cell = _ZERO
            for entry in range(guide.shape[1]):
                cell = _cell_from(cell, bounds[draw], entry * width)
                guide[draw, entry] = cell


@no_inline
def find_among_many(bounds: Any, guide: Any, n: int, steps: Any, cells: Any) -> None:
    """The same with a guide. A part of the range has a quarter of a boundary on average: little is left to search.

    One draw after the other: for so little, vectors do not pay.
    """
    n_entries = np.uint64(guide.size)
    for i in range(n):
        entry = ((np.uint64(steps[i]) >> _LOW_BITS) * n_entries) >> _HIGH_BITS
        cells[i] = _cell_from(np.uint64(guide[entry]), bounds, steps[i])


@inline
def _cell_from(cell: Any, bounds: Any, step: Any) -> Any:
    """The cell in which a draw lands, which is this one or one after it."""
    last = np.uint64(bounds.size - 1)
    while step >= bounds[cell] and cell < last:
        cell += _ONE
    return cell
