"""The table of lessons of one trial: one block of packed lessons for each CHECKPOINT_EVERY records."""

from __future__ import annotations

from adhere.store import LessonBlock, ReadTransaction, WriteTransaction
from adhere.trial.policy.updates import Row, changed, count, join

_END = 2**62


class LessonTable:
    """The blocks in a cache. Changes of blocks that are complete are kept back until `flush`.

    `n_lessons` counts the lessons in it, `n_changes` how often one of them was changed since the trial began: as long
    as that number stays, what was learned from the table is right. `changed` has the changes made here.
    """

    def __init__(self, cache: ReadTransaction, trial: int, memo_size: int, n_lessons: int, n_changes: int) -> None:
        self.n_lessons, self.n_changes = n_lessons, n_changes
        self.changed: dict[int, Row | None] = {}
        self._cache, self._trial, self._memo_size = cache, trial, memo_size
        self._kept_back: dict[int, bytes] = {}
        self._n_written = n_lessons

    def change(self, end: int, place: int, row: Row | None) -> None:
        """Change, add or remove a lesson of the block that ends at a position."""
        data = self._kept_back.get(end)
        if data is None:
            data = b"".join(block.data for block in self._cache.lessons(self._trial, end - 1, end))
        self._kept_back[end] = after = changed(data, place, row, self._memo_size)
        self.n_lessons += count(after, self._memo_size) - count(data, self._memo_size)
        self.n_changes += 1
        self.changed[place] = row

    def save(self, end: int, lessons: dict[int, bytes]) -> None:
        """Add a block that is complete."""
        assert isinstance(self._cache, WriteTransaction)
        self._cache.save_lessons(self._trial, LessonBlock(end, len(lessons), join(lessons)))
        self.n_lessons += len(lessons)
        self._n_written += len(lessons)

    def flush(self) -> None:
        """Write what was kept back."""
        for end, data in self._kept_back.items():
            assert isinstance(self._cache, WriteTransaction)
            self._cache.save_lessons(self._trial, LessonBlock(end, count(data, self._memo_size), data))
        self._kept_back, self._n_written = {}, self.n_lessons

    def data(self, after: int, until: int) -> bytes:
        """The lessons of the blocks after one position and up to another, packed."""
        blocks = {block.position: block.data for block in self._cache.lessons(self._trial, after, until)}
        blocks |= {end: data for end, data in self._kept_back.items() if after < end <= until}
        return b"".join(blocks[end] for end in sorted(blocks))

    def is_whole(self) -> bool:
        """Whether the cache has as many lessons as it should; others may have deleted some."""
        return self._cache.count_lessons(self._trial) == self._n_written

    def clear(self) -> None:
        """Delete all blocks."""
        assert isinstance(self._cache, WriteTransaction)
        self._cache.drop_lessons(self._trial, 0, _END)
        self.n_lessons, self._n_written, self._kept_back = 0, 0, {}
