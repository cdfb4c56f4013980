"""One recommendation in a log: the records about it, found by its ID."""

from __future__ import annotations

from adhere.errors import UnknownError
from adhere.store import ReadTransaction
from adhere.trial.events import AnyEvent, Recommended, decode
from adhere.trial.recommendation_ids import EXAMPLE, parse_id


def events_about(view: ReadTransaction, trial: int, recommendation_id: str) -> list[AnyEvent]:
    """All events about a recommendation, in order, the first of which made it; none if there is no such ID."""
    known = parse_id(recommendation_id)
    index = None if known is None else view.recommendation_index(trial, known)
    return [] if index is None else [decode(body) for body in view.histories(trial, [index])[index]]


def made_event(view: ReadTransaction, trial: int, recommendation_id: str) -> Recommended:
    """The event that made a recommendation."""
    events = events_about(view, trial, recommendation_id)
    if not events or not isinstance(events[0], Recommended):
        expected = f"the ID of a recommendation of this trial, e.g. {EXAMPLE}"
        raise UnknownError("recommendation", recommendation_id, expected)
    return events[0]
