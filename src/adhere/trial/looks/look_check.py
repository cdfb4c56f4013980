"""Check the looks in a log: whether they stand where the design has them, and what comes out of the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from adhere.trial.domain.events import AnyEvent, Closed, Corrected, Imputed, Looked, Recommended, Reported
from adhere.trial.domain.state import TrialState
from adhere.trial.looks.due_looks import look_due

# What is recorded only after the looks that are due. Refusals stand before them, and the rest needs no policy.
_AFTER_LOOKS = (Recommended, Reported, Imputed, Corrected, Closed)
TOLERANCE = 1e-9  # another machine's mathematical library may differ in the last bits


def check_looks(state: TrialState, event: AnyEvent) -> str | None:
    """Return what is wrong with an event after a state: a look before it is missing, or it is one that is not due."""
    if state.looks is None:
        return None
    if isinstance(event, Looked):
        return _check_look(state, event)
    if not isinstance(event, _AFTER_LOOKS):
        return None
    due = look_due(state, event.at, is_end=isinstance(event, Closed))
    return None if due is None else f"look {due + 1} was due before it, and the log does not have it"


def _check_look(state: TrialState, event: Looked) -> str | None:
    assert state.looks is not None
    # The last look may be made at the end of the trial, whose record follows.
    if event.look not in (look_due(state, event.at), look_due(state, event.at, is_end=True)):
        return f"look {event.look + 1} was not due here by the trial's design"
    counted, known = (event.n_outcomes, event.n_recommendations), (state.looks.n_outcomes, state.n_recommendations)
    if counted != known:
        there = f"{known[0]} of {known[1]}"
        return f"look {event.look + 1} counts {counted[0]} outcomes of {counted[1]}, and there were {there}"
    return None


def missing_look(state: TrialState, at: datetime) -> str | None:
    """Return which look should follow the last event, of the time `at`, if one should."""
    due = look_due(state, at)
    return None if due is None else f"look {due + 1} should follow it"


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
