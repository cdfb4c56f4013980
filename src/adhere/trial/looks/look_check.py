"""Whether a log has the looks that its design asks for, with what comes out of the outcomes so far."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec
import numpy as np

from adhere.design.design import Design
from adhere.trial.domain.events import AnyEvent, Closed, Corrected, Imputed, Looked, Recommended, Reported
from adhere.trial.domain.history import History, evolve_history
from adhere.trial.domain.look_state import (
    LookPlan,
    LookState,
    after_look,
    due_look,
    evolve_looks,
    first_look_state,
    has_looks,
    last_look,
)
from adhere.trial.domain.looker import Looker

# What is recorded only after the looks that are due. Refusals stand before them, and the rest needs no policy.
_AFTER_LOOKS = (Recommended, Reported, Imputed, Corrected, Closed)
TOLERANCE = 1e-9  # another machine's mathematical library may differ in the last bits


def missing_look(plan: LookPlan, looks: LookState, n_recommendations: int, event: AnyEvent) -> str | None:
    """That a look should have been made before this event, if so."""
    if not isinstance(event, _AFTER_LOOKS):
        return None
    due = due_look(plan, looks, n_recommendations, event.at)
    if due is None and isinstance(event, Closed):
        due = last_look(plan, looks, n_recommendations)
    return None if due is None else f"look {due + 1} was due before it, and the log does not have it"


def wrong_look(plan: LookPlan, looks: LookState, n_recommendations: int, event: Looked) -> str | None:
    """That a look stands where the design has none, or does not count what was known, if so."""
    if event.look not in (
        due_look(plan, looks, n_recommendations, event.at),
        last_look(plan, looks, n_recommendations),  # at the end of the trial, whose record follows
    ):
        return f"look {event.look + 1} was not due here by the trial's design"
    counted, known = (event.n_outcomes, event.n_recommendations), (looks.n_outcomes, n_recommendations)
    if counted != known:
        there = f"{known[0]} of {known[1]}"
        return f"look {event.look + 1} counts {counted[0]} outcomes of {counted[1]}, and there were {there}"
    return None


def compare_looks(logged: Looked, derived: Looked) -> str | None:
    """How a look differs from the one that comes out, if it does."""
    name = f"look {logged.look + 1}"
    for what in ("status", "decision", "selected"):
        if getattr(logged, what) != getattr(derived, what):
            return f"{name}: {what} {getattr(logged, what)} was logged, and {getattr(derived, what)} comes out"
    for what, one, other in (
        ("the values", _numbers(logged), _numbers(derived)),
        ("the shares", logged.shares, derived.shares),
    ):
        if len(one) != len(other) or not np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return f"{name}: {what} {list(one)} were logged, and {list(other)} come out"
    return None


def _numbers(event: Looked) -> Sequence[float]:
    return [np.nan if value is None else value for row in event.values for value in row]


class LookCheck:
    """Follows a log and derives its looks again, without its policy: what hangs on that is left to replay."""

    def __init__(self, design: Design) -> None:
        self._looker = Looker(design) if has_looks(design) else None
        if self._looker is not None:
            self._looks = first_look_state(self._looker.plan)
        self._histories: dict[int, History] = {}
        self._made: list[Recommended] = []
        self._is_closed = False
        self.n_looks = self.n_derived = 0
        self._last_at: datetime | None = None

    def follow(self, event: AnyEvent) -> str | None:
        """Take one more event in; returns what is wrong with it."""
        if self._looker is None or self._is_closed:
            return None
        self._is_closed, self._last_at = isinstance(event, Closed), event.at
        plan, n = self._looker.plan, len(self._made)
        if isinstance(event, Looked):
            wrong = wrong_look(plan, self._looks, n, event) or self._difference(event)
            self._looks = after_look(self._looks, event)
            self.n_looks += 1
            return wrong
        missing = missing_look(plan, self._looks, n, event)
        number = getattr(event, "recommendation_index", None)
        if number is not None:
            before = self._histories.get(number)
            after = self._histories[number] = evolve_history(before, event)
            self._looks = evolve_looks(plan, self._looks, event, before, after)
        if isinstance(event, Recommended):
            self._made.append(event)
        return missing

    def missing_at_end(self) -> str | None:
        """That a look should follow the last event, if so."""
        if self._looker is None or self._is_closed or self._last_at is None:
            return None
        due = due_look(self._looker.plan, self._looks, len(self._made), self._last_at)
        return None if due is None else f"look {due + 1} should follow it"

    def _difference(self, event: Looked) -> str | None:
        looker = self._looker
        assert looker is not None
        if looker.needs_beliefs:
            return None
        self.n_derived += 1
        patients = ((one, self._histories[one.recommendation_index]) for one in self._made)
        found = looker.find(event.look, self._looks, (), patients)
        return compare_looks(event, msgspec.structs.replace(event, **found._asdict()))
