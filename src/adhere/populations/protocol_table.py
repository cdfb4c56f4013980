"""Which stratum reaches which arm of a protocol: the table that closes the paper's section on protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from adhere.errors import InputError, nearest

NOBODY: Final = -1

Protocol = str | Sequence[Sequence[int]]

NAMED_PROTOCOLS: Final[dict[str, Callable[[int, int], int]]] = {
    "chosen": lambda chosen, actual: chosen,
    "actual": lambda chosen, actual: actual,
    "comply": lambda chosen, actual: chosen if chosen == actual else NOBODY,
}


class Reach(NamedTuple):
    """The reward r_{s,j} of one stratum s when it takes arm j."""

    stratum: str
    taken: str


def reached_by(
    arms: Sequence[str], takes: Mapping[str, Sequence[int]], protocol: Protocol
) -> dict[str, tuple[Reach, ...]]:
    """For each arm, the rewards that a protocol credits to it; `takes` maps each stratum to its ν.

    >>> reached_by(("no", "yes"), {"complier": (0, 1), "defier": (1, 0)}, "comply")["no"]
    (Reach(stratum='complier', taken='no'),)
    """
    credit = _credit_table(len(arms), protocol)
    found: dict[str, dict[Reach, None]] = {arm: {} for arm in arms}  # a dict keeps order and drops repeats
    for stratum, actual_arms in takes.items():
        for chosen, actual in enumerate(actual_arms):
            credited = credit[chosen][actual]
            if credited != NOBODY:
                found[arms[credited]][Reach(stratum, arms[actual])] = None
    return {arm: tuple(reaches) for arm, reaches in found.items()}


def _credit_table(n_arms: int, protocol: Protocol) -> list[list[int]]:
    if isinstance(protocol, str):
        rule = NAMED_PROTOCOLS.get(protocol.strip().lower())
        if rule is None:
            raise InputError("protocol", protocol, nearest(protocol, NAMED_PROTOCOLS))
        return [[rule(chosen, actual) for actual in range(n_arms)] for chosen in range(n_arms)]
    table = [list(row) for row in protocol]
    if [len(row) for row in table] != [n_arms] * n_arms:
        raise InputError("protocol", table, f"a {n_arms} × {n_arms} table [chosen][actual] of the arm to credit")
    for credited in (arm for row in table for arm in row):
        if not isinstance(credited, (int, np.integer)) or not NOBODY <= credited < n_arms:
            raise InputError("protocol", credited, f"an arm from 0 to {n_arms - 1} to credit, or -1 for none")
    return table
