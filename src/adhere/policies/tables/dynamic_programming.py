"""Exact dynamic programming over counts, from the last patient to the first, on all cores.

The states after n patients form a *layer*. A layer consists of *blocks*, which are computed independently of each
other. Only the values of two layers are in memory at a time. For each state only the decision is stored, in two bits.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import Kernel, guessed, inline
from adhere.processors import usable_processors
from adhere.randomness import Stream, uniform

Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]
FIRST, SECOND, TIE = 0, 1, 2
# Values are sums of at most a few hundred rewards, and each step has a rounding error of at most 10⁻¹³.
TOLERANCE: Final = 1e-10
_PER_BYTE, _VALUE_BYTES = 4, 8
_FEW_STATES = 1 << 15  # not worth distributing to threads


class Layer(NamedTuple):
    """All states after a given number of patients."""

    n: int


class Values(NamedTuple):
    """Values of the states of a layer and of the next layer, and the index at which each block of states begins."""

    own: Any
    codes: Any  # the decisions: FIRST, SECOND or TIE
    own_starts: Integers
    later: Any
    later_starts: Integers


BlockStarts = Callable[[int], Integers]  # for the layer after n patients; the last entry is the layer's size


def table_size(horizon: int, starts_of: BlockStarts) -> int:
    """Return the bytes of a table: all decisions before the last patient, and the value of the first state."""
    n_states = sum(int(starts_of(n)[-1]) for n in range(horizon))
    return -(-n_states // _PER_BYTE) + _VALUE_BYTES


def working_bytes(horizon: int, starts_of: BlockStarts) -> int:
    """Return the bytes that `solve` uses: decisions, two layers of values, and one layer of unpacked decisions."""
    largest = int(starts_of(horizon)[-1])
    return table_size(horizon, starts_of) + largest * (2 * 8 + 1)


def solve(horizon: int, starts_of: BlockStarts, decide: Kernel) -> Bytes:
    """Return the best decision in every state, packed by layer, block and state, followed by the total value.

    `decide(layer, values, first, end)` fills in the values and decisions of blocks `first` to `end`.
    """
    largest = int(starts_of(horizon)[-1])
    own, later, codes = np.zeros(largest), np.zeros(largest), np.zeros(largest, np.uint8)
    table = np.zeros(table_size(horizon, starts_of), np.uint8)
    every = [starts_of(n) for n in range(horizon + 1)]
    offsets = np.concatenate([[0], np.cumsum([starts[-1] for starts in every])]).tolist()
    example = Layer(0), Values(own, codes, every[0], later, every[1]), 0, 0
    decided, packed = decide.compiled(*example), _PACK.compiled(Layer(0), codes, table, 0, 0, 0)
    n_threads = usable_processors()
    with ThreadPoolExecutor(n_threads) as pool:
        for n in reversed(range(horizon)):
            values, size = Values(own, codes, every[n], later, every[n + 1]), int(every[n][-1])
            n_parts = n_threads if size > _FEW_STATES else 1
            run = pool.map if n_parts > 1 else map
            parts = _shares(every[n], n_parts)
            list(run(lambda part, n=n, values=values: decided(Layer(n), values, *part), parts))  # type: ignore[misc]
            stretches = _stretches(offsets[n], size, n_parts)
            list(run(lambda one, n=n: packed(Layer(n), codes, table, offsets[n], *one), stretches))  # type: ignore[misc]
            own, later = later, own
    table[-_VALUE_BYTES:] = later[:1].view(np.uint8)
    return table


def value_in(table: Bytes) -> float:
    """Return the expected total reward of all patients, stored at the end of the table."""
    return float(table[-_VALUE_BYTES:].copy().view(np.float64)[0])


def _shares(starts: Integers, n_parts: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of consecutive blocks with about the same number of states each."""
    bounds = np.searchsorted(starts, np.linspace(0, starts[-1], n_parts + 1)).tolist()
    yield from ((first, end) for first, end in pairwise(bounds) if first < end)


def _stretches(offset: int, size: int, n_parts: int) -> Sequence[tuple[int, int]]:
    """Return ranges of a layer's states, no two of which share a byte of the table."""
    step = -(-size // (n_parts * _PER_BYTE)) * _PER_BYTE
    inner = [end - offset % _PER_BYTE for end in range(step, size, step)]
    bounds = [0, *inner, size]
    return list(pairwise(bounds))


def pack(layer: Any, codes: Any, table: Any, offset: int, first: int, end: int) -> None:
    """Write the decisions of some states into the table."""
    for state in range(first, end):
        place = offset + state
        table[place >> 2] |= np.uint8(codes[state] << (2 * (place & 3)))


_PACK = Kernel(pack)


@inline
def decision_at(table: Any, place: Any) -> Any:
    """Return the decision of the state at an index of the table."""
    return (np.int64(table[place >> 2]) >> (2 * (place & 3))) & 3


@inline
def better_of(first: float, second: float) -> Any:
    """Return the decision for the larger of two values, or TIE."""
    return TIE if abs(first - second) <= TOLERANCE else FIRST if first > second else SECOND


@inline
def other_way_round(decision: Any) -> Any:
    """Return the decision in the state with the arms swapped."""
    return decision if decision == TIE else SECOND - decision


@inline
def larger_mean(successes: Any, n_0: float, n_1: float) -> Any:
    """Return the arm with the larger posterior mean (s + 1) / (n + 2), or TIE."""
    first, second = (successes[0] + 1.0) * (n_1 + 2.0), (successes[1] + 1.0) * (n_0 + 2.0)
    return TIE if first == second else FIRST if first > second else SECOND


@inline
def draw_decision(decision: Any, rng: Stream) -> int:
    """Return the arm decided on, or one of both arms at random if they tie."""
    if decision == TIE:
        decision = SECOND if uniform(rng) < 0.5 else FIRST
    return guessed(SECOND if decision == SECOND else FIRST)  # type: ignore[no-any-return]


@inline
def probabilities_of_decision(decision: Any, out: Any) -> None:
    """Write into `out` the probability that `draw_decision` draws each arm."""
    out[1] = 0.5 if decision == TIE else float(decision)
    out[0] = 1.0 - out[1]
