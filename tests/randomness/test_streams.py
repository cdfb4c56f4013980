"""Streams against each other: runs, decisions, purposes, draws and seeds share nothing that a test can see.

Some eighty p-values in this file, each required to be above 10⁻⁴: false alarms below 1% in all. Seeds are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from adhere import InputError
from adhere.randomness import (
    CHOOSE,
    DELAY,
    ESTIMATE,
    FALLBACK,
    GUARD,
    LEARN,
    LEARN_LATE,
    MAX_DECISIONS,
    MISSING,
    PATIENT,
    POPULATION,
    PYTHON,
    STREAM_VERSION,
    check_seed,
    counter_at,
    mix,
    next_word,
    point,
    recommendation_number,
    stream,
    stream_keys,
    uniforms,
    word_at,
)

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]
N = 1 << 20
SMALLEST_P = 1e-4
DRAWN = (CHOOSE, PATIENT, LEARN, LEARN_LATE, POPULATION, PYTHON, ESTIMATE, FALLBACK)
RESERVED = (DELAY, MISSING, GUARD)
PURPOSES = (*DRAWN, *RESERVED)
KEYS, DECISIONS = stream_keys(0, 0, 1), np.arange(N)


def by_decision(purpose: np.uint64 = CHOOSE, draw: int = 0, seed: int = 0, run: int = 0, first: int = 0) -> Floats:
    numbers: Floats = uniforms(stream_keys(seed, run, 1), DECISIONS + first, purpose, draw)[0]
    return numbers


def by_run(decision: int = 0, seed: int = 0, first: int = 0, purpose: np.uint64 = CHOOSE) -> Floats:
    numbers: Floats = uniforms(stream_keys(seed, first, N), np.array([decision]), purpose)[:, 0]
    return numbers


NEIGHBOURS: dict[str, Callable[[], tuple[Floats, Floats]]] = {
    "adjacent runs": lambda: (by_decision(run=0), by_decision(run=1)),
    "adjacent runs, run by run": lambda: (by_run(), by_run(first=1)),
    "adjacent decisions": lambda: (by_decision(), by_decision(first=1)),
    "adjacent decisions, run by run": lambda: (by_run(0), by_run(1)),
    "distant decisions": lambda: (by_decision(), by_decision(first=2**30)),
    "adjacent draws": lambda: (by_decision(draw=0), by_decision(draw=1)),
    "choose and patient": lambda: (by_decision(CHOOSE), by_decision(PATIENT)),
    "choose and learn": lambda: (by_decision(CHOOSE), by_decision(LEARN)),
    "patient and learn": lambda: (by_decision(PATIENT), by_decision(LEARN)),
    "learn and learn late": lambda: (by_decision(LEARN), by_decision(LEARN_LATE)),
    "choose and delay": lambda: (by_decision(CHOOSE), by_decision(DELAY)),
    "delay and missing": lambda: (by_decision(DELAY), by_decision(MISSING)),
    "population and patient": lambda: (by_run(purpose=POPULATION), by_run(purpose=PATIENT)),
    "adjacent seeds": lambda: (by_decision(seed=0), by_decision(seed=1)),
    "adjacent seeds, run by run": lambda: (by_run(seed=0), by_run(seed=1)),
    "seeds far apart": lambda: (by_decision(seed=1), by_decision(seed=2**63)),
}


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_neighbours_are_independent(neighbours: str) -> None:
    one, other = NEIGHBOURS[neighbours]()
    for numbers in (one, other):
        assert stats.kstest(numbers[: N // 8], "uniform").pvalue > SMALLEST_P
    correlation = float(np.corrcoef(one, other)[0, 1])
    assert 2 * stats.norm.sf(abs(correlation) * math.sqrt(N)) > SMALLEST_P
    together = np.bincount((one * 32).astype(int) * 32 + (other * 32).astype(int), minlength=1024)
    assert stats.chisquare(together).pvalue > SMALLEST_P
    # Low bits too, which a comparison of magnitudes would not see.
    low = [(numbers * 2.0**53).astype(np.uint64) % np.uint64(16) for numbers in (one, other)]
    together = np.bincount((low[0] * np.uint64(16) + low[1]).astype(int), minlength=256)
    assert stats.chisquare(together).pvalue > SMALLEST_P


def n_repeats(values: Words) -> int:
    """How many values repeat an earlier one; sorting is far quicker here than `numpy.unique`."""
    in_order = np.sort(values)
    return int((in_order[1:] == in_order[:-1]).sum())


def test_keys_of_a_million_runs_are_distinct() -> None:
    """And those of another seed, and both halves of a key."""
    keys = np.vstack([stream_keys(seed, 0, 1_000_000) for seed in (0, 1)])
    assert n_repeats(keys.ravel()) == 0


def test_no_two_draws_share_a_counter() -> None:
    counters = [
        counter_at(decision, purpose) + np.uint64(draw)
        for decision in (0, 1, 2, MAX_DECISIONS - 1)
        for purpose in PURPOSES
        for draw in (0, 1, 2**20 - 1)
    ]
    assert len({int(counter) for counter in counters}) == 4 * len(PURPOSES) * 3
    assert int(max(counters)) < 2**64


# Words of stream version 1 as 0.1.0 drew them, by (seed, run, decision, draw), for each purpose in turn.
VERSION_1 = {
    (0, 0, 0, 0): [
        0x8B682B4CE0455B31, 0x1B9BCD7ED5620D7C, 0x7ABBB4E8008B1894, 0xD31B0E01AACE20E0,
        0x9F9351078D1077B4, 0x49EE1B1E0AC99321, 0x1C77174760156B13, 0xCF7AB69CA46616A6,
    ],
    (1, 2, 3, 4): [
        0x1786B434E14F2385, 0xFC4D6F131A8D1059, 0x7C36E7F9F7712D50, 0x0C3DF2931949B4FB,
        0xEF2151D44F4446F4, 0x48E0B7E7B8BA699B, 0x415688B53E5ABA49, 0x94881764FB3059B5,
    ],
    (2**64 - 1, 10**9, MAX_DECISIONS - 1, 2**20 - 1): [
        0x1AFDA374FC9E812B, 0xD6597E59B9F05B36, 0x1B3ACF8D69AF191F, 0x38406AC23494FEE2,
        0x0DCB1130F0554B41, 0x3832927415712CCD, 0x45DB60159042D20D, 0x7126F6109262D8FD,
    ],
}  # fmt: skip


@pytest.mark.parametrize("where", VERSION_1)
def test_every_purpose_draws_what_it_always_drew(where: tuple[int, int, int, int]) -> None:
    """A change here needs another `STREAM_VERSION`: logs of live trials say by which one they were drawn."""
    seed, run, decision, draw = where
    keys = stream_keys(seed, run, 1)
    numbers = [uniforms(keys, np.array([decision]), purpose, draw)[0, 0] for purpose in DRAWN]
    with np.errstate(over="ignore"):
        drawn = [int(word_at(keys[0, 0], keys[0, 1], decision, purpose, draw)) for purpose in DRAWN]
    assert STREAM_VERSION == 1
    assert drawn == VERSION_1[where]
    assert numbers == [(word >> 11) * 2.0**-53 for word in drawn]


def test_numbers_do_not_depend_on_how_many_are_asked_for() -> None:
    keys = stream_keys(5, 0, 10)
    table = uniforms(keys, np.arange(20), PATIENT, 3)
    assert table.shape == (10, 20)
    assert table[7, 11] == uniforms(stream_keys(5, 7, 1), np.array([11]), PATIENT, 3)[0, 0]


def words(counters: Words, run: int = 0) -> Words:
    outer, middle = stream_keys(0, run, 1)[0]
    mixed: Words = mix(counters ^ outer, np.array([middle]))
    return mixed


ORDERS: dict[str, Callable[[int], Words]] = {
    "draws": lambda n: words(np.arange(n, dtype=np.uint64)),
    "decisions": lambda n: words(np.arange(n, dtype=np.uint64) << np.uint64(23)),
    "runs": lambda n: mix(stream_keys(0, 0, n)[:, 0], stream_keys(0, 0, n)[:, 1]),
}


@pytest.mark.parametrize("order", ORDERS)
def test_every_bit_is_balanced(order: str) -> None:
    bits = np.unpackbits(ORDERS[order](N).view(np.uint8)).reshape(N, 64)
    z = (bits.sum(axis=0, dtype=np.int64) - N / 2) / math.sqrt(N / 4)
    assert stats.chi2.sf((z**2).sum(), 64) > SMALLEST_P


@pytest.mark.parametrize("order", ORDERS)
def test_collisions_are_as_many_as_expected(order: str) -> None:
    """2²² words cut to 36 bits: about λ = 128 of them repeat an earlier one, by Poisson's law."""
    n = 1 << 22
    collisions = n_repeats(ORDERS[order](n) >> np.uint64(64 - 36))
    expected = n - 2.0**36 * -math.expm1(n * math.log1p(-(2.0**-36)))
    assert min(stats.poisson.cdf(collisions, expected), stats.poisson.sf(collisions - 1, expected)) > SMALLEST_P / 2


@pytest.mark.parametrize("order", ORDERS)
def test_birthday_spacings(order: str) -> None:
    """2²² birthdays in a year of 2⁶⁰ days: λ = n³ / 4m = 16 spacings repeat (Marsaglia's test)."""
    n = 1 << 22
    days = np.sort(ORDERS[order](n) >> np.uint64(4))
    repeats = n_repeats(np.diff(days))
    assert min(stats.poisson.cdf(repeats, 16.0), stats.poisson.sf(repeats - 1, 16.0)) > SMALLEST_P / 2


@pytest.mark.parametrize("shift", [0, 23], ids=["small counters", "counters of decisions"])
def test_avalanche(shift: int) -> None:
    """Flip any bit of the counter: every bit of the word changes in half the cases, whatever the other bits."""
    n = 1 << 13
    counters = np.arange(n, dtype=np.uint64) << np.uint64(shift)
    before = words(counters)
    z = np.empty((64, 64))
    for flipped in range(64):
        changed = before ^ words(counters ^ np.uint64(1 << flipped))
        bits = np.unpackbits(changed.view(np.uint8)).reshape(n, 64)
        # A bit that the counters run over pairs them up: every change is seen twice, with twice the variance.
        variance = n / 4 * (2 if shift <= flipped < shift + 13 else 1)
        z[flipped] = (bits.sum(axis=0, dtype=np.int64) - n / 2) / math.sqrt(variance)
    assert stats.chi2.sf((z**2).sum(), z.size) > SMALLEST_P
    assert 2 * z.size * stats.norm.sf(np.abs(z).max()) > SMALLEST_P


def test_mix_is_one_to_one() -> None:
    """It can be undone step by step, so two counters of a run never give one word."""
    given = np.random.default_rng(0).integers(0, 2**64, 10_000, dtype=np.uint64)
    key = np.array([12345], np.uint64)
    np.testing.assert_array_equal(unmixed(mix(given, key), key), given)


def unmixed(word: Words, key: Words) -> Words:
    word = word ^ (word >> np.uint64(28)) ^ (word >> np.uint64(56))
    word = word * np.uint64(pow(0x9FB21C651E98DF25, -1, 2**64))
    word = _undo_rotations(word, 24, 49) - key
    word = word * np.uint64(pow(0xA24BAED4963EE407, -1, 2**64))
    return _undo_rotations(word, 25, 50)


def _undo_rotations(word: Words, first: int, second: int) -> Words:
    """The inverse of 1 + R^a + R^b over GF(2): its 64th power is 1, so its 63rd undoes it."""

    def step(word: Words) -> Words:
        turned = [(word >> np.uint64(by)) | (word << np.uint64(64 - by)) for by in (first, second)]
        return word ^ turned[0] ^ turned[1]

    for _ in range(63):
        word = step(word)
    return word


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1, np.uint64(2**63), np.int32(5)])
def test_good_seeds(seed: int) -> None:
    assert check_seed(seed) == int(seed)
    assert stream_keys(check_seed(seed), 0, 2).shape == (2, 2)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None, True])
def test_bad_seeds(seed: object) -> None:
    with pytest.raises(InputError, match=r"^seed: "):
        check_seed(seed)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("number", [0, 5, MAX_DECISIONS - 1])
@pytest.mark.parametrize("purpose", [CHOOSE, ESTIMATE, GUARD])
def test_a_stream_knows_the_number_of_the_recommendation(number: int, purpose: np.uint64) -> None:
    rng = stream(1, 2)
    point(rng, number, purpose)
    next_word(rng)
    assert recommendation_number(rng) == number
