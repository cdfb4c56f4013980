"""Random numbers from which populations are drawn: the same for everybody who names the seed."""

from __future__ import annotations

import zlib

import numpy as np

from adhere.populations.population import Floats, Integers
from adhere.randomness import POPULATION, stream_keys, uniforms


class Draws:
    """The numbers of one attempt to draw some populations of a family, a row for each population.

    Population i has the key of run i, whatever others are drawn; a family's name is part of the key, so that
    families of one seed have nothing in common.
    """

    def __init__(self, name: str, seed: int, populations: Integers, attempt: int) -> None:
        own_seed = (seed << 32 | zlib.crc32(name.encode())) % 2**64
        self._keys = stream_keys(own_seed, 0, int(populations.max()) + 1)[populations]
        self._attempt, self._drawn = np.array([attempt]), 0

    def uniform(self, n: int, low: float = 0.0, high: float = 1.0) -> Floats:
        """The next n numbers, uniform between two bounds."""
        first, self._drawn = self._drawn, self._drawn + n
        columns = [uniforms(self._keys, self._attempt, POPULATION, draw) for draw in range(first, first + n)]
        drawn: Floats = low + (high - low) * np.hstack(columns)
        return drawn

    def shares(self, n: int) -> Floats:
        """The next n shares that sum to 1, all combinations equally likely: Dirichlet(1, …, 1)."""
        parts = -np.log1p(-self.uniform(n))
        summed: Floats = parts / parts.sum(axis=1, keepdims=True)
        return summed
