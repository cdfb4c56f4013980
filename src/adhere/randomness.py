"""Random numbers keyed by (seed, run, decision, purpose), the same on every machine, thread and device.

Each run has its own 128-bit key, and each random word is a keyed mix of a 64-bit counter that packs (decision,
purpose, draw). Decisions share no state, so any decision of any run can be derived again on its own. No two
(decision, purpose, draw) of a run have the same counter.

The mixer is Pelle Evensen's `rrxmrrxmsx_0`, which was built for low-entropy counters, with the second half of the key
added between its two multiplications. `docs/explanation/randomness.md` describes how it was tested.

The functions are plain scalar code. Numba compiles them into every kernel, and NumPy runs the same definitions
elementwise on arrays of counters.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from adhere.compilation import inline, specialise
from adhere.errors import InputError

Words = NDArray[np.uint64]
Stream = Words  # two keys, the counter, the next word, whether it is known, and the two public keys
Floats = NDArray[np.float64]

# Purposes of random numbers: three bits of the counter, and its highest bit.
_SECOND_HALF: Final = np.uint64(1 << 43)
CHOOSE: Final = np.uint64(0)
PATIENT: Final = np.uint64(1)
LEARN: Final = np.uint64(2)
LEARN_LATE: Final = np.uint64(3)  # updates that waited for the actual arm after others had learned already
POPULATION: Final = np.uint64(4)  # a population that is drawn afresh for a run
PYTHON: Final = np.uint64(5)  # seeds the generator of a policy that is a plain Python object
ESTIMATE: Final = np.uint64(6)  # estimates of probabilities that a policy does not state itself
FALLBACK: Final = np.uint64(7)  # a random arm if a policy failed
# In the second half, the first three are reserved for future use; four more are free.
DELAY: Final = _SECOND_HALF | np.uint64(0)  # when a report arrives
MISSING: Final = _SECOND_HALF | np.uint64(1)  # whether it arrives at all
GUARD: Final = _SECOND_HALF | np.uint64(2)  # draws around a policy: burn-in, allocation floors
STATED: Final = _SECOND_HALF | np.uint64(3)  # keys of the draws from which a policy computes stated probabilities

STREAM_VERSION: Final = 1  # to be raised when the same key no longer gives the same numbers

_DRAW_BITS: Final = np.uint64(20)
_DECISION_SHIFT: Final = np.uint64(23)
MAX_DECISIONS: Final = 2**40
_BELOW_PURPOSES: Final = np.uint64(2**63 - 1)  # all bits except that of the second half of the purposes
STREAM_SIZE: Final = 7

_UNIT: Final = 2.0**-53
_MULTIPLIER_1: Final = np.uint64(0xA24BAED4963EE407)
_MULTIPLIER_2: Final = np.uint64(0x9FB21C651E98DF25)
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_SILVER: Final = np.uint64(0xD1342543DE82EF95)
_R24, _R25, _R49, _R50, _R28, _R11 = (np.uint64(n) for n in (24, 25, 49, 50, 28, 11))
_L40, _L39, _L15, _L14 = (np.uint64(n) for n in (40, 39, 15, 14))
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@inline
def mix(word: Any, middle_key: Any) -> Any:
    """Return a bijective mix of 64-bit words for each key; close inputs give unrelated outputs."""
    word = word ^ ((word >> _R25) | (word << _L39)) ^ ((word >> _R50) | (word << _L14))
    word = word * _MULTIPLIER_1 + middle_key
    word = word ^ ((word >> _R24) | (word << _L40)) ^ ((word >> _R49) | (word << _L15))
    word = word * _MULTIPLIER_2
    return word ^ (word >> _R28)


@inline
def counter_at(decision: Any, purpose: Any) -> Any:
    """Return the counter at which the draws for one purpose of one decision begin."""
    return (np.uint64(decision) << _DECISION_SHIFT) ^ (purpose << _DRAW_BITS)


@inline
def recommendation_number(rng: Any) -> Any:
    """Return the number, from 0, of the recommendation that a stream points to, for any purpose."""
    return np.int64((rng[2] & _BELOW_PURPOSES) >> _DECISION_SHIFT)


@inline
def word_at(outer: Any, middle: Any, decision: Any, purpose: Any, draw: Any) -> Any:
    """Return the word that `next_word` returns at a draw of a decision, given a run's two keys."""
    return mix(counter_at(decision, purpose) ^ np.uint64(draw) ^ outer, middle)


@inline
def point(rng: Any, decision: Any, purpose: Any) -> None:
    """Point a stream to the draws for one purpose of one decision."""
    rng[2] = counter_at(decision, purpose)
    rng[4] = _ZERO


@inline
def point_with(rng: Any, decision: Any, purpose: Any, first_word: Any) -> None:
    """Do the same as `point`, given the first word of those draws."""
    rng[2] = counter_at(decision, purpose)
    rng[3], rng[4] = first_word, _ONE


@inline
def next_word(rng: Any) -> Any:
    """Return the next 64 random bits of the stream."""
    word = rng[3] if rng[4] != _ZERO else mix(rng[2] ^ rng[0], rng[1])
    rng[2] += _ONE
    rng[4] = _ZERO
    return word


@inline
def draw_ahead(rng: Any) -> None:
    """Compute the next word in advance. If several branches would draw it, a GPU's threads draw it only once."""
    rng[3], rng[4] = mix(rng[2] ^ rng[0], rng[1]), _ONE


@inline
def set_keys(rng: Any, outer: Any, middle: Any) -> None:
    """Set a stream's two keys, and use them as public keys too, as in every simulated run."""
    rng[0], rng[1] = outer, middle
    rng[5], rng[6] = outer, middle


@inline
def use_public_keys(rng: Any) -> Any:
    """Draw with the public keys from now on, and return the argument of `use_own_keys`.

    In a live trial a stream's own keys are secret, because they draw the arm. Draws for stated probabilities or for
    learning use public keys, so that anyone with the log can repeat them. The counter advances in both cases. In a
    simulated run both pairs of keys are the same.
    """
    own = rng[0], rng[1]
    rng[0], rng[1], rng[4] = rng[5], rng[6], _ZERO
    return own


@inline
def use_own_keys(rng: Any, own: Any) -> None:
    """Draw with the stream's own keys again."""
    rng[0], rng[1] = own
    rng[4] = _ZERO


@inline
def enter_substream(rng: Any, purpose: Any, draw: Any) -> Any:
    """Point a stream to a substream of any length.

    The key of the substream is a public draw for one purpose in the stream's current decision.

    Return the position that `leave_substream` needs. The substream does not depend on what was drawn before.
    """
    position = rng[0], rng[1], rng[2], rng[3], rng[4]
    rng[0] = word_at(rng[5], rng[6], recommendation_number(rng), purpose, draw)
    rng[1], rng[2], rng[4] = rng[6], _ZERO, _ZERO
    return position


@inline
def enter_public_draws(rng: Any, purpose: Any, draw: Any) -> Any:
    """Point a stream to the public draws for one purpose in its current decision, starting at `draw`.

    Return the position that `leave_substream` needs.
    """
    position = rng[0], rng[1], rng[2], rng[3], rng[4]
    rng[2] = counter_at(recommendation_number(rng), purpose) ^ np.uint64(draw)
    rng[0], rng[1], rng[4] = rng[5], rng[6], _ZERO
    return position


@inline
def leave_substream(rng: Any, position: Any) -> None:
    """Return a stream to its earlier position."""
    rng[0], rng[1], rng[2], rng[3], rng[4] = position


@inline
def step(word: Any) -> Any:
    """Return the upper 53 of 64 bits as an integer."""
    return np.int64(word >> _R11)


@inline
def unit(word: Any) -> float:
    """Return the upper 53 of 64 bits as a number in [0, 1)."""
    return float(word >> _R11) * _UNIT


def steps_to(number: Floats) -> NDArray[np.int64]:
    """Return the first `step` whose `unit` is not below a number, so that integers compare like the numbers.

    >>> steps_to(np.array([0.0, 0.5, 2.0])) / 2.0**53
    array([0. , 0.5, 2. ])
    """
    steps: NDArray[np.int64] = np.ceil(number / _UNIT).astype(np.int64)
    return steps


@inline
def uniform(rng: Any) -> float:
    """Return the stream's next number, uniform on [0, 1) in steps of 2⁻⁵³."""
    return unit(next_word(rng))


def uniform_at(rng: Any, decision: Any, purpose: Any, draw: Any) -> float:
    """Return the number that `uniform` returns at a draw of a decision, without moving the stream."""
    # With arrays, since Python warns about words that overflow.
    return float(uniforms(rng[np.newaxis, :2], np.array([decision]), purpose, draw)[0, 0])


def _uniform_at_compiled(rng: Any, decision: Any, purpose: Any, draw: Any) -> float:
    return unit(word_at(rng[0], rng[1], decision, purpose, draw))


specialise(uniform_at, lambda *_: _uniform_at_compiled)


def check_seed(seed: object) -> int:
    """Return the seed as an int, or raise an error that says what a seed must be.

    >>> check_seed(7)
    7
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) < 2**64:
        raise InputError("seed", seed, "a whole number from 0 to 2**64 - 1")
    return int(seed)


def stream_keys(seed: int, first_run: int, n_runs: int) -> Words:
    """Return the keys of consecutive runs, one row each; no two runs of one seed share a row.

    >>> stream_keys(0, 5, 2)[1].tolist() == stream_keys(0, 6, 1)[0].tolist()
    True
    """
    runs = np.arange(first_run, first_run + n_runs, dtype=np.uint64)
    base = np.array([seed], dtype=np.uint64)
    zero = np.zeros(1, dtype=np.uint64)
    outer = mix(mix(base ^ _GOLDEN, zero) + runs * _GOLDEN, zero)
    middle = mix(mix(base ^ _SILVER, zero) + runs * _SILVER, zero)
    return np.stack([outer, middle], axis=1)


def stream(seed: int, run: int) -> Words:
    """Return the stream of a run, with the same own and public keys."""
    rng = np.zeros(STREAM_SIZE, np.uint64)
    set_keys(rng, *stream_keys(seed, run, 1)[0])
    return rng


def uniforms(keys: Words, decisions: NDArray[np.integer[Any]], purpose: np.uint64, draw: int = 0) -> Floats:
    """Return the numbers that `uniform` returns at the given draw, for every run (row) and decision (column)."""
    result: Floats = step(word_at(keys[:, :1], keys[:, 1:2], decisions, purpose, draw)) * _UNIT
    return result
