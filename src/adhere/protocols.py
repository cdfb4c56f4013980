"""Reward protocols: which arm is credited with a reward (Definition 5 of the paper).

A protocol is a table (chosen, actual) → arm to credit, or none. The paper's three protocols correspond to analysis
sets of a trial: intention-to-treat (Chosen), as-treated (Actual) and per-protocol (Comply). As the paper says, "the
table can be extended with additional reward protocols", so any other table may be given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adhere.errors import InputError, nearest

NONE = -1
TOOK_NOTHING: Final = -1  # nothing in the arm set was taken
TOOK_OTHER: Final = -2  # something else was taken
_NAMES = ("chosen", "actual", "comply")
Table = tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True)
class Protocol:
    """Rule that decides which arm a learner credits with a reward.

    Parameters
    ----------
    name : str
        Name of the protocol: "chosen", "actual", "comply", or "credit" for a table.
    table : tuple of tuple, optional
        Credit table: rows are arms recommended, columns are arms taken, and entries are the arms to credit, or None
        for no credit.

    See Also
    --------
    Learner : A bandit under one protocol.

    Examples
    --------
    >>> str(Protocol("credit", ((0, 1), (None, 1))))
    'credit[0 1; - 1]'

    """

    name: str
    table: Table | None = None

    def __post_init__(self) -> None:
        if self.table is not None and self.name == "credit":
            object.__setattr__(self, "table", _checked_table(self.table))
        elif self.table is not None or self.name not in _NAMES:
            raise InputError("protocol", self.name, f"{', '.join(_NAMES)}, or credit with a table")

    def __str__(self) -> str:
        if self.table is None:
            return self.name
        rows = (" ".join("-" if arm is None else str(arm) for arm in row) for row in self.table)
        return f"credit[{'; '.join(rows)}]"

    def credits(self, n_arms: int) -> NDArray[np.int64]:
        """Return the arm credited for each (chosen, actual), or -1 if none is.

        >>> COMPLY.credits(2).tolist()
        [[0, -1], [-1, 1]]
        """
        if self.table is not None:
            if len(self.table) != n_arms:
                expected = f"a table of {n_arms} × {n_arms} for {n_arms} arms"
                raise InputError("protocol", str(self), expected)
            return np.array([[NONE if arm is None else arm for arm in row] for row in self.table])
        chosen, actual = np.indices((n_arms, n_arms))
        return {"chosen": chosen, "actual": actual, "comply": np.where(chosen == actual, chosen, NONE)}[self.name]


NAMED = {name: Protocol(name) for name in _NAMES}
CHOSEN, ACTUAL, COMPLY = NAMED.values()


# A protocol, its name, or a table [chosen][actual] of the arm to credit, where None means no arm.
ProtocolLike: TypeAlias = "Protocol | str | Sequence[Sequence[int | None]]"


def as_protocol(value: object) -> Protocol:
    """Return a protocol given as itself, by name or as a credit table.

    >>> as_protocol([[0, 1], [None, 1]])
    Protocol(name='credit', table=((0, 1), (None, 1)))
    """
    if isinstance(value, Protocol):
        return value
    if isinstance(value, str):
        name = value.strip().lower()
        if name not in NAMED:
            raise InputError("protocol", value, nearest(name, [*NAMED, "credit[…]"]))
        return NAMED[name]
    if isinstance(value, Sequence):
        return Protocol("credit", _checked_table(value))
    raise InputError("protocol", value, "a protocol, its name or a table of arms to credit")


def _checked_table(rows: Sequence[Any]) -> Table:
    size = len(rows)
    if size < 2 or any(isinstance(row, str) or not isinstance(row, Sequence) or len(row) != size for row in rows):
        expected = "a square table of at least 2 × 2 whose entries are arm numbers from 0, or none"
        raise InputError("protocol", rows, expected)
    for arm in chain(*rows):
        if arm is not None and (isinstance(arm, bool) or not isinstance(arm, int) or not 0 <= arm < size):
            raise InputError("protocol", arm, f"an arm number from 0 to {size - 1}, or none")
    return tuple(tuple(row) for row in rows)


def feedback_table(protocol: Protocol, n_arms: int) -> NDArray[np.int32]:
    """Return the credited arm by chosen arm and feedback, for all feedback codes (see `generic`).

    Column k is for a reward without an actual arm. It contains the credited arm if the row credits the same arm for
    every actual arm, and none if the update must wait. Columns k+1… are for an actual arm that is reported later, and
    contain none if column k was already the update. Two more columns are for nothing, or something else, reported as
    taken later. Reported together with the reward, these have the negative indices -2 and -3, and are treated like
    column k.

    >>> feedback_table(COMPLY, 2)[:, :5].tolist()
    [[0, -1, -1, 0, -1], [-1, 1, -1, -1, 1]]
    >>> feedback_table(CHOSEN, 2)[:, [-3, -2]].tolist()
    [[0, 0], [1, 1]]
    """
    together = protocol.credits(n_arms)
    settled = (together == together[:, :1]).all(axis=1)
    without_actual = np.where(settled, together[:, 0], NONE)
    afterwards = np.where(settled[:, None], NONE, together)
    never = np.full(n_arms, NONE)
    columns = [together, without_actual, afterwards, never, never, without_actual, without_actual, never]
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)


def credits_chosen(protocol: Protocol, n_arms: int) -> bool:
    """Return whether a protocol is Chosen, by name or by table; only Chosen has the guarantee."""
    return bool((protocol.credits(n_arms) == CHOSEN.credits(n_arms)).all())
