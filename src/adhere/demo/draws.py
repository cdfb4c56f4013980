"""The random numbers of one patient of the demo, drawn one after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from adhere.randomness import DELAY, stream_keys, uniforms

_DRAWS = 16  # at most, for each patient
T = TypeVar("T")


class Draws:
    """Numbers between 0 and 1, and what is made of them."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._numbers = iter(numbers)

    def happens(self, share: float) -> bool:
        """Whether something happens that happens to this share of patients."""
        return next(self._numbers) < share

    def wait(self, mean: float) -> float:
        """An exponential time with this mean."""
        return -mean * math.log1p(-next(self._numbers))

    def one_of(self, choices: Sequence[T]) -> T:
        """One of several, each as likely as the others."""
        return choices[int(next(self._numbers) * len(choices))]

    def by_share(self, shares: Mapping[T, float]) -> T | None:
        """One of several, each for its share of patients; None for the rest."""
        number = next(self._numbers)
        for choice, share in shares.items():
            if number < share:
                return choice
            number -= share
        return None


def draws_of_patients(seed: int, run: int, n_patients: int) -> Iterator[Draws]:
    """The numbers of each patient of a run, in order.

    >>> first, second = draws_of_patients(7, 0, 2)
    >>> first.one_of("abc"), second.one_of("abc")
    ('a', 'b')
    """
    keys, patients = stream_keys(seed, run, 1), np.arange(n_patients)
    columns = [uniforms(keys, patients, DELAY, draw)[0] for draw in range(_DRAWS)]
    return (Draws(row) for row in np.stack(columns, axis=1).tolist())
