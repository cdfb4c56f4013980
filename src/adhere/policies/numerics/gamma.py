"""Gamma variates with shapes of at least 1, from a ziggurat for normal variates and a rejection step."""

import math
from typing import Any

import numpy as np

from adhere.compilation import inline, no_inline
from adhere.randomness import Stream, next_word, uniform, unit

# The ziggurat: layers of equal area under exp(-x²/2). The lowest layer includes the tail beyond _TAIL.
_LAYERS = 256
_TAIL, _AREA = 3.6541528853610088, 0.00492867323399
_LAYER_BITS, _LAYER_SHIFT, _EIGHTHS = np.uint64(_LAYERS - 1), np.uint64(8), np.uint64(7)
_TAIL_LAYER, _ONE = np.uint64(0), np.uint64(1)


def _edges() -> Any:
    edges = np.empty(_LAYERS + 1)
    edges[0], edges[1], edges[_LAYERS] = _AREA / math.exp(-0.5 * _TAIL**2), _TAIL, 0.0
    for layer in range(2, _LAYERS):
        edge = edges[layer - 1]
        edges[layer] = math.sqrt(-2.0 * math.log(_AREA / edge + math.exp(-0.5 * edge**2)))
    return edges


_EDGES = _edges()
_INSIDE = _EDGES[1:] / _EDGES[:-1]  # the share of each layer that lies under the curve at every height


@no_inline
def draw_near_edge(layer: Any, u: float, rng: Stream) -> float:
    """Return a normal variate, if the ziggurat's first word does not decide whether the point lies under the
    curve.
    """
    while True:
        x = u * _EDGES[layer]
        if layer == _TAIL_LAYER:
            return draw_tail(u, rng)
        high = math.exp(-0.5 * (_EDGES[layer] ** 2 - x * x))
        low = math.exp(-0.5 * (_EDGES[layer + _ONE] ** 2 - x * x))
        if low + uniform(rng) * (high - low) < 1.0:
            return x  # type: ignore[no-any-return]
        word = next_word(rng)
        layer, u = word & _LAYER_BITS, 2.0 * unit(word) - 1.0
        if abs(u) < _INSIDE[layer]:
            return u * _EDGES[layer]  # type: ignore[no-any-return]


@inline
def draw_tail(side: float, rng: Stream) -> float:
    """Return a normal variate beyond the lowest layer's edge, with the sign of `side` (Marsaglia, 1964)."""
    while True:
        x = -math.log(1.0 - uniform(rng)) / _TAIL
        if -2.0 * math.log(1.0 - uniform(rng)) >= x * x:
            return _TAIL + x if side > 0.0 else -_TAIL - x


@inline
def draw_gamma(shape: float, rng: Stream) -> float:
    """Return a Gamma(shape, 1) variate for a shape of at least 1.

    The candidate is d v with d = shape - 1/3, v = (1 + y)³, y = x / √(9d) and x normal. It is accepted if a uniform
    number is below exp(f), where f = x²/2 + d (1 - v + log v). Since f = -d y⁴ (3/4 - 3/5 y + 3/6 y² - …), exp(f) is
    above 1 - 1.271 d y⁴ for |y| ≤ 1/2, so only the smallest shapes need logarithms. If exp(f) is above 7/8, three
    unused bits of the ziggurat's word decide in seven of eight cases.

    References: Marsaglia & Tsang (2000), "A simple method for generating gamma variables"; Doornik (2005), "An
    improved ziggurat method to generate normal random samples". The bound on f is our own.
    """
    d = shape - 1.0 / 3.0
    scale = 1.0 / math.sqrt(9.0 * d)
    while True:
        word = next_word(rng)
        layer, u = word & _LAYER_BITS, 2.0 * unit(word) - 1.0  # from the lowest and the highest bits of one word
        eighth = (word >> _LAYER_SHIFT) & _EIGHTHS  # three bits between them
        x = u * _EDGES[layer]
        if abs(u) >= _INSIDE[layer]:
            x = draw_near_edge(layer, u, rng)
        y = scale * x
        v = (1.0 + y) * (1.0 + y) * (1.0 + y)
        certain = 1.0 - 1.271 * d * (y * y * y * y) if y * y <= 0.25 else 0.0
        if eighth < _EIGHTHS and certain >= 0.875:
            return d * v  # type: ignore[no-any-return]
        kept = (float(eighth) + (1.0 - uniform(rng))) / 8.0  # in (0, 1], since its logarithm may be needed
        if kept < certain:
            return d * v  # type: ignore[no-any-return]
        if v > 0.0 and math.log(kept) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v  # type: ignore[no-any-return]
