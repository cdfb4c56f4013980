"""A second, slow and obvious implementation of every algorithm, to hold the compiled engine against.

Written from the paper's pseudo-code alone, in plain Python over `random.Random`; it shares no line with the
package. Feedback is immediate: a policy remembers its latest decision only, and `update` always answers it.

`makers` says policies in words and `simulate` plays them; the classes serve tests that set a state by hand.
"""

from __future__ import annotations

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
from .optimum import BayesOptimal, BayesOptimalOfBothArms
from .policy import Plain, Policy
from .probability import probability_of_largest
from .protocols import CreditTable, ProtocolLike, credit_table
from .simulation import DrawPatient, Population, drawer, play, simulate
from .top_two import TopTwoThompson, top_two_law

__all__ = [
    "Always",
    "Aware",
    "BayesOptimal",
    "BayesOptimalOfBothArms",
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
