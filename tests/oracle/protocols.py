"""Protocols (Def. 5): which arm a reward is credited to, given the chosen and the actual arm."""

from __future__ import annotations

from collections.abc import Sequence

CreditTable = Sequence[Sequence[int | None]]  # [chosen][actual] → arm to credit, or None
ProtocolLike = str | CreditTable


def credit_table(protocol: ProtocolLike, n_arms: int) -> list[list[int | None]]:
    """The table of a protocol: "chosen", "actual", "comply", or a table of one's own.

    >>> credit_table("comply", 2)
    [[0, None], [None, 1]]
    """
    arms = range(n_arms)
    if protocol == "chosen":
        return [[c for _ in arms] for c in arms]
    if protocol == "actual":
        return [list(arms) for _ in arms]
    if protocol == "comply":
        return [[c if a == c else None for a in arms] for c in arms]
    if isinstance(protocol, str):
        raise ValueError(f"no protocol is called {protocol!r}")
    return [list(row) for row in protocol]
