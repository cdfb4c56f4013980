"""Derive one recommendation again, from the log as it stood when it was made, and from nothing else.

Replay goes from recommendation to recommendation and draws each of them. Here only one is asked for: the updates that
the policy had had until then are gathered from the records and learned in one compiled loop. No checkpoint is used:
those kept beside the log contain corrections that came later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from adhere.store import ReadTransaction
from adhere.trial.domain.chain import START, walk
from adhere.trial.domain.events import AnyEvent, Created, Recommended
from adhere.trial.domain.evolve import evolve, updates_of
from adhere.trial.domain.recommendations import made_event
from adhere.trial.domain.state import Refusal, TrialState, initial_state
from adhere.trial.log.comparison import Comparison, How, compare_recommendation
from adhere.trial.log.verify import IntegrityError, checked_event
from adhere.trial.policy.updates import pack
from adhere.trial.writing.update_table import learn


class _ChangedError(Exception):
    """A record before the recommendation does not fit the chain."""


@dataclass(frozen=True)
class Reproduction:
    """A recommendation derived again: from how many records and updates, and what came out."""

    n_records: int
    n_updates: int
    comparison: Comparison
    state: TrialState | None = None  # right before it


def derive_again(view: ReadTransaction, trial: int, recommendation_id: str) -> Reproduction:
    """Derive a recommendation again; the records before it are checked against the chain on the way."""
    made = made_event(view, trial, recommendation_id)
    try:
        state, n_updates = _state_before(view, trial, made)
    except _ChangedError as error:
        return Reproduction(0, 0, Comparison(How.NOT, f"the log was changed, {error}"))
    return Reproduction(state.position, n_updates, compare_recommendation(state, made), state)


def _state_before(view: ReadTransaction, trial: int, made: Recommended) -> tuple[TrialState, int]:
    """The trial's state right before a recommendation, and how many updates the policy had had."""
    events = _events_before(view, trial, made.position)
    created = next(events)
    assert isinstance(created, Created)
    engine = created.recorded_engine(view.secret)
    engine.ensure_loaded()
    # As if the first update had changed: the reducer leaves all of them to be learned at the end.
    state = replace(initial_state(created.design, engine), relearn_from=1)
    for event in events:
        state = evolve(state, event)
    rows = [row for history in state.histories.values() for row in updates_of(engine, history)]
    rows.sort(key=lambda row: row[0])
    refusals: list[Refusal] = []  # of logs that do not name them: the policy skips these updates again
    policy_state = learn(engine, engine.first_state, b"".join(map(pack, rows)), refusals)
    return replace(state, policy_state=policy_state, position=made.position - 1, relearn_from=None), len(rows)


def _events_before(view: ReadTransaction, trial: int, position: int) -> Iterator[AnyEvent]:
    """The events before a position, each record checked against the chain."""
    before = START
    for expected, record in enumerate(walk(view, trial), 1):
        if expected == position:
            return
        event = checked_event(record, before, expected)
        if isinstance(event, IntegrityError):
            raise _ChangedError(event)
        before = record.hash
        yield event
