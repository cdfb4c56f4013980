"""Hierarchical EXP3, as the paper's appendix writes it (Algorithm 4)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Self

import numpy as np

from adhere.compilation import between, helper, implements
from adhere.errors import InputError
from adhere.policies.exp3 import Exp3
from adhere.policies.generic import (
    choose,
    decider,
    draw_from,
    largest_of,
    probabilities,
    remember,
    repeat,
    repeat_nothing,
    update,
)
from adhere.policies.policy import Assembled, Learner, Policy, Setting, parameter, policy
from adhere.policies.protocols import ACTUAL, CHOSEN, COMPLY, feedback_table

_PROTOCOLS = (CHOSEN, ACTUAL, COMPLY)
_LOWEST_LOG_WEIGHT = -1e6  # exp of it is 0 already; a floor keeps differences of logarithms finite


@policy("hierarchical-exp3")
class HierarchicalExp3(Policy):
    """Exponential weights v over three experts, and weights w_i of each expert over the arms.

        v_i ← v_i · exp(-η ℓ / x_i),    w_ij ← w_ij · exp(-ρ ℓ / (x_i y_ij)),    ℓ = 1 - r

    with x and y_i the normalised v and w_i, for the expert i drawn only; no mixing with exploration. The
    experts are under Chosen, Actual and Comply: j is the arm the drawn expert's protocol credits. Not the same
    as `hierarchical(exp3)`, which is Algorithm 1. Unset, η = √(2 ln 3 / (3T)) and ρ = √(2 ln k / (kT)) for a
    horizon of T patients, the rates of the usual EXP3 bound (Bubeck & Cesa-Bianchi, 2012, Theorem 3.1).

    Reference: Della Penna, Reid & Balduzzi (2016), Algorithm 4.

    >>> str(HierarchicalExp3(eta=0.01, rho=0.02))
    'hierarchical-exp3(eta=0.01, rho=0.02)'
    """

    eta: float | None = parameter(default=None, above=0)
    rho: float | None = parameter(default=None, above=0)

    def learners(self) -> tuple[Learner, ...]:
        """Three instances of EXP3; their weights live in this policy's own state."""
        return tuple(Exp3(protocol=protocol) for protocol in _PROTOCOLS)

    def resolved(self, n_arms: int, horizon: int | None) -> Self:
        """η and ρ from the horizon where they were left open."""
        if horizon is None and (self.eta is None or self.rho is None):
            name = "eta" if self.eta is None else "rho"
            expected = "a number above 0, or a horizon (number of patients) to derive it from"
            raise InputError(f"hierarchical-exp3 {name}", None, expected)

        def rate(given: float | None, n: int) -> float:
            return given if given is not None else math.sqrt(2.0 * math.log(n) / (n * float(horizon or 1)))

        return dataclasses.replace(self, eta=rate(self.eta, len(_PROTOCOLS)), rho=rate(self.rho, n_arms))

    def assemble(self, setting: Setting, certified: bool = True) -> Assembled:
        """Logarithms of v, then of each w_i. The memo: expert drawn, x, then each y_i."""
        n, k = len(_PROTOCOLS), setting.n_arms
        credit = np.stack([feedback_table(protocol, k) for protocol in _PROTOCOLS])
        rule = HierarchicalExp3Rule(self.eta, self.rho, k, credit, certified)
        return Assembled(rule, np.zeros(n + n * k), 1 + n + n * k, 0, tuple(f"exp3/{p}" for p in _PROTOCOLS))


class HierarchicalExp3Rule(NamedTuple):
    """The compiled form of `HierarchicalExp3`."""

    eta: float | None
    rho: float | None
    n_arms: int
    credit: Any
    drawn_only: bool


@helper
def normalise(log_weights: Any, out: Any) -> None:
    """Weights that sum to one, from their logarithms."""
    largest = largest_of(log_weights)
    total = 0.0
    for i in range(log_weights.size):
        out[i] = math.exp(log_weights[i] - largest)
        total += out[i]
    for i in range(log_weights.size):
        out[i] /= total


@helper
def lower(log_weights: Any, index: Any, by: float) -> None:
    """Lower one weight; keep the largest logarithm at 0 and none below the floor."""
    log_weights[index] -= min(by, -2.0 * _LOWEST_LOG_WEIGHT)
    largest = largest_of(log_weights)
    for i in range(log_weights.size):
        log_weights[i] = max(log_weights[i] - largest, _LOWEST_LOG_WEIGHT)


@implements(remember, HierarchicalExp3Rule)
def remember_hierarchical_exp3(rule: Any, state: Any, memo: Any) -> None:
    """Keep x and every y_i."""
    n, k = rule.credit.shape[0], rule.n_arms
    memo[0] = -1.0
    normalise(between(state, 0, n), between(memo, 1, 1 + n))
    for i in range(n):
        normalise(between(state, n + k * i, n + k * (i + 1)), between(memo, 1 + n + k * i, 1 + n + k * (i + 1)))


@implements(choose, HierarchicalExp3Rule)
def choose_hierarchical_exp3(rule: Any, state: Any, memo: Any, weight: float, rng: Any) -> Any:
    """Draw an expert, then an arm."""
    n, k = rule.credit.shape[0], rule.n_arms
    drawn = draw_from(between(memo, 1, 1 + n), rng)
    memo[0] = drawn
    return draw_from(between(memo, 1 + n + k * drawn, 1 + n + k * (drawn + 1)), rng)


@implements(update, HierarchicalExp3Rule)
def update_hierarchical_exp3(
    rule: Any, state: Any, memo: Any, chosen: int, feedback: int, reward: float, weight: float, rng: Any
) -> None:
    """The top learns of the expert drawn, and that expert of the arm; uncertified, all experts do."""
    n, k = rule.credit.shape[0], rule.n_arms
    drawn, loss = np.int64(memo[0]), 1.0 - reward
    if drawn >= 0 and feedback <= k:
        lower(between(state, 0, n), drawn, rule.eta * loss / memo[1 + drawn])
    for i in range(n):
        arm = rule.credit[i, chosen, feedback]
        if arm >= 0 and loss > 0.0 and (i == drawn or not rule.drawn_only):
            x = memo[1 + i] if rule.drawn_only else 1.0
            y = memo[1 + n + k * i + arm]
            lower(between(state, n + k * i, n + k * (i + 1)), arm, rule.rho * loss / (x * y))


@implements(probabilities, HierarchicalExp3Rule)
def probabilities_hierarchical_exp3(rule: Any, state: Any, memo: Any, weight: float, out: Any, rng: Any) -> None:
    """Σ_i x_i y_i."""
    n, k = rule.credit.shape[0], rule.n_arms
    for arm in range(k):
        out[arm] = 0.0
    for i in range(n):
        for arm in range(k):
            out[arm] += memo[1 + i] * memo[1 + n + k * i + arm]


implements(repeat, HierarchicalExp3Rule)(repeat_nothing)


@implements(decider, HierarchicalExp3Rule)
def decider_hierarchical_exp3(rule: Any, memo: Any) -> Any:
    """The expert drawn."""
    return np.int64(memo[0])
