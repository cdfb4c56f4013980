"""Replay: every recommendation of a log derived again, from the log as it stood when it was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from adhere.store.contract import Reading
from adhere.trial.case import Case
from adhere.trial.chain import START, Fault, fault_in, walk
from adhere.trial.engine import Decision, Engine, Floats
from adhere.trial.events import AnyEvent, Created, Recommended, case_of, decode, status_after, with_event
from adhere.trial.fold import decode_standing, fold, is_kept, learn_at_end, state_from

_CLOSE = 1e-9  # another machine's mathematical library may differ in the last bits


@dataclass
class Replay:
    """What a replay found: how many recommendations came out the same, and the first that did not."""

    n_records: int = 0
    n_derived: int = 0
    n_by_probabilities: int = 0
    n_imported: int = 0
    n_fallbacks: int = 0
    other_laws: set[str] = field(default_factory=set)
    law: str = ""
    head: str = ""
    difference: Fault | None = None


def replay(view: Reading, trial: int, tell: Callable[[int], None] = lambda n: None) -> Replay:
    """Derive every recommendation of a trial again, and compare the state at the end with the one that is kept."""
    return _Replaying(view, trial).run(tell)


class _Replaying:
    def __init__(self, view: Reading, trial: int) -> None:
        self._view, self._trial = view, trial
        self._found = Replay()
        self._cases: dict[int, Case] = {}  # those of which more is likely to be heard
        self._decisions, self._status = 0, "open"
        self._engine: Engine
        self._state: Floats
        self._kept: list[tuple[int, Floats]] = []

    def run(self, tell: Callable[[int], None]) -> Replay:
        before = START
        for record in walk(self._view, self._trial, tell):
            place = self._found.n_records + 1
            fault = fault_in(record, before, place) or self._follow(decode(record.body))
            if fault:
                self._found.difference = fault
                return self._found
            before, self._found.n_records = record.hash, place
            if is_kept(place):
                self._kept.append((place, self._state))
        self._found.head = before.hex()
        self._found.difference = self._compare_with_standing()
        return self._found

    def _follow(self, event: AnyEvent) -> Fault | None:
        if isinstance(event, Created):
            self._engine = event.design.engine()
            self._state, self._found.law = self._engine.first_state, self._engine.law
            return None
        if isinstance(event, Recommended):
            if what := self._difference(event):
                return Fault(event.position, f"recommendation {event.decision}: {what}")
            self._decisions += 1
            self._state = self._engine.decide_again(self._state, event.decision, event.memo)
            self._cases[event.decision] = with_event(None, event)
            return None
        self._status = status_after(self._status, event)
        decision: int | None = getattr(event, "decision", None)
        if decision is not None:
            self._learn(event, decision)
        return None

    def _learn(self, event: AnyEvent, decision: int) -> None:
        before = self._cases.get(decision)
        if before is None:
            bodies = self._view.cases(self._trial, [decision], event.position - 1)[decision]
            before = case_of(decode(body) for body in bodies)
        after = with_event(before, event)
        learned = learn_at_end(self._engine, self._state, before, after, event.position)
        self._state = self._folded(learned, event.position) if isinstance(learned, int) else learned
        if after.is_open:
            self._cases[decision] = after
        else:
            self._cases.pop(decision, None)

    def _folded(self, place: int, until: int) -> Floats:
        while self._kept and self._kept[-1][0] >= place:
            self._kept.pop()
        start, state = self._kept[-1] if self._kept else (0, self._engine.first_state)

        def keep(position: int, state: Floats) -> None:
            if position < until:
                self._kept.append((position, state))

        return fold(self._view, self._trial, self._engine, state, start, until, keep)

    def _difference(self, event: Recommended) -> str | None:
        if event.decision != self._decisions:
            return f"it should have the number {self._decisions}"
        if event.imported:
            self._found.n_imported += 1
            return None
        if event.seen != event.position - 1:
            return f"it had seen record {event.seen}, not the one before it"
        if event.fallback:
            self._found.n_fallbacks += 1
            return _compare(event, self._engine.fall_back(self._state, event.decision, event.fallback))
        if event.law != self._engine.law:
            self._found.n_by_probabilities += 1
            self._found.other_laws.add(event.law)
            if len(event.memo) != self._engine.memo_size:
                return f"its memo has {len(event.memo)} numbers, and {self._engine.memo_size} by today's law"
            probabilities = self._engine.probabilities(self._state, event.decision, event.memo)
            return _compare_numbers("the probabilities", event.probabilities, probabilities)
        if event.key != self._engine.key:
            return f"it was drawn by the key {event.key}, and the trial's is {self._engine.key}"
        self._found.n_derived += 1
        try:
            return _compare(event, self._engine.decide(self._state, event.decision))
        except Exception as error:
            return f"the policy failed at it: {error}"

    def _compare_with_standing(self) -> Fault | None:
        standing = decode_standing(self._view.head(self._trial).snapshot)
        if standing is None:  # as after an import: there is nothing to compare with
            return None
        found = (standing.decisions, standing.status)
        if found != (self._decisions, self._status):
            what = f"{found[0]} recommendations and {found[1]!r}, not {self._decisions} and {self._status!r}"
            return Fault(self._found.n_records, f"the state kept beside the log says {what}")
        if standing.law != self._engine.law:
            return None
        for position, state in self._kept:
            copy = self._view.state_before(self._trial, position + 1)
            if copy is not None and copy[0] == position and copy[1] != state.tobytes():
                return Fault(position, "the copy of the state kept for it is another than the log gives")
        difference = _compare_numbers("the state", state_from(standing.state).tolist(), self._state.tolist())
        return Fault(self._found.n_records, f"beside the log, {difference}") if difference else None


def _compare(event: Recommended, made: Decision) -> str | None:
    if event.chosen != made.chosen:
        return f"arm {event.chosen} was logged, and arm {made.chosen} comes out"
    return _compare_numbers("the probabilities", event.probabilities, made.probabilities) or _compare_numbers(
        "the memo", event.memo, made.memo
    )


def _compare_numbers(name: str, logged: Sequence[float], derived: Sequence[float]) -> str | None:
    if tuple(logged) == tuple(derived):
        return None
    if len(logged) == len(derived) and np.allclose(logged, derived, rtol=_CLOSE, atol=_CLOSE, equal_nan=True):
        return None
    return f"{name} {list(logged)} were logged, and {list(derived)} come out"
