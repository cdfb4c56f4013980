"""EXP3: exponential weights for adversarial bandits."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Self

import numpy as np

from adhere.compilation import between, helper, implements, unlikely
from adhere.errors import InputError
from adhere.policies.generic import choose, draw_from, largest_of, learn, pick, probabilities, put, remember
from adhere.policies.policy import Floats, Learner, parameter, policy


@policy("exp3")
class Exp3(Learner):
    """Draw arm j with probability y_j, mixed with uniform exploration, and raise the weight of what paid.

        y_j = (1 - γ) w_j / Σ_i w_i + γ/k,    w_j ← w_j · exp((γ/k) · r / y_j)

    Weights are kept as logarithms. γ unset is min(1, √(k ln k / ((e-1) T))) for a horizon of T patients (Auer
    et al., Corollary 3.2). Under Actual or Comply, y_j is this learner's own probability, at the time of the
    decision, of the arm it credits: no unbiased weight exists there, and the authors saw it do badly.

    Reference: Auer, Cesa-Bianchi, Freund & Schapire (2002), "The nonstochastic multiarmed bandit problem".

    >>> str(Exp3(gamma=0.085, protocol="actual"))
    'exp3(gamma=0.085)/actual'
    >>> Exp3().resolved(n_arms=2, horizon=10_000)
    Exp3(protocol=Protocol(name='chosen', table=None), gamma=0.0089...)
    """

    uses_weight: ClassVar[bool] = True
    gamma: float | None = parameter(default=None, above=0, at_most=1)

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """γ from the horizon where it was left open."""
        if self.gamma is not None:
            return self
        if horizon is None:
            expected = "a number above 0 and at most 1, or a horizon (number of patients) to derive it from"
            raise InputError("exp3 gamma", None, expected)
        bound = math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1.0) * horizon))
        return dataclasses.replace(self, gamma=min(1.0, bound))

    def initial_state(self, n_arms: int) -> Floats:
        """Logarithms of the weights; then the weights themselves, in a unit that `rescale` sets."""
        return np.append(np.zeros(n_arms), np.ones(n_arms))

    def memo_size(self, n_arms: int) -> int:
        """The probability of each arm."""
        return n_arms


@implements(remember, Exp3)
def remember_exp3(rule: Any, state: Any, memo: Any) -> None:
    """Keep the probabilities of this decision: lessons are weighted by them."""
    n_arms, total = rule.n_arms, 0.0
    for arm in range(n_arms):
        total += state[n_arms + arm]
    scale = (1.0 - rule.gamma) / total
    for arm in range(n_arms):
        memo[arm] = scale * state[n_arms + arm] + rule.gamma / n_arms


@implements(choose, Exp3)
def choose_exp3(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> Any:
    """Draw from the probabilities."""
    return draw_from(between(memo, 0, rule.n_arms), rng)


@implements(learn, Exp3)
def learn_exp3(rule: Any, state: Any, memo: Any, arm: int, reward: float, weight: float, rng: Any) -> None:
    """Raise the weight of the credited arm."""
    n_arms = rule.n_arms
    raised_by = rule.gamma / n_arms * (weight * reward / pick(memo, 0, n_arms, arm))
    put(state, 0, n_arms, arm, pick(state, 0, n_arms, arm) + raised_by)
    raised = pick(state, n_arms, n_arms, arm) * exp_of_small(raised_by)
    if unlikely((raised < _SMALLEST) | (raised > _LARGEST)):
        rescale(n_arms, state)
    else:
        put(state, n_arms, n_arms, arm, raised)


# Weights between these are multiplied; beyond them they are taken from their logarithms again.
_SMALLEST, _LARGEST = 1e-200, 1e200
_FEW_TERMS_DO = 0.125


@helper
def exp_of_small(x: float) -> float:
    """The exponential of a number that is mostly a little above 0: the terms of its series that matter."""
    if unlikely(x > _FEW_TERMS_DO):
        return math.exp(x)
    x2 = x * x
    x4 = x2 * x2
    low = (1.0 + x) + x2 * (1.0 / 2.0 + x * (1.0 / 6.0))
    middle = (1.0 / 24.0 + x * (1.0 / 120.0)) + x2 * (1.0 / 720.0 + x * (1.0 / 5040.0))
    high = (1.0 / 40320.0 + x * (1.0 / 362880.0)) + x2 * (1.0 / 3628800.0)
    return low + x4 * (middle + x4 * high)


@helper
def rescale(n_arms: int, state: Any) -> None:
    """Make the largest weight 1 again."""
    largest = largest_of(between(state, 0, n_arms))
    for arm in range(n_arms):
        state[n_arms + arm] = math.exp(state[arm] - largest)


@implements(probabilities, Exp3)
def probabilities_exp3(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """As remembered."""
    for arm in range(rule.n_arms):
        out[arm] = memo[arm]
