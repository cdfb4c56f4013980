"""The planned looks of a design, and the blocks of its burn-in.

The last look of a trial is always its end, when all outcomes have been reported. The total is `planned_looks`: one
look for each of `look_counts`, the last of which is the end, and one for each of `look_days`. A design uses only one
of the two kinds before the end. A trial without a number of patients has no end, and no looks.
"""

from typing import NamedTuple

from adhere.design.design import Design
from adhere.policies import BurnIn, as_policy
from adhere.policies.guards.guard import Guard
from adhere.policies.guards.permuted_blocks import block_lengths


class BurnInBlocks(NamedTuple):
    """Number of patients in permuted blocks, and the lengths that a block may have; (0, ()) without a burn-in."""

    patients: int
    lengths: tuple[int, ...]


def planned_looks(design: Design) -> int:
    """Return the number of looks, including the end."""
    return len(look_counts(design)) + len(look_days(design))


def look_counts(design: Design) -> tuple[int, ...]:
    """Return the numbers of patients with outcomes at which there is a look; the last one is the end.

    >>> from adhere.design.design import Design
    >>> from adhere.design.parts import Looks
    >>> look_counts(Design("a", "thompson", ("x", "y"), 250, looks=Looks(every=100)))
    (100, 200, 250)
    """
    end, looks = design.n_patients, design.looks
    if end is None:
        return ()
    before = looks.at if looks.every is None else range(looks.every, end, looks.every)
    return *(n for n in before if n < end), end


def look_days(design: Design) -> tuple[float, ...]:
    """Return the days, counted from the first patient, at whose close there is a look. The end comes after them."""
    return () if design.n_patients is None else design.looks.days


def burn_in_of(design: Design) -> BurnInBlocks:
    """Return the burn-in of a design's policy, which may be inside another guard.

    >>> from adhere.design.design import Design
    >>> burn_in_of(Design("a", "burn-in(thompson, patients=30)", ("x", "y")))
    BurnInBlocks(patients=30, lengths=(4, 6, 8))
    """
    policy = as_policy(design.policy)
    while isinstance(policy, Guard):
        if isinstance(policy, BurnIn):
            return BurnInBlocks(policy.patients, block_lengths(len(design.arms), policy.block))
        policy = policy.inner
    return BurnInBlocks(0, ())
