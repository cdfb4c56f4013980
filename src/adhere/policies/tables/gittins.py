"""Finite-horizon Gittins indices of a Bernoulli arm with a uniform prior, for all counts and numbers of patients.

With s successes in N rewards and n patients to come, the index is the largest rate of reward that playing the arm and
stopping at the right time can give:

    ν(s, N, n) = max_τ E[rewards up to τ] / E[τ],    1 ≤ τ ≤ n

It is found by calibration. Compared with a certain reward λ per patient, the remaining patients are worth

    U(s, N, n) = max(0, A),    A = p - λ + p · U(s+1, N+1, n-1) + (1-p) · U(s, N+1, n-1),    p = (s+1) / (N+2)

and the index is the λ at which A = 0. All these terms have the same N + n. For one *span* N + n the recursion
therefore goes from row to row of a triangle, and spans are independent of each other. A is a convex function of λ.
Its slope is minus the mean time τ until stopping, which the same recursion gives. At any λ, λ + A / τ is the rate of
a stopping rule. It is at most the index, and equals the index if the rule is still the best one there. The rate is
computed at the two nearest λ below and above the index, and the larger one is used.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Kernel, inline
from adhere.policies.tables.table_cache import KeptTable
from adhere.processors import usable_processors

MAX_HORIZON: Final = 1000
Indices = NDArray[np.float32]
_LANES, _N_BLOCKS = 32, 256  # number of λ that are tried together in vector registers, and of such blocks
# If the mean is this many standard deviations above λ, nobody ever stops, so U = n · (p - λ).
_DEVIATIONS = 7.0


class Span(NamedTuple):
    """Number of rewards seen plus patients to come, and the horizon that the table is for."""

    length: int
    horizon: int


@inline
def position_of(horizon: Any, n_rewards: Any, successes: Any, n_left: Any) -> Any:
    """Return the position of an index in the table, which is ordered by rewards, successes and patients to come.

    Indices of an arm that is not played are therefore next to each other.
    """
    before = n_rewards * (n_rewards + 1) // 2 * horizon - (n_rewards - 1) * n_rewards * (n_rewards + 1) // 3
    return before + successes * (horizon - n_rewards) + n_left - 1


def table_size(horizon: int) -> int:
    """Return the number of indices that a trial with this horizon may use.

    >>> table_size(2), table_size(1000)
    (4, 167167000)
    """
    return horizon * (horizon + 1) * (horizon + 2) // 6


def kept_indices(horizon: int) -> KeptTable:
    """Return the table of all indices, computed once and then stored on disk."""
    size = table_size(horizon)
    return KeptTable(
        "gittins",
        numbers=(horizon,),
        version=1,
        title=f"the Gittins indices for {horizon} patient{'s' if horizon > 1 else ''}",
        shape=(size,),
        dtype=np.float32,
        working_bytes=4 * size + usable_processors() * 16 * (horizon + 3) * _LANES,
        compute=lambda: compute_indices(horizon),
    )


def compute_indices(horizon: int) -> Indices:
    """Compute the table, on all cores."""
    # Equally spaced on the scale on which the standard deviation of a posterior is constant.
    rates = np.sin(np.linspace(0.0, np.pi / 2, _N_BLOCKS * (_LANES - 1) + 1)) ** 2
    table = np.empty(table_size(horizon), np.float32)
    fill = _FILL.compiled(Span(1, horizon), rates, *_rows_for(1), table)
    with ThreadPoolExecutor(usable_processors()) as pool:
        spans = (Span(length, horizon) for length in range(horizon, 0, -1))
        for _ in pool.map(lambda span: fill(span, rates, *_rows_for(span.length), table), spans):
            pass
    return table


def _rows_for(length: int) -> tuple[Any, Any]:
    return np.zeros((length + 2, _LANES)), np.zeros((length + 2, _LANES))


def fill_span(span: Any, rates: Any, values: Any, times: Any, table: Any) -> None:
    """Find all indices of one span. `values` and `times` are workspaces for A and τ of a row, by successes and λ."""
    for block in range(_N_BLOCKS):
        first = block * (_LANES - 1)  # the last λ of a block is the first of the next
        block_rates = rates[first : first + _LANES]
        lowest, highest = block_rates[0], block_rates[_LANES - 1]
        # Below `start` everybody stops, at every λ of the block. From `end` on nobody stops, at any λ.
        start = max(0, int(lowest * (span.length + 1.0)) - 1)
        end = start
        fill_lanes(values, times, 0, start, 0.0, 0.0, 0.0, block_rates)
        for n_rewards in range(span.length - 1, -1, -1):
            n_left, more = span.length - n_rewards, n_rewards + 2.0
            variance = (highest * (1.0 - highest) + 1.0 / more) * n_left / (more * (span.length + 2.0))
            top = highest + _DEVIATIONS * np.sqrt(variance)
            start = max(0, start - 1) if n_left > 1 else start
            new_end = max(start, min(n_rewards + 1, int(top * more) + 1))
            fill_lanes(values, times, end, new_end + 1, n_left - 1.0, 1.0 / (more + 1.0), 1.0, block_rates)
            end = new_end
            start = step_back(span, n_rewards, start, end, block_rates, values, times, table)


@inline
def fill_lanes(
    values: Any, times: Any, start: int, end: int, n_left: float, scale: float, weight: float, rates: Any
) -> None:
    """Fill in the values n · (p - λ) of states where nobody stops, or, with weight 0, zeros where everybody stops."""
    for successes in range(start, end):
        for lane in range(_LANES):
            values[successes, lane] = weight * n_left * ((successes + 1.0) * scale - rates[lane])
            times[successes, lane] = weight * n_left


@inline
def step_back(
    span: Any, n_rewards: int, start: int, end: int, rates: Any, values: Any, times: Any, table: Any
) -> int:
    """Compute a row from the row with one more reward, and write its indices into the table. Return its `start`."""
    scale, last, n_left = 1.0 / (n_rewards + 2.0), _LANES - 1, span.length - n_rewards
    successes, is_below = start, True
    while successes < end and is_below:
        go_on(values, times, successes, (successes + 1.0) * scale, rates)
        if values[successes, 0] <= 0.0:
            start = successes + 1
        elif values[successes, last] <= 0.0:
            lane = last
            while values[successes, lane - 1] <= 0.0:
                lane -= 1
            from_below = rates[lane - 1] + values[successes, lane - 1] / times[successes, lane - 1]
            from_above = rates[lane] + values[successes, lane] / times[successes, lane]
            table[position_of(span.horizon, n_rewards, successes, n_left)] = max(from_below, from_above)
        else:
            is_below = False  # nobody stops at any λ, and so also not with more successes
        for lane in range(_LANES):
            stops = values[successes, lane] <= 0.0
            values[successes, lane] = 0.0 if stops else values[successes, lane]
            times[successes, lane] = 0.0 if stops else times[successes, lane]
        successes += 1
    for above in range(successes, end):
        go_on(values, times, above, (above + 1.0) * scale, rates)
    return start


@inline
def go_on(values: Any, times: Any, successes: int, p: float, rates: Any) -> None:
    """Write A and τ for playing one more patient and then stopping or continuing, whichever is better."""
    for lane in range(_LANES):
        after = p * values[successes + 1, lane] + (1.0 - p) * values[successes, lane]
        time_after = p * times[successes + 1, lane] + (1.0 - p) * times[successes, lane]
        values[successes, lane] = (p - rates[lane]) + after
        times[successes, lane] = 1.0 + time_after


_FILL = Kernel(fill_span)
