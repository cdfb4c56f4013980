"""Learning again: the policy's state behind a stretch of the table of lessons, and new checkpoints on the way.

It may be done ahead of the transaction that needs it, from a view beside which others write (`Relearned`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adhere.trial.domain.state import Refusal
from adhere.trial.policy.engine import Engine, Floats
from adhere.trial.policy.updates import Row, arrays, split
from adhere.trial.writing.update_table import LessonTable

_MAX_CHECKPOINTS = 16  # on one way: writing more takes longer than learning between two of them
_BLOCKS_AT_ONCE = 16


class Stretch(NamedTuple):
    """The policy's state at the end of a stretch of blocks, its checkpoints, and the lessons that it refused."""

    state: Floats
    checkpoints: Sequence[tuple[int, bytes]]
    refusals: Sequence[Refusal]


class Relearned(NamedTuple):
    """What a change of earlier lessons makes of the policy's state, learned ahead up to the end of a block.

    It is right for a table with the same number of changes to which the same changes are made.
    """

    n_changes: int
    changed: Mapping[int, Row | None]  # by place, up to `at`
    start: int
    at: int
    stretch: Stretch

    def is_of(self, n_changes: int, changed: Mapping[int, Row | None]) -> bool:
        """Whether it is right for a table that had so many changes, and now these more."""
        known = {place: row for place, row in changed.items() if place <= self.at}
        return self.n_changes == n_changes and self.changed == known


def learn_blocks(engine: Engine, table: LessonTable, state: Floats, start: int, ends: Sequence[int]) -> Stretch:
    """Learn the blocks that end at some positions in a row, after a state at `start`."""
    refusals: list[Refusal] = []
    checkpoints: list[tuple[int, bytes]] = []
    stride = -(-len(ends) // _MAX_CHECKPOINTS)
    for first in range(0, len(ends), max(1, stride)):
        between = ends[first : first + stride]
        for some in range(0, len(between), _BLOCKS_AT_ONCE):
            end = between[: some + _BLOCKS_AT_ONCE][-1]
            state = learn(engine, state, table.data(start, end), refusals)
            start = end
        checkpoints.append((start, state.tobytes()))
    return Stretch(state, checkpoints, refusals)


def learn(engine: Engine, state: Floats, lessons: bytes, refusals: list[Refusal]) -> Floats:
    """The state after some packed lessons; those that the policy refuses are added to `refusals`."""
    rows = arrays(lessons, engine.memo_size)
    learned = engine.learn(state, rows)
    if learned.refused:
        places = list(split(lessons, engine.memo_size))
        refusals += [Refusal(places[i], int(rows.facts[i, 0]), reason) for i, reason in learned.refused]
    return learned.state
