"""A trial's state kept up to date event by event, with the two caches beside its log.

The *table of lessons* has every lesson in the order of the log, in blocks of bytes; *checkpoints* are copies of the
policy's state every CHECKPOINT_EVERY records. Together they make a correction cheap: the last checkpoint before it is
loaded, and the lessons behind it are learned again in one compiled loop, without decoding a record. Both can be
deleted: they are rebuilt from the log, and replay compares them with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from msgspec.structs import replace

from adhere.store import LessonBlock, ReadTransaction, WriteTransaction, open_store
from adhere.trial.design import Design
from adhere.trial.engine import Engine, Floats
from adhere.trial.events import AnyEvent, Recommended, created_event, decode
from adhere.trial.history import history_of
from adhere.trial.lessons import Lessons, Row, pack_row
from adhere.trial.log.chain import walk
from adhere.trial.snapshot import floats_from, restored_state
from adhere.trial.state import TrialState, evolve, initial_state, lessons_of

CHECKPOINT_EVERY = 4096
_END = 2**62
_BATCH = 1000


class Projection:
    """The state of one trial, and its caches.

    Histories are read from `log`; lessons and checkpoints are kept in `cache`. In a live trial both are the same
    transaction; replay keeps its own in a scratch store.
    """

    def __init__(
        self,
        log: ReadTransaction,
        cache: WriteTransaction,
        trial: int,
        state: TrialState,
        n_lessons: int = 0,
        before_rebuild: Callable[[], None] = lambda: None,
    ) -> None:
        self.state, self.n_lessons = state, n_lessons
        self._log, self._cache, self._trial = log, cache, trial
        self._new: list[Row] = []  # lessons that are not in the table yet
        self._before_rebuild = before_rebuild

    def load(self, recommendation_ids: Iterable[int]) -> None:
        """Load the histories of some recommendations that exist."""
        if missing := [number for number in recommendation_ids if number not in self.state.histories]:
            self.add(self._log.histories(self._trial, missing, self.state.position).items())

    def add(self, histories: Iterable[tuple[int, Iterable[bytes]]]) -> None:
        """Add histories that were fetched already."""
        loaded = {number: history_of(bodies) for number, bodies in histories}
        self.state = replace(self.state, histories=self.state.histories.update(loaded))

    def forget(self, recommendation_ids: Iterable[int]) -> None:
        """Drop histories that are not needed any more, to keep memory flat."""
        histories = self.state.histories
        for number in recommendation_ids:
            histories = histories.delete(number)
        self.state = replace(self.state, histories=histories)

    def apply(self, event: AnyEvent) -> None:
        """Take one more event into the state and the table of lessons."""
        self.state = evolve(self.state, event)
        for place, row in self.state.changed_lessons.items():
            if place == event.position:
                assert row is not None
                self._new.append(row)
                self.n_lessons += 1
            else:
                self._change_lesson(place, event.recommendation_id, row)  # type: ignore[union-attr]
        if event.position % CHECKPOINT_EVERY == 0:
            self.catch_up()
            self._merge_blocks(event.position)
            self._cache.save_state(self._trial, event.position, self.state.policy_state.tobytes())

    def follow(self, event: AnyEvent) -> None:
        """As `apply`, for an event read from the log: what it needs is loaded before and dropped once complete."""
        number: int | None = getattr(event, "recommendation_id", None)
        is_new = number is None or isinstance(event, Recommended)
        if number is not None and not is_new and number not in self.state.histories:
            self.load([number])
        self.apply(event)
        if number is not None and not is_new and not self.state.histories[number].is_open:
            self.forget([number])

    def catch_up(self) -> None:
        """Learn again what an event has outdated, if any has."""
        if self.state.relearn_from is not None:
            policy_state = self._relearn(self.state.relearn_from)
            self.state = replace(self.state, policy_state=policy_state, relearn_from=None)

    def flush(self) -> None:
        """Write new lessons to the table."""
        if self._new:
            block = LessonBlock(self._new[0][0], len(self._new), b"".join(map(pack_row, self._new)))
            self._cache.save_lessons(self._trial, block)
            self._new = []

    def _change_lesson(self, place: int, recommendation_id: int, row: Row | None) -> None:
        self.flush()
        start = (place - 1) // CHECKPOINT_EVERY * CHECKPOINT_EVERY
        blocks = self._cache.lessons(self._trial, start, place)
        block = blocks[-1] if blocks else LessonBlock(place, 0, b"")
        lessons = Lessons(block.data, self.state.engine.memo_size).without(place, recommendation_id)
        if row is not None:
            lessons = lessons.merged(row)
        self._save_block(block.place, lessons)
        self.n_lessons += len(lessons) - block.n

    def _save_block(self, place: int, lessons: Lessons) -> None:
        self._cache.save_lessons(self._trial, LessonBlock(place, len(lessons), lessons.rows.tobytes()))

    def _merge_blocks(self, end: int) -> None:
        """Make one block of all since the last checkpoint."""
        self.flush()
        blocks = self._cache.lessons(self._trial, end - CHECKPOINT_EVERY, end)
        if len(blocks) > 1:
            self._cache.drop_lessons(self._trial, end - CHECKPOINT_EVERY, end)
            data = b"".join(block.data for block in blocks)
            self._cache.save_lessons(self._trial, LessonBlock(blocks[0].place, sum(b.n for b in blocks), data))

    def _relearn(self, place: int) -> Floats:
        """The policy's state now, from the last checkpoint before a place and the lessons since."""
        self.flush()
        if self._cache.count_lessons(self._trial) != self.n_lessons:
            self._before_rebuild()
            self._rebuild_lessons()
        engine, until = self.state.engine, self.state.position
        checkpoint = self._cache.state_before(self._trial, place)
        start, state = (checkpoint[0], floats_from(checkpoint[1])) if checkpoint else (0, engine.first_state)
        self._cache.drop_states(self._trial, start + 1)
        while True:
            end = start + CHECKPOINT_EVERY
            data = b"".join(block.data for block in self._cache.lessons(self._trial, start, end))
            state = engine.learn(state, Lessons(data, engine.memo_size).arrays())
            if end >= until:
                return state
            self._cache.save_state(self._trial, end, state.tobytes())
            start = end

    def _rebuild_lessons(self) -> None:
        """Make the table of lessons again from the log, where it was deleted."""
        self._cache.drop_lessons(self._trial, 0, _END)
        engine, chunks = self.state.engine, dict[int, bytearray]()
        for first in range(0, self.state.n_recommendations, _BATCH):
            ids = range(first, min(first + _BATCH, self.state.n_recommendations))
            for bodies in self._log.histories(self._trial, ids, self.state.position).values():
                for row in lessons_of(engine, history_of(bodies)):
                    chunks.setdefault((row[0] - 1) // CHECKPOINT_EVERY, bytearray()).extend(pack_row(row))
        self.n_lessons = 0
        for data in chunks.values():
            lessons = Lessons(bytes(data), engine.memo_size).sorted()
            self._save_block(int(lessons.places[0]), lessons)
            self.n_lessons += len(lessons)


def project(log: ReadTransaction, cache: WriteTransaction, trial: int, engine: Engine | None = None) -> Projection:
    """Derive a trial's state and caches from its log."""
    design = created_event(log, trial).design
    cache.drop_states(trial, 0)
    cache.drop_lessons(trial, 0, _END)
    projection = Projection(log, cache, trial, initial_state(design, engine or design.engine()))
    for record in walk(log, trial):
        projection.follow(decode(record.body))
    projection.catch_up()
    projection.flush()
    return projection


@contextmanager
def scratch_cache() -> Iterator[WriteTransaction]:
    """A cache of its own, for those who may only read the store. It is deleted at the end of the block."""
    with closing(open_store()) as store, store.writing() as cache:
        yield cache


def read_state(view: ReadTransaction, trial: int, design: Design) -> TrialState:
    """A trial's state, without histories: from the snapshot or, where there is none of this version, from the log."""
    head, engine = view.head(trial), design.engine()
    state = restored_state(design, engine, head)
    if state is None:
        with scratch_cache() as cache:
            state = project(view, cache, trial, engine).state
    return state
