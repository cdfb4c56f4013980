"""The evidence that an outcome depends on the arm chosen, from its definition: integrals of polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb


def mixture(successes: int, failures: int) -> Fraction:
    """∫ θ^s (1 - θ)^f dθ from 0 to 1, term by term."""
    terms = (Fraction((-1) ** i * comb(failures, i), successes + i + 1) for i in range(failures + 1))
    return sum(terms, start=Fraction(0))


def bayes_factor(cells: Sequence[tuple[int, int]]) -> Fraction:
    """Of a mean for each cell of (successes, failures) over one mean for all."""
    successes, failures = map(sum, zip(*cells, strict=True))
    return _product(cells) / mixture(successes, failures)


def e_value(cells: Sequence[tuple[int, int]]) -> Fraction:
    """Of a mean for each cell over the likeliest mean of all."""
    successes, failures = map(sum, zip(*cells, strict=True))
    share = Fraction(successes, successes + failures)
    return _product(cells) / (share**successes * (1 - share) ** failures)


def _product(cells: Sequence[tuple[int, int]]) -> Fraction:
    product = Fraction(1)
    for successes, failures in cells:
        product *= mixture(successes, failures)
    return product
