"""Read log records: the hash chain, which detects every change, and the records about one recommendation.

The hash of each record covers its body and the hash before it.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from adhere.errors import SecretUnknownError, UnknownError
from adhere.store import ReadTransaction, Record
from adhere.trial.domain.events import AnyEvent, Recommended, created_event, decode
from adhere.trial.domain.history import History, history_of
from adhere.trial.secret.recommendation_ids import EXAMPLE, parse_id

START: Final = bytes(32)
_BEFORE_ALL: Final = -(2**62)
_AT_ONCE: Final = 2000  # recommendations


def link(before: bytes, body: bytes) -> bytes:
    """Return the hash of a record, computed from its body and the hash of the record before it."""
    return hashlib.sha256(before + body).digest()


def commitment(salt: bytes, text: str) -> str:
    """Return a digest that replaces a text. It reveals nothing once the salt is deleted."""
    return hashlib.sha256(salt + text.encode()).hexdigest()[:32]


def walk(view: ReadTransaction, trial: int, on_progress: Callable[[int], None] = lambda n: None) -> Iterator[Record]:
    """Yield all records of a trial in order."""
    after = _BEFORE_ALL  # not 0: a record inserted before the first one must be found
    while some := view.records(trial, after):
        yield from some
        after = some[-1].position
        on_progress(len(some))


def read_histories(
    view: ReadTransaction, trial: int, first: int = 0, until: int | None = None
) -> Iterator[tuple[Recommended, History]]:
    """Yield each recommendation from an index on, in order, with its history up to a position (by default, up to
    now).
    """
    while bodies := view.histories(trial, range(first, first + _AT_ONCE), until):
        for number in sorted(bodies):
            events = [decode(body) for body in bodies[number]]
            assert isinstance(events[0], Recommended)
            yield events[0], history_of(events)
        first += _AT_ONCE


def events_about(view: ReadTransaction, trial: int, recommendation_id: str) -> list[AnyEvent]:
    """Return all events about a recommendation in order, starting with the one that made it. If the ID is unknown,
    return no events.
    """
    index = index_of(view, trial, recommendation_id)
    return [] if index is None else [decode(body) for body in view.histories(trial, [index])[index]]


def index_of(view: ReadTransaction, trial: int, recommendation_id: str) -> int | None:
    """Return the index of the recommendation with an ID, or None if there is no such recommendation.

    If the trial's secret is unknown, as in an exported log, the whole log is searched.
    """
    if (known := parse_id(recommendation_id)) is None:
        return None
    try:
        index = created_event(view, trial).keys(view.secret).ids.index_of(known)
    except SecretUnknownError:
        return search_index(view, trial, known)
    bodies = None if index is None else view.histories(trial, [index]).get(index)
    made = decode(bodies[0]) if bodies else None
    return index if isinstance(made, Recommended) and made.recommendation_id == known else None


def search_index(view: ReadTransaction, trial: int, recommendation_id: str) -> int | None:
    """Find the index of the recommendation with an ID by searching the log. Return None if there is none."""
    for record in walk(view, trial):
        if record.subject is not None:  # the record of a recommendation
            made = decode(record.body)
            if isinstance(made, Recommended) and made.recommendation_id == recommendation_id:
                return made.recommendation_index
    return None


def made_events(view: ReadTransaction, trial: int, indices: Sequence[int]) -> dict[int, Recommended]:
    """Return the events that made some recommendations, by index."""
    events = {index: decode(bodies[0]) for index, bodies in view.histories(trial, indices).items()}
    return {index: event for index, event in events.items() if isinstance(event, Recommended)}


def made_event(view: ReadTransaction, trial: int, recommendation_id: str) -> Recommended:
    """Return the event that made a recommendation."""
    return made_and_all(view, trial, recommendation_id)[0]


def made_and_all(view: ReadTransaction, trial: int, recommendation_id: str) -> tuple[Recommended, list[AnyEvent]]:
    """Return the event that made a recommendation and all events about it. Raise `UnknownError` if the ID is
    unknown.
    """
    events = events_about(view, trial, recommendation_id)
    if not events or not isinstance(events[0], Recommended):
        expected = f"the ID of a recommendation of this trial, e.g. {EXAMPLE}"
        raise UnknownError("recommendation", recommendation_id, expected)
    return events[0], events
