"""Hedge and Hierarchical Hedge (Alg. 3): full information, so functions of the losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class HedgeRun(NamedTuple):
    """Each round's mixture and the loss it incurred; the mixture after the last round comes last."""

    mixtures: list[list[float]]
    losses: list[float]


class HierarchicalHedgeRun(NamedTuple):
    """Each round's x, each round's y_i for every i, and the loss incurred; one more x and y than losses."""

    tops: list[list[float]]
    bottoms: list[list[list[float]]]
    losses: list[float]


def _shares(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights]


def _decayed(weights: Sequence[float], rate: float, losses: Sequence[float]) -> list[float]:
    return [weight * math.exp(-rate * loss) for weight, loss in zip(weights, losses, strict=True)]


def _mean(shares: Sequence[float], losses: Sequence[float]) -> float:
    return sum(share * loss for share, loss in zip(shares, losses, strict=True))


def hedge(losses: Sequence[Sequence[float]], eta: float) -> HedgeRun:
    """Hedge on losses[t][j].

    >>> [round(x, 3) for x in hedge([[0.0, 1.0]], eta=math.log(3)).mixtures[-1]]
    [0.75, 0.25]
    """
    weights = [1.0] * len(losses[0])
    mixtures, incurred = [_shares(weights)], []
    for loss in losses:
        incurred.append(_mean(mixtures[-1], loss))
        weights = _decayed(weights, eta, loss)
        mixtures.append(_shares(weights))
    return HedgeRun(mixtures, incurred)


def hierarchical_hedge(losses: Sequence[Sequence[Sequence[float]]], eta: float, rho: float) -> HierarchicalHedgeRun:
    """Alg. 3 on losses[t][i][j]: M = len(losses[0]) instances of Hedge over N arms, and Hedge over them."""
    v = [1.0] * len(losses[0])
    w = [[1.0] * len(row) for row in losses[0]]
    tops, bottoms, incurred = [_shares(v)], [[_shares(w_i) for w_i in w]], []
    for loss in losses:
        compound = [_mean(y_i, loss_i) for y_i, loss_i in zip(bottoms[-1], loss, strict=True)]
        incurred.append(_mean(tops[-1], compound))
        v = _decayed(v, eta, compound)
        w = [_decayed(w_i, rho, loss_i) for w_i, loss_i in zip(w, loss, strict=True)]
        tops.append(_shares(v))
        bottoms.append([_shares(w_i) for w_i in w])
    return HierarchicalHedgeRun(tops, bottoms, incurred)
