"""The log of a trial in memory: its events, and the state that they amount to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from adhere.design.design import Design
from adhere.errors import ConflictError, InputError
from adhere.trial.domain.events import (
    LOG_FORMAT,
    SOFTWARE,
    AnyEvent,
    Closed,
    Created,
    LessonRefused,
    Looked,
    Recommended,
)
from adhere.trial.domain.evolve import evolve, refused_events
from adhere.trial.domain.history import History
from adhere.trial.domain.state import initial_state
from adhere.trial.looks.due_looks import look_due, looked
from adhere.trial.policy.engine import Engine


def created_now(design: Design, engine: Engine, seed: int) -> Created:
    """The first event of a trial."""
    return Created(
        position=1,
        at=datetime.now(UTC),
        log_format=LOG_FORMAT,
        seed=seed,
        design=design,
        design_digest=design.digest,
        algorithm_version=engine.algorithm_version,
        software=SOFTWARE,
    )


class TrialLog:
    """The events of a trial in memory, and the state that they amount to.

    What follows from an event is added with it: the lessons that the policy refuses, and the looks that are due.
    """

    def __init__(self, engine: Engine, created: Created) -> None:
        self.state = initial_state(created.design, engine)
        self.events: list[AnyEvent] = []
        self.add(created)

    def add(self, event: AnyEvent) -> None:
        """Add an event and what follows from it."""
        state = evolve(self.state, event)
        refusals = refused_events(state, event.at)
        for refusal in refusals:
            state = evolve(state, refusal)
        self.state = state
        self.events += [event, *refusals]
        if state.looks is not None:
            self.look(event.at)

    def now(self, at: datetime | None) -> datetime:
        """The time of what happens next, after the looks by day whose day is over by then."""
        if self.state.status == "closed":
            raise ConflictError("trial", self.state.design.name, "a trial that is not closed")
        # The time of creation is that of this machine, and no part of the trial's own times.
        last = self.events[-1].at if len(self.events) > 1 else None
        if at is None:
            now = datetime.now(UTC) if last is None else max(last, datetime.now(UTC))  # clocks are set back at times
        elif not isinstance(at, datetime) or at.tzinfo is None:
            given = at.isoformat() if isinstance(at, datetime) else at
            raise InputError("at", given, "a time with its zone, e.g. datetime(2026, 3, 1, tzinfo=UTC)")
        elif last is not None and at < last:
            raise InputError("at", at.isoformat(), f"no time before {last.isoformat()}, when something happened last")
        else:
            now = at
        self.look(now)
        return now

    def look(self, at: datetime, *, is_end: bool = False) -> None:
        """Add the looks that are due; at the end of the trial the last one in any case."""
        while (number := look_due(self.state, at, is_end=is_end)) is not None:
            event = looked(self.state, number, at, self.patients)
            self.state = evolve(self.state, event)
            self.events.append(event)

    def patients(self) -> Iterator[tuple[Recommended, History]]:
        """All recommendations so far, and what is known of them."""
        made = (event for event in self.events if isinstance(event, Recommended))
        return ((event, self.state.histories[event.recommendation_index]) for event in made)

    def repeat(self, events: Iterable[AnyEvent]) -> bool:
        """Add events of a log; returns whether the same followed from them there as here."""
        known = [self.events[0]]
        for event in events:
            known.append(event)
            if not isinstance(event, LessonRefused | Looked):
                self.look(event.at, is_end=isinstance(event, Closed))
                self.add(event)
        return list(map(_followed, known)) == list(map(_followed, self.events))


def _followed(event: AnyEvent) -> tuple[object, ...]:
    found = (event.look, event.status, event.decision) if isinstance(event, Looked) else ()
    return (type(event), event.position, *found)
