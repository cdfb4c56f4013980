"""Which stratum reaches which arm of a protocol: the table that closes the paper's section on protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adhere.protocols import NONE, as_protocol


class Reach(NamedTuple):
    """The reward r_{s,j} of one stratum s when it takes arm j."""

    stratum: str
    taken: str


def reached_by(
    arms: Sequence[str], takes: Mapping[str, Sequence[int]], protocol: object
) -> dict[str, tuple[Reach, ...]]:
    """For each arm, the rewards that a protocol credits to it; `takes` maps each stratum to its ν.

    >>> reached_by(("no", "yes"), {"complier": (0, 1), "defier": (1, 0)}, "comply")["no"]
    (Reach(stratum='complier', taken='no'),)
    """
    credit = as_protocol(protocol).credits(len(arms))
    found: dict[str, dict[Reach, None]] = {arm: {} for arm in arms}  # a dict keeps order and drops repeats
    for stratum, actual_arms in takes.items():
        for chosen, actual in enumerate(actual_arms):
            credited = credit[chosen, actual]
            if credited != NONE:
                found[arms[credited]][Reach(stratum, arms[actual])] = None
    return {arm: tuple(reaches) for arm, reaches in found.items()}
