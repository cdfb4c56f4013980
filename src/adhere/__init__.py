"""Adaptive trials for people who do not always do as they are told.

>>> import adhere
>>> result = adhere.simulate(["thompson", "thompson/actual"], "defiers", n_patients=200, n_runs=20)
>>> result["defiers", "thompson/actual"].surplus.mean < 0 < result["defiers", "thompson"].surplus.mean
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adhere.client import Client
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

__version__: str

__all__ = [
    "BaseThompson",
    "Client",
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

# Names are looked up when first used, so that `adhere --help` need not wait for the compiler to load.
_HOMES = {
    "Client": "adhere.client",
    "InputError": "adhere.errors",
    "Counts": "adhere.populations",
    "Population": "adhere.populations",
    "Strata": "adhere.populations",
    "Stratum": "adhere.populations",
    "as_population": "adhere.populations",
    "SimulationResult": "adhere.simulation",
    "simulate": "adhere.simulation",
    "Recommendation": "adhere.trial",
    "Trial": "adhere.trial",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("adhere")
    if name not in __all__:
        raise AttributeError(f"module 'adhere' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "adhere.policies")), name)
