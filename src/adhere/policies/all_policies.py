"""Registry of the package's policies, collected from its folders: each file there defines one policy class.

Type checkers cannot search folders, so the classes are also listed for them.
"""

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

from adhere.policies import aware, guards, hybrids, learners
from adhere.policies.base.registry import registry

if TYPE_CHECKING:
    from adhere.policies.aware.bayes_optimal_aware import BayesOptimalAware as BayesOptimalAware
    from adhere.policies.aware.hac_ucb import HacUcb as HacUcb
    from adhere.policies.aware.mediated_thompson import MediatedThompson as MediatedThompson
    from adhere.policies.guards.burn_in import BurnIn as BurnIn
    from adhere.policies.guards.floor import Floor as Floor
    from adhere.policies.hybrids.hierarchical import HierarchicalBandit as HierarchicalBandit
    from adhere.policies.hybrids.hierarchical_exp3 import HierarchicalExp3 as HierarchicalExp3
    from adhere.policies.hybrids.thompson_bounded import ThompsonBounded as ThompsonBounded
    from adhere.policies.learners.always import Always as Always
    from adhere.policies.learners.base_thompson import BaseThompson as BaseThompson
    from adhere.policies.learners.bayes_optimal import BayesOptimal as BayesOptimal
    from adhere.policies.learners.epsilon_greedy import EpsilonGreedy as EpsilonGreedy
    from adhere.policies.learners.exp3 import Exp3 as Exp3
    from adhere.policies.learners.gittins import Gittins as Gittins
    from adhere.policies.learners.kl_ucb import KlUcb as KlUcb
    from adhere.policies.learners.thompson import Thompson as Thompson
    from adhere.policies.learners.top_two_thompson import TopTwoThompson as TopTwoThompson
    from adhere.policies.learners.ucb1 import Ucb1 as Ucb1
    from adhere.policies.learners.uniform import Uniform as Uniform

for _folder in (learners, aware, guards, hybrids):
    for _module in pkgutil.iter_modules(_folder.__path__):
        import_module(f"{_folder.__name__}.{_module.name}")

CLASSES = {cls.__name__: cls for cls in registry.values() if cls.__module__.startswith("adhere.")}
if not TYPE_CHECKING:
    globals().update(CLASSES)
    __all__ = [*CLASSES]
