"""Store the updates of one trial, in one block per CHECKPOINT_EVERY records, and learn from them again."""

from collections.abc import Sequence

from adhere.store import UpdateBlock, WriteTransaction
from adhere.trial.domain.state import Refusal
from adhere.trial.policy.engine import Engine, Floats
from adhere.trial.policy.updates import Row, arrays, changed, count, join, split

_END = 2**62
_MAX_CHECKPOINTS = 16  # per relearning: writing more takes longer than learning between two of them
_BLOCKS_AT_ONCE = 16


class UpdateTable:
    """The blocks of updates in a cache. Changes of complete blocks are buffered until `flush`.

    `n_updates` counts all updates.
    """

    def __init__(self, cache: WriteTransaction, trial: int, memo_size: int, n_updates: int) -> None:
        self.n_updates = n_updates
        self._cache, self._trial, self._memo_size = cache, trial, memo_size
        self._kept_back: dict[int, bytes] = {}
        self._n_written = n_updates

    def change(self, end: int, place: int, row: Row | None) -> None:
        """Change, add or remove an update in the block that ends at a position."""
        data = self._kept_back.get(end)
        if data is None:
            data = b"".join(block.data for block in self._cache.updates(self._trial, end - 1, end))
        self._kept_back[end] = after = changed(data, place, row, self._memo_size)
        self.n_updates += count(after, self._memo_size) - count(data, self._memo_size)

    def save(self, end: int, updates: dict[int, bytes]) -> None:
        """Add a complete block."""
        self._cache.save_updates(self._trial, UpdateBlock(end, len(updates), join(updates)))
        self.n_updates += len(updates)
        self._n_written += len(updates)

    def flush(self) -> None:
        """Write the buffered changes."""
        for end, data in self._kept_back.items():
            self._cache.save_updates(self._trial, UpdateBlock(end, count(data, self._memo_size), data))
        self._kept_back, self._n_written = {}, self.n_updates

    def data(self, after: int, until: int) -> bytes:
        """Return the packed updates of the blocks after one position and up to another."""
        blocks = {block.position: block.data for block in self._cache.updates(self._trial, after, until)}
        blocks |= {end: data for end, data in self._kept_back.items() if after < end <= until}
        return b"".join(blocks[end] for end in sorted(blocks))

    def is_whole(self) -> bool:
        """Return whether the cache has as many updates as it should. Another program may have deleted some."""
        return self._cache.count_updates(self._trial) == self._n_written

    def clear(self) -> None:
        """Delete all blocks."""
        self._cache.drop_updates(self._trial, 0, _END)
        self.n_updates, self._n_written, self._kept_back = 0, 0, {}


def learn_blocks(
    engine: Engine, table: UpdateTable, state: Floats, start: int, ends: Sequence[int], refusals: list[Refusal]
) -> tuple[Floats, list[tuple[int, bytes]]]:
    """Learn the blocks that end at consecutive positions, from the state at `start`. Return the state and
    checkpoints.
    """
    checkpoints: list[tuple[int, bytes]] = []
    stride = -(-len(ends) // _MAX_CHECKPOINTS)
    for first in range(0, len(ends), max(1, stride)):
        between = ends[first : first + stride]
        for some in range(0, len(between), _BLOCKS_AT_ONCE):
            end = between[: some + _BLOCKS_AT_ONCE][-1]
            state = learn(engine, state, table.data(start, end), refusals)
            start = end
        checkpoints.append((start, state.tobytes()))
    return state, checkpoints


def learn(engine: Engine, state: Floats, updates: bytes, refusals: list[Refusal]) -> Floats:
    """Return the state after packed updates. Updates that the policy refuses are added to `refusals`."""
    rows = arrays(updates, engine.memo_size)
    learned = engine.learn(state, rows)
    if learned.refused:
        places = list(split(updates, engine.memo_size))
        refusals += [Refusal(places[i], int(rows.facts[i, 0]), reason) for i, reason in learned.refused]
    return learned.state
