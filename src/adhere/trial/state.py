"""A trial's state as a fold over its log: every lesson at its place, every recommendation as it was logged."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from adhere.store.contract import Reading
from adhere.trial.case import Case, first_difference
from adhere.trial.chain import walk
from adhere.trial.engine import Engine, Floats
from adhere.trial.events import Recommended, case_of, decode, status_after

KEEP_EVERY = 4096  # records between two kept states, from which a correction is worked in


def is_kept(position: int) -> bool:
    """Whether the state after a position is kept."""
    return position % KEEP_EVERY == 0


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """What all of a log amounts to. It is kept beside the log's head, and could be had from the log at any time."""

    state: bytes
    law: str
    decisions: int = 0
    status: str = "open"
    examined: int = 0  # the first decision the rule for missing reports has not looked at yet


def encode_standing(standing: Standing) -> bytes:
    """For the store."""
    return msgspec.msgpack.encode(standing)


def decode_standing(data: bytes) -> Standing | None:
    """From the store; None if it is missing or damaged, and the log must say it."""
    try:
        return msgspec.msgpack.decode(data, type=Standing)
    except msgspec.DecodeError:
        return None


def standing_of(view: Reading, trial: int, engine: Engine, until: int) -> Standing:
    """What a log amounts to, from its first record on."""
    decisions, status = 0, "open"
    for record in walk(view, trial):
        event = decode(record.body)
        decisions += isinstance(event, Recommended)
        status = status_after(status, event)
    state = fold(view, trial, engine, engine.first_state, 0, until)
    return Standing(state.tobytes(), engine.law, decisions, status)


def state_from(data: bytes) -> Floats:
    """A policy's state from its bytes."""
    return np.frombuffer(data, dtype=np.float64).copy()


def learn_at_end(engine: Engine, state: Floats, before: Case, after: Case, position: int) -> Floats | int:
    """The state after the latest record about a case; or, if that changes earlier lessons, the first such place."""
    lessons = after.lessons(engine.n_arms)
    place = first_difference(before.lessons(engine.n_arms), lessons)
    if place is None:
        return state
    if place < position:
        return place
    for lesson in lessons:
        if lesson.place == position:
            state = engine.learn(state, after.decision, after.memo, after.chosen, lesson.feedback, lesson.reward)
    return state


def fold(
    view: Reading,
    trial: int,
    engine: Engine,
    state: Floats,
    after: int,
    until: int,
    keep: Callable[[int, Floats], None] = lambda position, state: None,
) -> Floats:
    """The state at `until`, from the state at an earlier position, by the log as it stood at `until`.

    `keep` is told the states on the way that are to be kept.
    """
    while after < until:
        end = min(until, after - after % KEEP_EVERY + KEEP_EVERY)
        some = view.records(trial, after, end - after)
        decisions = {record.decision for record in some if record.decision is not None}
        bodies = view.cases(trial, sorted(decisions), until)
        cases = [case_of(decode(body) for body in records) for records in bodies.values()]
        acts = ((place, case) for case in cases for place in _places(case, engine.n_arms) if after < place <= end)
        for place, acting in sorted(acts, key=lambda act: act[0]):
            state = _act(engine, state, acting, place)
        after = end
        if is_kept(end):
            keep(end, state)
    return state


def _places(case: Case, n_arms: int) -> list[int]:
    return [case.position, *(lesson.place for lesson in case.lessons(n_arms))]


def _act(engine: Engine, state: Floats, case: Case, place: int) -> Floats:
    if place == case.position:
        return engine.decide_again(state, case.decision, case.memo)
    for lesson in case.lessons(engine.n_arms):
        if lesson.place == place:
            state = engine.learn(state, case.decision, case.memo, case.chosen, lesson.feedback, lesson.reward)
    return state
