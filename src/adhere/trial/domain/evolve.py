"""Compute the next state of a trial from an event, with `evolve`, the one reducer.

It is pure: it changes neither its arguments nor anything else. The in-memory `Trial`, the service, corrections and
replay all use it. An update at the end of the log is learned at once. An event that changes an earlier update only
marks the policy's state as outdated from the place of that update on (`relearn_from`).
`running_state.Projection` then
learns the later updates again in one compiled loop.

If the policy fails at an update, the update is not learned. It is listed in `refusals` until an event records the
failure; the writer of the log adds that event in the same transaction (`refused_event`). From that event on, the
update is ignored.
"""

from datetime import datetime

from msgspec.structs import replace

from adhere.trial.domain.events import (
    AnyEvent,
    Closed,
    Corrected,
    EpochBegun,
    Looked,
    Paused,
    Recommended,
    Reported,
    Resumed,
    Revealed,
    UpdateRefused,
)
from adhere.trial.domain.history import History, evolve_counts, evolve_history
from adhere.trial.domain.look_state import after_look, evolve_looks
from adhere.trial.domain.state import ChangedUpdates, Refusal, TrialState
from adhere.trial.policy.engine import Engine, Floats
from adhere.trial.policy.updates import CHOICE, Row

_UNCHANGED: ChangedUpdates = {}
_STATUS: dict[type[AnyEvent], str] = {Paused: "paused", Resumed: "open", Closed: "closed"}


def evolve(state: TrialState, event: AnyEvent) -> TrialState:
    """Return the state after one more event."""
    recommendation_index = getattr(event, "recommendation_index", None)
    if recommendation_index is None:
        if isinstance(event, Looked) and state.looks is not None:
            state = replace(state, looks=after_look(state.looks, event))
        elif isinstance(event, EpochBegun):
            state = replace(state, commitments=(*state.commitments, event.commitment))
        elif isinstance(event, Revealed):
            state = replace(state, is_revealed=True)
        status = _STATUS.get(type(event), state.status)
        return replace(state, position=event.position, status=status, changed_updates=_UNCHANGED)
    before = state.histories.get(recommendation_index)
    after = evolve_history(before, event)
    changed = changed_updates(state.engine, before, after)
    policy_state, relearn_from, refusals = _learn(state, before, changed, event)
    if state.looks is not None and state.looker is not None:
        state = replace(state, looks=evolve_looks(state.looker.plan, state.looks, event, before, after))
    return replace(
        state,
        position=event.position,
        n_recommendations=state.n_recommendations + isinstance(event, Recommended),
        policy_state=policy_state,
        relearn_from=relearn_from,
        changed_updates=changed,
        refusals=refusals,
        histories=state.histories.set(recommendation_index, after),
        counts=evolve_counts(state.counts, before, after),
        has_sites=state.has_sites or after.site != "",
        reopened=_reopened(state.reopened, event, before, after),
    )


def _reopened(known: tuple[int, ...], event: AnyEvent, before: History | None, after: History) -> tuple[int, ...]:
    """Return the recommendations that a correction reopened and that are still open after an event about one of
    them.
    """
    index = after.recommendation_index
    if isinstance(event, Corrected) and before is not None and after.is_open and not before.is_open:
        return (*known, index)
    if not known:
        return known
    return tuple(one for one in known if one != index) if index in known and not after.is_open else known


def updates_of(engine: Engine, history: History | None) -> tuple[Row, ...]:
    """Return all updates of a recommendation: the choice if it changes the policy's state, then the reported
    values.
    """
    if history is None or len(history.memo) != engine.memo_size:  # a memo of another version is of no use
        return ()
    updates = history.updates(engine.n_arms, engine.sees_both_arms, engine.benefit)
    if history.recommendation_index >= engine.n_changing or history.refuses_choice():
        return updates
    return ((history.position, history.recommendation_index, history.chosen, CHOICE, 0.0, history.memo), *updates)


def changed_updates(engine: Engine, before: History | None, after: History) -> ChangedUpdates:
    """Return the updates that differ between two histories of a recommendation."""
    if before is None and after.recommendation_index >= engine.n_changing:  # nothing is reported yet
        return _UNCHANGED
    new = updates_of(engine, after)
    is_first = before is None or (before.reward is None and before.recommendation_index >= engine.n_changing)
    old = () if is_first else updates_of(engine, before)
    if old == new:
        return _UNCHANGED
    if not old and len(new) == 1:
        return {new[0][0]: new[0]}
    rows: dict[int, Row | None] = {row[0]: None for row in old if row not in new}
    return rows | {row[0]: row for row in new if row not in old}


def _learn(
    state: TrialState, before: History | None, changed: ChangedUpdates, event: AnyEvent
) -> tuple[Floats, int | None, tuple[Refusal, ...]]:
    """Return the policy's state, the place from which it must learn again (None: it is current), and the refused
    updates.
    """
    refusals = state.refusals
    if refusals and isinstance(event, UpdateRefused) and any(refusal.place == event.place for refusal in refusals):
        # The policy never learned this update.
        rest = tuple(refusal for refusal in refusals if refusal.place != event.place)
        return state.policy_state, state.relearn_from, rest
    places = set(changed)
    if state.design.blinded and before is not None:
        # Every restated kit causes relearning. If only a different arm did, the response time would disclose which
        # kits contain the same arm.
        places |= _restated_places(before, event)
    if not places:
        return state.policy_state, state.relearn_from, refusals
    first = min(places)
    if state.relearn_from is not None or first < event.position:
        return state.policy_state, min(first, state.relearn_from or first), refusals
    update = changed[event.position]  # the only update, because each record reports one
    assert update is not None
    learned = state.engine.learn_one(state.policy_state, update)
    if learned.refused:
        refusals += tuple(Refusal(update[0], update[1], reason) for _, reason in learned.refused)
    return learned.state, None, refusals


def refused_event(state: TrialState, at: datetime) -> UpdateRefused:
    """Return the event that records the first update the policy refused."""
    version, position = state.engine.algorithm_version, state.position + 1
    return UpdateRefused(position=position, at=at, algorithm_version=version, **state.refusals[0]._asdict())


def _restated_places(before: History, event: AnyEvent) -> set[int]:
    """Return the places of the values that an event reports again, whether or not they differ."""
    if not isinstance(event, Reported | Corrected):
        return set()
    retracted = event.retract if isinstance(event, Corrected) else ()
    restated = [
        part
        for name, value, part in (("actual", event.actual, before.actual), ("reward", event.reward, before.reward))
        if value is not None or name in retracted
    ]
    return {part.place for part in restated if part is not None}
