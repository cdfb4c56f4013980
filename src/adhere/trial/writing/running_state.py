"""Keep a trial's state up to date event by event, with the two caches beside its log.

The *table of updates* contains every update in the order of the log, in one block of bytes per CHECKPOINT_EVERY
records. *Checkpoints* are copies of the policy's state between two blocks. Together they make a correction cheap: the
last checkpoint before it is loaded, and the later updates are learned again in one compiled loop, without decoding a
record. Updates since the last checkpoint, the *tail*, are not in the table. They are passed in memory from
transaction to transaction or, if that is impossible, derived from the log. Both caches can be deleted: they are
rebuilt from the log, and replay compares them with it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager

from msgspec.structs import replace

from adhere.design.design import Design
from adhere.store import ReadTransaction, WriteTransaction
from adhere.store.sqlite import SqliteStore
from adhere.trial.domain.events import AnyEvent, Recommended, decode
from adhere.trial.domain.evolve import evolve, updates_of
from adhere.trial.domain.history import history_of
from adhere.trial.domain.log_records import walk
from adhere.trial.domain.state import Refusal, TrialState, initial_state
from adhere.trial.policy.engine import Engine, Floats
from adhere.trial.policy.updates import Row, join, pack
from adhere.trial.writing.cached_updates import UpdateTable, learn, learn_blocks
from adhere.trial.writing.snapshot import floats_from, restored_state, usable_snapshot

CHECKPOINT_EVERY = 1024
_END = 2**62


class Projection:
    """The state of one trial, and its caches.

    Histories are read from `log`; updates and checkpoints are written to `cache`. In a live trial both are the same
    transaction; replay uses a scratch store as cache. `tail` contains the packed updates since the last checkpoint by
    place, or is None if they must be derived from the log. `n_updates` counts the updates in the table.
    """

    def __init__(
        self,
        log: ReadTransaction,
        cache: WriteTransaction,
        trial: int,
        state: TrialState,
        n_updates: int = 0,
        tail: dict[int, bytes] | None = None,
        write_log: Callable[[], None] = lambda: None,
    ) -> None:
        self.state, self.tail = state, tail
        self.table = UpdateTable(cache, trial, state.engine.memo_size, n_updates)
        self._log, self._cache, self._trial = log, cache, trial
        self._write_log = write_log  # writes all events so far, before updates are derived from the log

    def load(self, recommendation_indices: Iterable[int]) -> None:
        """Load the histories of existing recommendations."""
        if missing := [number for number in recommendation_indices if number not in self.state.histories]:
            self.add(self._log.histories(self._trial, missing, self.state.position).items())

    def add(self, histories: Iterable[tuple[int, Iterable[bytes]]]) -> None:
        """Add histories that were already fetched."""
        loaded = {number: history_of(map(decode, bodies)) for number, bodies in histories}
        self.state = replace(self.state, histories=self.state.histories.update(loaded))

    def forget(self, recommendation_indices: Iterable[int]) -> None:
        """Drop histories that are no longer needed, so that memory use does not grow."""
        histories = self.state.histories
        for index in recommendation_indices:
            histories = histories.delete(index)
        self.state = replace(self.state, histories=histories)

    def apply(self, event: AnyEvent) -> None:
        """Apply one more event to the state and the updates."""
        self.state = evolve(self.state, event)
        for place, row in self.state.changed_updates.items():
            self._change_update(place, row)
        if event.position % CHECKPOINT_EVERY == 0:
            self._end_block()

    def _end_block(self) -> None:
        self.catch_up()
        self.table.save(self.state.position, self._tail())
        self.tail = {}
        self._cache.save_states(self._trial, [(self.state.position, self.state.policy_state.tobytes())])

    def follow(self, event: AnyEvent) -> None:
        """Apply an event read from the log. The history it needs is loaded first, and dropped once it is complete."""
        number: int | None = getattr(event, "recommendation_index", None)
        if number is None or isinstance(event, Recommended):
            self.apply(event)
            return
        self.load([number])
        self.apply(event)
        if not self.state.histories[number].is_open:
            self.forget([number])

    def catch_up(self) -> None:
        """Relearn the outdated part of the state, if any, and write the changed blocks of the table."""
        self.table.flush()
        if self.state.relearn_from is not None:
            policy_state, refusals = self._relearn(self.state.relearn_from)
            self.state = replace(self.state, policy_state=policy_state, relearn_from=None, refusals=refusals)

    def _change_update(self, place: int, row: Row | None) -> None:
        end = _end_of_block(place)
        if end < self.state.position:
            self.table.change(end, place, row)
        elif self.tail is not None:  # the last block is complete only after this event
            if row is None:
                self.tail.pop(place, None)
            else:
                self.tail[place] = pack(row)

    def _relearn(self, place: int) -> tuple[Floats, tuple[Refusal, ...]]:
        """Return the policy's current state and its refusals, computed from the last checkpoint before a place and
        the updates after this checkpoint.
        """
        engine, tail = self.state.engine, self._tail()
        if not self.table.is_whole():
            self._rebuild_table()
        start, state = self._checkpoint_before(place)
        refusals = [refusal for refusal in self.state.refusals if refusal.place <= start]
        ends = block_ends(start, self.state.position - 1)
        state, checkpoints = learn_blocks(engine, self.table, state, start, ends, refusals)
        self._cache.drop_states(self._trial, start + 1)
        self._cache.save_states(self._trial, checkpoints)
        return learn(engine, state, join(tail), refusals), tuple(refusals)

    def _checkpoint_before(self, place: int) -> tuple[int, Floats]:
        checkpoint = self._cache.state_before(self._trial, place)
        return (checkpoint[0], floats_from(checkpoint[1])) if checkpoint else (0, self.state.engine.first_state)

    def _tail(self) -> dict[int, bytes]:
        """Return the updates since the last checkpoint."""
        if self.tail is None:
            self._write_log()
            self.tail = self._updates_from_log(_end_of_block(self.state.position))
        return self.tail

    def _rebuild_table(self) -> None:
        """Rebuild the deleted table of updates from the log."""
        self._write_log()
        self.table.clear()
        for end in block_ends(0, self.state.position - 1):
            self.table.save(end, self._updates_from_log(end))

    def _updates_from_log(self, end: int) -> dict[int, bytes]:
        """Return the updates of a block, from the current log."""
        start = end - CHECKPOINT_EVERY
        records = self._log.records(self._trial, start, CHECKPOINT_EVERY)
        ids = {record.recommendation_index for record in records if record.recommendation_index is not None}
        bodies = self._log.histories(self._trial, sorted(ids), self.state.position)
        rows = [row for own in bodies.values() for row in updates_of(self.state.engine, history_of(map(decode, own)))]
        return {row[0]: pack(row) for row in rows if start < row[0] <= end}


def block_ends(start: int, until: int) -> range:
    """Return the positions at which blocks end, after `start` and up to `until`."""
    return range(start + CHECKPOINT_EVERY, until + 1, CHECKPOINT_EVERY)


def _end_of_block(place: int) -> int:
    return -(-place // CHECKPOINT_EVERY) * CHECKPOINT_EVERY


def project(log: ReadTransaction, cache: WriteTransaction, trial: int, design: Design, engine: Engine) -> Projection:
    """Derive a trial's state and caches from its log."""
    cache.drop_states(trial, 0)
    cache.drop_updates(trial, 0, _END)
    projection = Projection(log, cache, trial, initial_state(design, engine), tail={})
    for record in walk(log, trial):
        projection.follow(decode(record.body))
    projection.catch_up()
    return projection


@contextmanager
def scratch_cache() -> Iterator[WriteTransaction]:
    """Provide a temporary cache for code that may only read the store. It is deleted at the end of the block."""
    with closing(SqliteStore(None, spills=True)) as store, store.writing() as cache:
        yield cache


def read_state(view: ReadTransaction, trial: int, design: Design, engine: Engine) -> TrialState:
    """Return a trial's state without histories, from the snapshot or, if this version has none, from the log."""
    head = view.head(trial)
    snapshot = usable_snapshot(engine, head)
    if snapshot is not None:
        return restored_state(design, engine, snapshot, head.position)
    with scratch_cache() as cache:
        return project(view, cache, trial, design, engine).state
