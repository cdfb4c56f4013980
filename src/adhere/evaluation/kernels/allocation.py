"""Allocation of the next patient of a simulated trial: by the policy's own choice or by prescribed shares."""

from typing import Any

import numpy as np

from adhere.compilation import generic, generic_with_default, implements, inline, no_inline, state_of, strip
from adhere.evaluation.kernels.workspace import ByShares, FrozenShares, PolicyAlone
from adhere.policies.base.generic import choose, remember
from adhere.policies.guards.dropped_arms import shares_left
from adhere.policies.guards.permuted_blocks import take_place, write_block_shares
from adhere.randomness import CHOOSE, point
from adhere.trial.policy.steps import allocate, stated_shares


@generic
def next_arm(
    allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, stratum: Any, n_dropped: int, work: Any, rng: Any
) -> Any:
    """Choose a patient's arm and write the memo. Return the arm and whether `work.out` has prescribed shares."""
    raise NotImplementedError


@generic_with_default
def freeze_shares(allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, work: Any, rng: Any) -> None:
    """Freeze the policy's probabilities for all patients from `patient` until the next look."""


@inline
def own_choice(rule: Any, state: Any, memo: Any, patient: Any, rng: Any) -> Any:
    """Return the arm that the policy chooses, in the same way as `adhere.simulate`."""
    remember(rule, state, memo)
    point(rng, patient, CHOOSE)
    return choose(rule, state, memo, 1.0, rng)


@no_inline
def stratum_shares(blocks: Any, floats: Any, n_strata: Any, stratum: Any, work: Any) -> None:
    """Write the shares of arms in a stratum's block, without the arms that were dropped, into `work.out`."""
    write_block_shares(blocks, state_of(blocks, strip(floats, stratum, n_strata)), work.out)
    shares_left(work.out, work.dropped, blocks.n_arms)


@no_inline
def take_place_in_stratum(blocks: Any, floats: Any, n_strata: Any, stratum: Any, arm: Any) -> None:
    """Record an assigned arm in a stratum's block."""
    take_place(blocks, state_of(blocks, strip(floats, stratum, n_strata)), arm)


@no_inline
def shares_now(rule: Any, state: Any, memo: Any, patient: Any, work: Any, rng: Any) -> None:
    """Write the policy's probabilities, without dropped arms, into `work.out`."""
    stated_shares(rule, state, memo, patient, work.dropped, work.out, rng)


@inline
def freeze_now(rule: Any, state: Any, memo: Any, patient: Any, work: Any, rng: Any) -> None:
    """Store the policy's current probabilities in `work.frozen`."""
    shares_now(rule, state, memo, patient, work, rng)
    for arm in range(rule.n_arms):
        work.frozen[arm] = work.out[arm]


@implements(next_arm, PolicyAlone)
def next_arm_of_policy(
    allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, stratum: Any, n_dropped: int, work: Any, rng: Any
) -> Any:
    """Return the policy's own choice."""
    return own_choice(rule, state, memo, patient, rng), False


@implements(next_arm, FrozenShares)
def next_arm_of_frozen(
    allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, stratum: Any, n_dropped: int, work: Any, rng: Any
) -> Any:
    """Choose by the probabilities that were frozen at the last look."""
    for arm in range(rule.n_arms):
        work.out[arm] = work.frozen[arm]
    return allocate(rule, state, memo, patient, work.out, rng), True


@implements(next_arm, ByShares)
def next_arm_by_shares(
    allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, stratum: Any, n_dropped: int, work: Any, rng: Any
) -> Any:
    """Choose by a stratum's block, by the probabilities frozen at the last look, or among arms not dropped."""
    n_arms, n_strata = rule.n_arms, np.int64(allocation.n_strata)
    in_block = n_strata > 0 and patient < allocation.burn_in
    if in_block:
        stratum_shares(allocation.blocks, work.blocks, n_strata, stratum, work)
    elif allocation.is_frozen != 0.0 and patient >= allocation.burn_in:
        for arm in range(n_arms):
            work.out[arm] = work.frozen[arm]
    elif n_dropped > 0:
        shares_now(rule, state, memo, patient, work, rng)
    else:
        return own_choice(rule, state, memo, patient, rng), False
    chosen = allocate(rule, state, memo, patient, work.out, rng)
    if in_block:
        take_place_in_stratum(allocation.blocks, work.blocks, n_strata, stratum, chosen)
    return chosen, True


@implements(freeze_shares, ByShares)
def freeze_shares_until_look(
    allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, work: Any, rng: Any
) -> None:
    """Freeze the probabilities for the next patient or, during the burn-in, for the first patient after it."""
    if allocation.is_frozen != 0.0:
        freeze_now(rule, state, memo, max(np.int64(patient), np.int64(allocation.burn_in)), work, rng)


@implements(freeze_shares, FrozenShares)
def freeze_shares_from_start(
    allocation: Any, rule: Any, state: Any, memo: Any, patient: Any, work: Any, rng: Any
) -> None:
    """Freeze the probabilities, from the first patient on."""
    freeze_now(rule, state, memo, patient, work, rng)
