"""Replay a log: derive every recommendation again, from the log up to the time it was made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from adhere.store import ReadTransaction, WriteTransaction
from adhere.trial.domain.due_looks import check_looks, compare_looks, looked, missing_look, needs_policy
from adhere.trial.domain.events import AnyEvent, Created, Looked, Recommended, UpdateRefused
from adhere.trial.domain.log_records import START, read_histories, walk
from adhere.trial.domain.state import initial_state
from adhere.trial.log.derive import How, compare_numbers, compare_recommendation
from adhere.trial.log.verify import IntegrityError, checked_event
from adhere.trial.writing.running_state import Projection, block_ends, scratch_cache
from adhere.trial.writing.snapshot import decode_snapshot, floats_from


@dataclass
class ReplayResult:
    """The result of a replay: how many recommendations were derived again with the same result, and the first
    difference.
    """

    n_records: int = 0
    n_derived: int = 0
    n_by_probabilities: int = 0
    n_by_log: int = 0  # checked only by their probabilities, because their secret is not known here
    n_imported: int = 0
    n_fallbacks: int = 0
    n_refused: int = 0
    n_looks: int = 0
    other_versions: set[str] = field(default_factory=set)
    algorithm_version: str = ""
    head: str = ""
    difference: IntegrityError | None = None


def replay(view: ReadTransaction, trial: int, on_progress: Callable[[int], None] = lambda n: None) -> ReplayResult:
    """Derive every recommendation of a trial again, and compare the caches beside the log."""
    with scratch_cache() as cache:
        return _Replayer(view, trial, cache).run(on_progress)


class _Replayer:
    def __init__(self, view: ReadTransaction, trial: int, cache: WriteTransaction) -> None:
        self._view, self._trial, self._cache = view, trial, cache
        self._result = ReplayResult()
        self._projection: Projection
        self._version = ""  # in the last record that names a version
        self._last_at: datetime

    def run(self, on_progress: Callable[[int], None]) -> ReplayResult:
        result, before = self._result, START
        for record in walk(self._view, self._trial, on_progress):
            event = checked_event(record, before, result.n_records + 1)
            if isinstance(event, IntegrityError) or (fault := self._follow(event)):
                result.difference = event if isinstance(event, IntegrityError) else fault
                return result
            before, result.n_records = record.hash, result.n_records + 1
            self._last_at = event.at
        self._projection.catch_up()
        result.head, result.difference = before.hex(), self._missing_refusal(result.n_records)
        if result.difference is None and (what := missing_look(self._projection.state, self._last_at)):
            result.difference = IntegrityError(result.n_records, what)
        result.difference = result.difference or self._compare_snapshot()
        return result

    def _follow(self, event: AnyEvent) -> IntegrityError | None:
        if isinstance(event, Created):
            engine = event.recorded_engine(self._view.secret)
            self._result.algorithm_version = engine.algorithm_version
            state = initial_state(event.design, engine)
            self._projection = Projection(self._view, self._cache, self._trial, state, tail={})
        if isinstance(event, UpdateRefused):
            if not self._comes_out(event):
                return IntegrityError(
                    event.position, f"the policy does not refuse the update of record {event.place} again"
                )
            self._result.n_refused += 1
        elif isinstance(event, Recommended | Looked):
            self._projection.catch_up()
        if not isinstance(event, UpdateRefused) and (fault := self._missing_refusal(event.position)):
            return fault
        self._version = getattr(event, "algorithm_version", self._version)
        if self._projection.state.looks is not None and (what := self._compare_look(event)):
            return IntegrityError(event.position, what)
        if isinstance(event, Recommended) and (what := self._compare_recommendation(event)):
            return IntegrityError(event.position, f"recommendation {event.recommendation_id}: {what}")
        self._projection.follow(event)
        return None

    def _compare_look(self, event: AnyEvent) -> str | None:
        """Return what is wrong with the looks up to an event, or None."""
        state = self._projection.state
        wrong = check_looks(state, event)
        if wrong or not isinstance(event, Looked):
            return wrong
        self._result.n_looks += 1
        if event.algorithm_version != state.engine.algorithm_version and needs_policy(state):
            return None  # another version of the policy may have had other beliefs
        patients = read_histories(self._view, self._trial, until=state.position)
        return compare_looks(event, looked(state, event.look, event.at, patients))

    def _comes_out(self, event: UpdateRefused) -> bool:
        """Return whether the policy refuses an update again. A refusal by another version of the policy is accepted
        without a check.
        """
        if event.algorithm_version != self._result.algorithm_version:
            return True
        if event.place not in self._refused_places():
            self._projection.catch_up()
        return event.place in self._refused_places()

    def _refused_places(self) -> list[int]:
        return [refusal.place for refusal in self._projection.state.refusals]

    def _missing_refusal(self, position: int) -> IntegrityError | None:
        """Return an error if the policy refuses an update and the log does not record it before this position."""
        places = self._refused_places()
        if self._version != self._result.algorithm_version or not places:
            return None
        what = f"the policy refuses the update of record {places[0]}, but the log does not record it"
        return IntegrityError(position, what)

    def _compare_recommendation(self, event: Recommended) -> str | None:
        result, found = self._result, compare_recommendation(self._projection.state, event)
        if found.how is How.IMPORTED:
            result.n_imported += 1
        elif found.how in (How.FALLBACK, How.FALLBACK_BY_LOG):
            result.n_fallbacks += 1
        elif found.how is How.BY_PROBABILITIES:
            result.n_by_probabilities += 1
            result.other_versions.add(event.algorithm_version)
        elif found.how is How.BY_LOG:
            result.n_by_log += 1
        elif found.how is How.DERIVED:
            result.n_derived += 1
        return found.difference

    def _compare_snapshot(self) -> IntegrityError | None:
        state, end = self._projection.state, self._result.n_records
        snapshot = decode_snapshot(self._view.head(self._trial).snapshot)
        if snapshot is None:  # for example after an import
            return None
        if snapshot.looks != state.looks:
            return IntegrityError(end, "the looks stored beside the log differ from it")
        if snapshot.counts != state.counts:
            return IntegrityError(end, "the counts of reports stored beside the log differ from it")
        if (snapshot.commitments, snapshot.is_revealed) != (state.commitments, state.is_revealed):
            return IntegrityError(end, "the commitments to secrets stored beside the log differ from it")
        n, status = snapshot.n_recommendations, snapshot.status
        if (n, status) != (state.n_recommendations, state.status):
            what = f"{n} recommendations and {status!r}, not {state.n_recommendations} and {state.status!r}"
            return IntegrityError(end, f"the snapshot beside the log has {what}")
        if snapshot.algorithm_version != state.engine.algorithm_version:
            return None
        stored_state = floats_from(snapshot.policy_state).tolist()
        if difference := compare_numbers("the state", stored_state, state.policy_state.tolist()):
            return IntegrityError(end, f"beside the log, {difference}")
        # A table that lost updates is rebuilt before use.
        whole = self._view.count_updates(self._trial) == snapshot.n_updates
        for position in block_ends(0, end):
            caches = (self._view, self._cache)
            states = [cache.state_before(self._trial, position + 1) for cache in caches]
            at_position = [state[1] for state in states if state is not None and state[0] == position]
            if len(set(at_position)) > 1:
                return IntegrityError(position, "the checkpoint of the policy's state differs from the log")
            blocks = [cache.updates(self._trial, position - 1, position) for cache in caches]
            if whole and blocks[0] != blocks[1]:
                return IntegrityError(position, "the table of updates up to here differs from the log")
        return None
