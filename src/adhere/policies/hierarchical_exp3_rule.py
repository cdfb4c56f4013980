"""What Hierarchical EXP3 is made of: parameters, rule, state and memo."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from adhere.compilation import Index, Matrix, Memo, State, Vector
from adhere.errors import InputError
from adhere.policies.exp3 import Exp3
from adhere.policies.parameters import parameter
from adhere.policies.policy import CompiledPolicy, Learner, Policy, TrialShape
from adhere.protocols import ACTUAL, CHOSEN, COMPLY, feedback_table

_PROTOCOLS = (CHOSEN, ACTUAL, COMPLY)
N_EXPERTS = len(_PROTOCOLS)


class HierarchicalExp3State(State):
    """Logarithms of the weights."""

    log_v = Vector(lambda rule: N_EXPERTS)
    log_w = Matrix(rows=lambda rule: N_EXPERTS, columns=lambda rule: rule.n_arms)


class HierarchicalExp3Memo(Memo):
    """The expert drawn, and the probabilities x and y of the decision."""

    drawn = Index()
    x = Vector(lambda rule: N_EXPERTS)
    y = Matrix(rows=lambda rule: N_EXPERTS, columns=lambda rule: rule.n_arms)


class HierarchicalExp3Rule(NamedTuple):
    """The compiled form of `HierarchicalExp3`."""

    eta: float
    rho: float
    n_arms: int
    credit: Any  # by expert, chosen arm and feedback
    certified: bool


@dataclass(frozen=True)
class HierarchicalExp3Parameters(Policy):
    """The fields of `HierarchicalExp3`, and how it is compiled."""

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

        return dataclasses.replace(self, eta=rate(self.eta, N_EXPERTS), rho=rate(self.rho, n_arms))

    def assemble(self, shape: TrialShape, certified: bool = True) -> CompiledPolicy:
        """The rates, and the experts' feedback tables."""
        credit = np.stack([feedback_table(protocol, shape.n_arms) for protocol in _PROTOCOLS])
        assert self.eta is not None and self.rho is not None  # noqa: PT018  (resolved)
        rule = HierarchicalExp3Rule(self.eta, self.rho, shape.n_arms, credit, certified)
        return CompiledPolicy(rule, tuple(f"exp3/{protocol}" for protocol in _PROTOCOLS))
