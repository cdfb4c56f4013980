"""What to recommend: the paper's learners and hybrids, one file each, and the means to add another."""

from adhere.compilation import Index, Memo, Number, PerArm, State, Vector, implements
from adhere.policies.base_thompson import BaseThompson
from adhere.policies.catalogue import from_json, import_policies
from adhere.policies.epsilon_greedy import EpsilonGreedy
from adhere.policies.exp3 import Exp3
from adhere.policies.generic import choose, learn, probabilities, remember
from adhere.policies.hedge import hedge, hierarchical_hedge
from adhere.policies.hierarchical import HierarchicalBandit
from adhere.policies.hierarchical_exp3 import HierarchicalExp3
from adhere.policies.parameters import flag, parameter
from adhere.policies.policy import Learner, Policy, policy
from adhere.policies.registry import registry
from adhere.policies.selection import draw_from, keeps_tie
from adhere.policies.text import as_policy, parse_policy
from adhere.policies.thompson import Thompson
from adhere.policies.thompson_bounded import ThompsonBounded
from adhere.policies.ucb1 import Ucb1
from adhere.policies.uniform import Uniform
from adhere.protocols import ACTUAL, CHOSEN, COMPLY, Protocol

__all__ = [
    "ACTUAL",
    "CHOSEN",
    "COMPLY",
    "BaseThompson",
    "EpsilonGreedy",
    "Exp3",
    "HierarchicalBandit",
    "HierarchicalExp3",
    "Index",
    "Learner",
    "Memo",
    "Number",
    "PerArm",
    "Policy",
    "Protocol",
    "State",
    "Thompson",
    "ThompsonBounded",
    "Ucb1",
    "Uniform",
    "Vector",
    "as_policy",
    "choose",
    "draw_from",
    "flag",
    "from_json",
    "hedge",
    "hierarchical_hedge",
    "implements",
    "import_policies",
    "keeps_tie",
    "learn",
    "parameter",
    "parse_policy",
    "policy",
    "probabilities",
    "registry",
    "remember",
]
