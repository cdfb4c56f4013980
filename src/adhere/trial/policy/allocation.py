"""How an arm is drawn where the design says with which probabilities ("shares"), and not the policy alone.

There are three such cases: a block of the patient's own stratum, the policy's probabilities at the
last look, and its probabilities now of the arms that are left. A live trial and a simulated one run these
same functions, which need no memory of their own.
"""

from __future__ import annotations

from typing import Any

from adhere.compilation import inline
from adhere.policies.base.generic import Rule, probabilities, remember, remember_shares
from adhere.policies.guards.dropped_arms import probabilities_left
from adhere.policies.guards.permuted_blocks import arm_by_shares
from adhere.randomness import CHOOSE, ESTIMATE, Stream, point, uniform


@inline
def allocate(rule: Rule, state: Any, memo: Any, number: int, shares: Any, rng: Stream) -> int:
    """Draw a recommendation's arm by shares, and write its memo.

    To the policy it is as if a guard around it had decided: its learners learn by protocol, with weight 1, and one
    that divides by the probability of an arm divides by the arm's share.
    """
    remember(rule, state, memo)
    point(rng, number, CHOOSE)
    arm = draw_by_shares(shares, rule.n_arms, rng)
    remember_shares(rule, state, memo, shares, 0.0, rng)
    return arm


@inline
def draw_by_shares(shares: Any, n_arms: int, rng: Stream) -> int:
    """Draw an arm by shares with the next random number."""
    return arm_by_shares(uniform(rng), shares, n_arms)


@inline
def stated_shares(rule: Rule, state: Any, memo: Any, number: int, dropped: Any, out: Any, rng: Stream) -> None:
    """Write the policy's probabilities at a recommendation, of the arms that are left; `out` has `probabilities_size`
    places.
    """
    remember(rule, state, memo)
    point(rng, number, ESTIMATE)
    n_dropped = 0
    for arm in range(rule.n_arms):
        n_dropped += 1 if dropped[arm] else 0
    if n_dropped > 0:
        probabilities_left(rule, state, memo, dropped, out, rng)
    else:
        probabilities(rule, state, memo, 1.0, out, rng)
    for arm in range(rule.n_arms):  # rounding may pass 1
        out[arm] = min(1.0, max(0.0, out[arm]))
