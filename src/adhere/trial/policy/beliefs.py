"""What a policy itself believes of the arms: the probabilities of the one learner inside all guards."""

from __future__ import annotations

from typing import Any

from adhere.compilation import generic_with_default, implements
from adhere.policies.base.generic import Floats, Rule, probabilities, remember
from adhere.policies.guards.burn_in import BurnInRule
from adhere.policies.guards.floor import FloorRule
from adhere.randomness import Stream


@generic_with_default
def write_beliefs(rule: Rule, state: Any, memo: Any, out: Floats, rng: Stream) -> None:
    """Write into `out`, of `probabilities_size` places, each arm's probability of being best; the memo is lost."""
    remember(rule, state, memo)
    probabilities(rule, state, memo, 1.0, out, rng)


def write_beliefs_inside(rule: Rule, state: Any, memo: Any, out: Floats, rng: Stream) -> None:
    """Those of the policy that is guarded."""
    write_beliefs(rule.inner, state.inner, memo.inner, out, rng)


implements(write_beliefs, BurnInRule)(write_beliefs_inside)
implements(write_beliefs, FloorRule)(write_beliefs_inside)
