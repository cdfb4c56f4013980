"""Adaptive trials for people who do not always do as they are told.

>>> import adhere
>>> result = adhere.simulate(["thompson", "thompson/actual"], "defiers", n_patients=200, n_runs=20)
>>> result["defiers", "thompson/actual"].surplus.mean < 0 < result["defiers", "thompson"].surplus.mean
True
"""

from importlib.metadata import version

from adhere.errors import InputError
from adhere.policies import (
    BaseThompson,
    EpsilonGreedy,
    Exp3,
    HierarchicalBandit,
    HierarchicalExp3,
    Learner,
    Policy,
    Protocol,
    Thompson,
    ThompsonBounded,
    Ucb1,
    Uniform,
    hedge,
    hierarchical_hedge,
    import_policies,
    parse_policy,
)
from adhere.populations import Counts, Population, Strata, Stratum, as_population
from adhere.simulation import SimulationResult, simulate
from adhere.trial import Recommendation, Trial

__version__ = version("adhere")

__all__ = [
    "BaseThompson",
    "Counts",
    "EpsilonGreedy",
    "Exp3",
    "HierarchicalBandit",
    "HierarchicalExp3",
    "InputError",
    "Learner",
    "Policy",
    "Population",
    "Protocol",
    "Recommendation",
    "SimulationResult",
    "Strata",
    "Stratum",
    "Thompson",
    "ThompsonBounded",
    "Trial",
    "Ucb1",
    "Uniform",
    "__version__",
    "as_population",
    "hedge",
    "hierarchical_hedge",
    "import_policies",
    "parse_policy",
    "simulate",
]
