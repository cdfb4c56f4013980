"""The number needed to treat: the inverse of the difference, by way of infinity where that may be 0."""

from __future__ import annotations

import math
from dataclasses import replace

from adhere.analysis.confidence_set import ConfidenceSet, Quantity, Shape

NO_DIFFERENCE = "the estimated difference is 0: no number of patients is enough"


def number_needed(difference: Quantity) -> Quantity:
    """How many patients must be given the treatment for one success more; negative where it harms.

    An interval of the difference that contains 0 becomes all but an interval: from 1/high on benefit, up to 1/low
    harm, by way of infinity (Altman 1998, British Medical Journal 317). Where the difference, or the whole of its
    set, is not one that two proportions can have, no number is given, but its set is: leaving that out too would
    choose the trials in which it misleads.
    """
    if difference.sets and (not difference.sets[0].is_bounded or _is_every_effect(difference.sets[0])):
        reason = difference.reason or "the set of the difference says nothing, so there is no number needed to treat"
        anything = replace(difference.sets[0], low=-math.inf, high=math.inf, shape=Shape.EVERYTHING)
        return Quantity(None, (anything,), difference.n, reason)
    sets = tuple(inverse(one) for one in difference.sets)
    if difference.value is None:
        return Quantity(None, sets, difference.n, difference.reason)
    if abs(difference.value) > 1.0:
        reason = "the estimated difference is beyond what outcomes from 0 to 1 can have: no number needed to treat"
        return Quantity(None, sets, difference.n, reason)
    if difference.value == 0.0:
        return Quantity(None, sets, difference.n, NO_DIFFERENCE)
    return Quantity(1.0 / difference.value, sets, difference.n, difference.reason)


def _is_every_effect(found: ConfidenceSet) -> bool:
    return found.low <= -1.0 and found.high >= 1.0


def inverse(given: ConfidenceSet) -> ConfidenceSet:
    """The inverses of the values in a set.

    >>> print(inverse(ConfidenceSet(0.1, 0.25, "")), inverse(ConfidenceSet(-0.05, 0.25, "")), sep="; ")
    [4.000, 10.000]; unbounded: below -20.000 or above 4.000
    >>> print(inverse(ConfidenceSet(-2.0, 4.0, "", shape=Shape.OUTSIDE)))
    [-0.500, 0.250]
    """
    if given.shape in (Shape.EVERYTHING, Shape.EMPTY):
        return given
    low, high = given.low, given.high
    pieces = [(low, high)] if given.shape is Shape.INTERVAL else [(-math.inf, low), (high, math.inf)]
    inverses: list[tuple[float, float]] = []
    for first, last in pieces:  # an end of 0 becomes infinite, on the side it is approached from
        if first < 0.0:
            inverses.append((1.0 / last if last < 0.0 else -math.inf, 1.0 / first))
        if last > 0.0:
            inverses.append((1.0 / last, 1.0 / first if first > 0.0 else math.inf))
    merged: list[tuple[float, float]] = []
    for first, last in sorted(inverses):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    if not merged:
        return replace(given, low=math.inf, high=-math.inf, shape=Shape.EMPTY)
    if len(merged) == 2:
        return replace(given, low=merged[0][1], high=merged[1][0], shape=Shape.OUTSIDE)
    everything = merged == [(-math.inf, math.inf)]
    shape = Shape.EVERYTHING if everything else Shape.INTERVAL
    return replace(given, low=merged[0][0], high=merged[0][1], shape=shape)
