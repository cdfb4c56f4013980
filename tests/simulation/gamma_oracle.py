"""Gamma variates in plain Python, from the same 64-bit words as the engine's, with none of its spared logarithms."""

from __future__ import annotations

import math
from functools import cache
from typing import Protocol

N_LAYERS, TAIL = 256, 3.6541528853610088


class Words(Protocol):
    """What there must be: 64 random bits, and numbers in [0, 1)."""

    def word(self) -> int: ...

    def random(self) -> float: ...


@cache
def edges() -> list[float]:
    """Right-hand edges of layers of equal area under exp(-x²/2), from the widest, which has the tail, to the top."""
    area = TAIL * math.exp(-0.5 * TAIL**2) + math.sqrt(math.pi / 2) * math.erfc(TAIL / math.sqrt(2))
    found = [area / math.exp(-0.5 * TAIL**2), TAIL]
    for _ in range(2, N_LAYERS):
        found.append(math.sqrt(-2.0 * math.log(area / found[-1] + math.exp(-0.5 * found[-1] ** 2))))
    return [*found, 0.0]


def ziggurat(word: int, rng: Words) -> float:
    while True:
        layer, u = word % N_LAYERS, 2.0 * ((word >> 11) / 2**53) - 1.0
        x, inner = u * edges()[layer], edges()[layer + 1]
        if abs(x) < inner:
            return x
        if layer == 0:
            while True:
                beyond = -math.log(1.0 - rng.random()) / TAIL
                if -2.0 * math.log(1.0 - rng.random()) >= beyond**2:
                    return math.copysign(TAIL + beyond, u)
        low, high = (math.exp(-0.5 * edge**2) for edge in (edges()[layer], inner))
        # A point at a random height between the layer's floor and its ceiling: is it under the curve?
        if high + rng.random() * (low - high) < math.exp(-0.5 * x * x):
            return x
        word = rng.word()


def gamma_variate(shape: float, rng: Words) -> float:
    d = shape - 1.0 / 3.0
    while True:
        word = rng.word()
        x, eighth = ziggurat(word, rng), word // 256 % 8
        y = x / math.sqrt(9.0 * d)
        if abs(y) <= 0.5 and 1.271 * d * y**4 <= 0.125 and eighth < 7:
            return d * (1.0 + y) ** 3
        height = (eighth + 1.0 - rng.random()) / 8.0
        if y > -1.0 and height < math.exp(0.5 * x * x + d * (1.0 - (1.0 + y) ** 3 + 3.0 * math.log1p(y))):
            return d * (1.0 + y) ** 3
