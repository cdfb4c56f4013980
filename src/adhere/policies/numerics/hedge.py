"""Hedge and Hierarchical Hedge (Algorithm 3): functions on loss matrices rather than policies, since they need the
losses of all actions.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from adhere.compilation.layout import Floats
from adhere.errors import InputError


@dataclass(frozen=True)
class HedgePlay:
    """Result of Hedge: weights and expected loss in each round, and the regret to the best action in hindsight."""

    weights: Floats
    losses: Floats
    regret: float


@dataclass(frozen=True)
class HierarchicalHedgePlay:
    """Result of Hierarchical Hedge: weights over experts, each expert's weights over actions, losses and regrets."""

    top_weights: Floats
    weights: Floats
    losses: Floats
    regret_to_experts: float
    regret_to_actions: float


def hedge(losses: ArrayLike, eta: float | None = None) -> HedgePlay:
    """Play weights proportional to exp(-η × cumulative loss) against losses[T, N] in [0, 1].

    Parameters
    ----------
    losses : array_like of shape (T, N)
        Loss of each of N actions in each of T rounds, from 0 to 1.
    eta : float, optional
        Learning rate η. The default is √(8 ln N / T), for which the regret is at most √(T ln N / 2).

    Returns
    -------
    HedgePlay
        Weights, losses and regret.

    See Also
    --------
    hierarchical_hedge : Hedge over experts that are Hedge themselves.
    Exp3 : Exponential weights if only the reward of one arm is known.

    References
    ----------
    Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning".

    Examples
    --------
    >>> hedge([[0.0, 1.0]] * 100).regret < (100 * math.log(2) / 2) ** 0.5
    True

    """
    matrix = _checked(losses, dimensions=2)
    n_rounds, n_actions = matrix.shape
    rate = _rate("eta", eta, n_rounds, n_actions)
    weights = _softmax(-rate * _before(matrix))
    suffered = (weights * matrix).sum(axis=1)
    return HedgePlay(weights, suffered, _regret(suffered, matrix))


def hierarchical_hedge(
    losses: ArrayLike, eta: float | None = None, rho: float | None = None
) -> HierarchicalHedgePlay:
    """Play Hedge over M experts, each a Hedge over N actions, against losses[T, M, N] in [0, 1].

        v_i ← v_i · exp(-η Σ_j ℓ_ij y_ij),    w_ij ← w_ij · exp(-ρ ℓ_ij)

    Parameters
    ----------
    losses : array_like of shape (T, M, N)
        Loss of each action by the weights of each expert in each round, from 0 to 1.
    eta : float, optional
        Learning rate η of the experts. The default is √(8 ln M / T).
    rho : float, optional
        Learning rate ρ of the actions of each expert. The default is √(8 ln N / T).

    Returns
    -------
    HierarchicalHedgePlay
        Weights and losses.

    See Also
    --------
    hedge : Hedge over actions.
    HierarchicalExp3 : The same if only the reward of one arm is known.

    References
    ----------
    Della Penna, Reid & Balduzzi (2016), Algorithm 3 and Lemma 1.

    Examples
    --------
    >>> play = hierarchical_hedge([[[0.0, 1.0], [1.0, 1.0]]] * 50)
    >>> play.losses[0], bool(play.losses[-1] < 0.2)
    (np.float64(0.75), True)

    """
    tensor = _checked(losses, dimensions=3)
    n_rounds, n_experts, n_actions = tensor.shape
    top_rate, rate = _rate("eta", eta, n_rounds, n_experts), _rate("rho", rho, n_rounds, n_actions)
    weights = _softmax(-rate * _before(tensor))
    compound = (weights * tensor).sum(axis=2)
    top_weights = _softmax(-top_rate * _before(compound))
    suffered = (top_weights * compound).sum(axis=1)
    regrets = _regret(suffered, compound), _regret(suffered, tensor)
    return HierarchicalHedgePlay(top_weights, weights, suffered, *regrets)


def _checked(losses: ArrayLike, dimensions: int) -> Floats:
    try:
        array = np.asarray(losses, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("losses", losses, "an array of numbers from 0 to 1") from None
    if array.ndim != dimensions or 0 in array.shape or array.shape[-1] < 2:
        shape = "[rounds, actions]" if dimensions == 2 else "[rounds, experts, actions]"
        raise InputError("losses", f"shape {array.shape}", f"an array {shape} with at least two actions")
    outside = ~((array >= 0.0) & (array <= 1.0))
    if outside.any():
        raise InputError("losses", float(array[outside][0]), "numbers from 0 to 1")
    return array


def _rate(name: str, given: float | None, n_rounds: int, n_actions: int) -> float:
    if given is None:
        return math.sqrt(8.0 * math.log(max(n_actions, 2)) / n_rounds)
    if not (math.isfinite(given) and given > 0):
        raise InputError(name, given, "a number above 0")
    return float(given)


def _before(losses: Floats) -> Floats:
    """Return the cumulative losses before each round."""
    return np.cumsum(losses, axis=0) - losses


def _regret(suffered: Floats, losses: Floats) -> float:
    return float(suffered.sum() - losses.sum(axis=0).min())


def _softmax(logarithms: Floats) -> Floats:
    weights: Floats = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights
