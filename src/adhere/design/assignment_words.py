"""Words for designs that randomise all patients by probabilities fixed in advance: they assign arms.

A policy that learns recommends them.
"""

from __future__ import annotations

import re

from adhere.design.design import Design
from adhere.design.planned_looks import burn_in_of
from adhere.policies import Uniform, as_policy
from adhere.policies.guards.guard import Guard

_RECOMMEND = re.compile(r"\b(re|Re)commend(ation)?")
_ASSIGN = {"re": "as", "Re": "As"}


def randomises(design: Design) -> bool:
    """Whether all patients are randomised by probabilities fixed in advance: in blocks, or each by itself.

    >>> randomises(Design("a", "burn-in(thompson, patients=300)", ("x", "y"), n_patients=300))
    True
    >>> randomises(Design("a", "burn-in(thompson, patients=30)", ("x", "y"), n_patients=300))
    False
    """
    policy = as_policy(design.policy)
    while isinstance(policy, Guard):
        policy = policy.inner
    return isinstance(policy, Uniform) or burn_in_of(design).patients == design.n_patients


def as_assigned(text: str) -> str:
    """Return a text in which arms are assigned instead of recommended.

    >>> as_assigned("Patients recommended an arm, by recommendation")
    'Patients assigned an arm, by assignment'
    """
    return _RECOMMEND.sub(lambda found: f"{_ASSIGN[found[1]]}sign{'ment' if found[2] else ''}", text)
