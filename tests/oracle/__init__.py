"""A second, slow and obvious implementation of every algorithm, to hold the compiled engine against.

Written from the paper's pseudo-code alone, in plain Python over `random.Random`; it shares no line with the
package. Feedback is immediate: a policy remembers its latest decision only, and `update` always answers it.

`makers` says policies in words and `simulate` plays them; the classes serve tests that set a state by hand.

The twin of a policy is the class of the same name in any module here (`class_called`). Its constructor takes the
number of arms and the policy's parameters. It may list texts of the policy for the battery in `under_test`.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from .bounding import ThompsonBounded
from .cache import Cache
from .gittins import Gittins, gittins_index
from .guarding import BurnIn, Floor, clipped
from .hac_ucb import HacUcb
from .hedging import HedgeRun, HierarchicalHedgeRun, hedge, hierarchical_hedge
from .hexp3 import HierarchicalExp3
from .hierarchical_bandit import HierarchicalBandit
from .kl_ucb import KlUcb, kl_bound
from .learners import Always, EpsilonGreedy, Exp3, Learner, Thompson, Ucb1, Uniform, annealed_epsilon, default_gamma
from .makers import (
    LearnerMaker,
    PolicyMaker,
    burn_in,
    epsilon_greedy,
    exp3,
    floor,
    hierarchical,
    hierarchical_exp3,
    hierarchical_of,
    mediated_thompson,
    plain,
    thompson,
    thompson_bounded,
    top_two_thompson,
    ucb1,
    uniform,
)
from .mediated import Aware, MediatedThompson
from .optimum import BayesOptimal, BayesOptimalAware
from .policy import Plain, Policy
from .probability import probability_of_largest
from .protocols import CreditTable, ProtocolLike, credit_table
from .simulation import DrawPatient, Population, drawer, play, simulate
from .top_two import TopTwoThompson, top_two_law

__all__ = [
    "Always",
    "Aware",
    "BayesOptimal",
    "BayesOptimalAware",
    "BurnIn",
    "Cache",
    "CreditTable",
    "DrawPatient",
    "EpsilonGreedy",
    "Exp3",
    "Floor",
    "Gittins",
    "HacUcb",
    "HedgeRun",
    "HierarchicalBandit",
    "HierarchicalExp3",
    "HierarchicalHedgeRun",
    "KlUcb",
    "Learner",
    "LearnerMaker",
    "MediatedThompson",
    "Plain",
    "Policy",
    "PolicyMaker",
    "Population",
    "ProtocolLike",
    "Thompson",
    "ThompsonBounded",
    "TopTwoThompson",
    "Ucb1",
    "Uniform",
    "annealed_epsilon",
    "burn_in",
    "clipped",
    "credit_table",
    "default_gamma",
    "drawer",
    "epsilon_greedy",
    "exp3",
    "floor",
    "gittins_index",
    "hedge",
    "hierarchical",
    "hierarchical_exp3",
    "hierarchical_hedge",
    "hierarchical_of",
    "kl_bound",
    "mediated_thompson",
    "plain",
    "play",
    "probability_of_largest",
    "simulate",
    "thompson",
    "thompson_bounded",
    "top_two_law",
    "top_two_thompson",
    "ucb1",
    "uniform",
]


def class_called(name: str) -> Any:
    """The class of a policy's twin, or None."""
    modules = (one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("test_"))
    found = (getattr(import_module(f"{__name__}.{module}"), name, None) for module in modules)
    return next((cls for cls in found if cls is not None), None)
