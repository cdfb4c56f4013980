"""Policies, one file each, and the generic functions that implement them."""

from adhere.compilation import Index as Index
from adhere.compilation import Memo as Memo
from adhere.compilation import Number as Number
from adhere.compilation import PerArm as PerArm
from adhere.compilation import PerPair as PerPair
from adhere.compilation import State as State
from adhere.compilation import Vector as Vector
from adhere.compilation import implements as implements
from adhere.policies.all_policies import *  # noqa: F403  (a new file is a new name)
from adhere.policies.base.declaration import policy as policy
from adhere.policies.base.generic import choose as choose
from adhere.policies.base.generic import learn as learn
from adhere.policies.base.generic import note_allocation as note_allocation
from adhere.policies.base.generic import probabilities as probabilities
from adhere.policies.base.generic import remember as remember
from adhere.policies.base.generic import remember_guarded as remember_guarded
from adhere.policies.base.learner import ComplianceAwareLearner as ComplianceAwareLearner
from adhere.policies.base.learner import Learner as Learner
from adhere.policies.base.parameters import arm_parameter as arm_parameter
from adhere.policies.base.parameters import choice as choice
from adhere.policies.base.parameters import flag as flag
from adhere.policies.base.parameters import parameter as parameter
from adhere.policies.base.policy import Policy as Policy
from adhere.policies.base.registry import import_policies as import_policies
from adhere.policies.base.registry import registry as registry
from adhere.policies.base.text import PolicyLike as PolicyLike
from adhere.policies.base.text import as_policy as as_policy
from adhere.policies.base.text import parse_policy as parse_policy
from adhere.policies.numerics.hedge import hedge as hedge
from adhere.policies.numerics.hedge import hierarchical_hedge as hierarchical_hedge
from adhere.policies.numerics.selection import draw_from as draw_from
from adhere.policies.numerics.selection import newest_wins_tie as newest_wins_tie
from adhere.policies.tables.bayes_optimal import optimal_surplus as optimal_surplus
from adhere.protocols import TOOK_NOTHING as TOOK_NOTHING
from adhere.protocols import TOOK_OTHER as TOOK_OTHER
from adhere.randomness import recommendation_number as recommendation_number
