"""The random numbers that the engine uses for a decision, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adhere.randomness import CHOOSE, GUARD, STATED, counter_at, mix, stream_keys, uniforms
from oracle.probability import Best


class Stream(Random):
    """The numbers of one run; `point` turns to a decision and a purpose, `random` gives its next draw."""

    def __init__(self, seed: int, run: int, n_patients: int) -> None:
        super().__init__()
        keys, decisions = stream_keys(seed, run, 1), np.arange(n_patients)
        self._draws = cache(lambda purpose, draw: uniforms(keys, decisions, purpose, draw)[0].tolist())
        self._place = (0, CHOOSE, 0)
        self._keys = keys[0]

    def point(self, decision: int, purpose: np.uint64) -> None:
        self._place = (decision, purpose, 0)

    def random(self) -> float:
        decision, purpose, draw = self._place
        self._place = (decision, purpose, draw + 1)
        return float(self._draws(purpose, draw)[decision])

    def word(self) -> int:
        """The 64 bits whose upper 53 are what `random` would give."""
        decision, purpose, draw = self._place
        self._place = (decision, purpose, draw + 1)
        counter = np.array([counter_at(decision, purpose)]) + np.uint64(draw)
        return int(mix(counter ^ self._keys[:1], self._keys[1:])[0])

    def stated(self, place: int) -> Keyed:
        """The stream of one draw that makes up the probabilities stated of this decision."""
        counter = np.array([counter_at(self._place[0], STATED)]) ^ np.uint64(place)
        return Keyed(mix(counter ^ self._keys[:1], self._keys[1:]), self._keys[1:])

    def of_guard(self, nth: int) -> float:
        """The number that the nth guard from the inside draws for this decision."""
        return float(self._draws(GUARD, nth * 2**17)[self._place[0]])

    @property
    def decision(self) -> int:
        return self._place[0]

    def randrange(self, *ends: Any) -> int:
        """One number, scaled up."""
        (n,) = ends
        return int(self.random() * n)

    def choice(self, seq: Any) -> Any:
        """One of the best, as the engine breaks ties: on its way through all values."""
        assert isinstance(seq, Best)
        return self.first_of_largest(seq.values)

    def first_of_largest(self, values: Sequence[float]) -> int:
        """The index of the largest; each tie met on the way costs a number."""
        best, tied = 0, 1
        for index, value in enumerate(values[1:], start=1):
            if value > values[best]:
                best, tied = index, 1
            elif value == values[best]:
                tied += 1
                best = index if self.random() * tied < 1.0 else best
        return best


class Keyed:
    """All numbers of a key, one after the other."""

    def __init__(self, outer: NDArray[np.uint64], middle: NDArray[np.uint64]) -> None:
        self._outer, self._middle, self._counter = outer, middle, np.zeros(1, np.uint64)

    def word(self) -> int:
        self._counter += np.uint64(1)
        return int(mix((self._counter - np.uint64(1)) ^ self._outer, self._middle)[0])

    def random(self) -> float:
        return float((self.word() >> 11) * 2.0**-53)
