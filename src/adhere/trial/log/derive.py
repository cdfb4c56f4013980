"""Derive one recommendation again, only from the log up to the time it was made.

A replay draws every recommendation in turn. This module derives only one: the updates that the policy had learned by
then are gathered from the records and learned in one compiled loop. Checkpoints are not used, because they contain
later corrections.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from adhere.errors import UnavailableError
from adhere.store import ReadTransaction
from adhere.trial.domain.due_looks import TOLERANCE, arms_left, choose, prescribed, stated_probabilities
from adhere.trial.domain.events import Created, Recommended
from adhere.trial.domain.evolve import evolve, updates_of
from adhere.trial.domain.log_records import START, made_event, walk
from adhere.trial.domain.state import Refusal, TrialState, initial_state
from adhere.trial.log.verify import IntegrityError, checked_event
from adhere.trial.policy.engine import Choice
from adhere.trial.policy.updates import pack
from adhere.trial.writing.cached_updates import learn


class How(Enum):
    """How far a recommendation can be derived again."""

    DERIVED = "arm and probabilities"
    BY_PROBABILITIES = "probabilities only: the arm was drawn by another version of the policy"
    BY_LOG = "probabilities only: the secret that drew the arm is not known here"
    FALLBACK = "the arm drawn with equal probabilities, because the policy had failed"
    FALLBACK_BY_LOG = "probabilities only: the policy had failed, and the secret that drew the arm is not known here"
    IMPORTED = "not at all: it was made elsewhere and imported"
    NOT = "not at all"


class Comparison(NamedTuple):
    """The way a recommendation was derived again, the result, and how it differs from the log (None if it agrees)."""

    how: How
    difference: str | None = None
    arm: int | None = None
    probabilities: Sequence[float] = ()


def compare_recommendation(state: TrialState, event: Recommended) -> Comparison:
    """Derive a recommendation again from the state that its policy had learned, and compare it with the log."""
    engine, index = state.engine, event.recommendation_index
    if index != state.n_recommendations:
        return Comparison(How.NOT, f"it should have the index {state.n_recommendations}")
    if event.epoch != state.epochs[-1]:
        return Comparison(How.NOT, f"it should be of the epoch {state.epochs[-1] or 'of the first record'}")
    if event.imported:
        return Comparison(How.IMPORTED)
    if event.learned_up_to != state.position:
        what = f"the policy had learned up to record {event.learned_up_to}, not up to the one before it"
        return Comparison(How.NOT, what)
    is_secret = engine.keys.secret(state.epoch) is None
    if event.fallback:
        left = arms_left(state)
        if is_secret:
            return _compare_stated(How.FALLBACK_BY_LOG, event, engine.equal_shares(left))
        return _compared(How.FALLBACK, event, engine.fall_back(index, event.fallback, state.epoch, left))
    if event.algorithm_version != engine.algorithm_version:
        return _compare_probabilities(state, event)
    try:
        if is_secret:
            return _compare_stated(How.BY_LOG, event, stated_probabilities(state, event.stratum))
        return _compared(How.DERIVED, event, choose(state, event.stratum))
    except (UnavailableError, MemoryError, OSError):
        raise
    except Exception as error:
        return Comparison(How.DERIVED, f"the policy failed at it: {error}")


def _compare_probabilities(state: TrialState, event: Recommended) -> Comparison:
    """Compare the probabilities with the log. They must be the same in every version of the policy."""
    engine = state.engine
    if len(event.memo) != engine.memo_size:
        what = f"its memo has {len(event.memo)} numbers, but this version's has {engine.memo_size}"
        return Comparison(How.BY_PROBABILITIES, what)
    probabilities: Sequence[float] | None = prescribed(state, event.stratum)
    if probabilities is None:
        probabilities = engine.probabilities(state.policy_state, event.recommendation_index, event.memo)
    return _compare_stated(How.BY_PROBABILITIES, event, probabilities)


def _compare_stated(how: How, event: Recommended, probabilities: Sequence[float]) -> Comparison:
    """Compare the probabilities with the log, and check that the logged arm had a positive probability."""
    difference = compare_numbers("the probabilities", event.probabilities, probabilities)
    if difference is None and not event.probabilities[event.chosen] > 0.0:
        difference = f"arm {event.chosen} was logged, but its probability was 0"
    return Comparison(how, difference, probabilities=tuple(probabilities))


def _compared(how: How, event: Recommended, choice: Choice) -> Comparison:
    if event.chosen != choice.chosen:
        difference: str | None = f"arm {event.chosen} was logged, but arm {choice.chosen} was derived"
    else:
        probabilities = compare_numbers("the probabilities", event.probabilities, choice.probabilities)
        difference = probabilities or compare_numbers("the memo", event.memo, choice.memo)
    return Comparison(how, difference, choice.chosen, choice.probabilities)


def compare_numbers(name: str, logged: Sequence[float], derived: Sequence[float]) -> str | None:
    """Return how two lists of numbers differ by more than rounding, or None if they agree."""
    if logged == derived:
        return None
    if len(logged) == len(derived) and np.allclose(logged, derived, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        return None
    return f"{name} {list(logged)} were logged, but {list(derived)} were derived"


@dataclass(frozen=True)
class Reproduction:
    """A recommendation derived again: the numbers of records and updates used, and the result."""

    n_records: int
    n_updates: int
    comparison: Comparison
    state: TrialState | None = None  # the state just before the recommendation


def derive_again(view: ReadTransaction, trial: int, recommendation_id: str) -> Reproduction:
    """Derive a recommendation again. The records before it are checked against the hash chain on the way."""
    made = made_event(view, trial, recommendation_id)
    before = START
    state: TrialState
    for position, record in enumerate(walk(view, trial), 1):
        if position == made.position:
            break
        event = checked_event(record, before, position)
        if isinstance(event, IntegrityError):
            return Reproduction(0, 0, Comparison(How.NOT, f"the log was changed, {event}"))
        if isinstance(event, Created):
            engine = event.recorded_engine(view.secret)
            engine.ensure_loaded()
            # As if the first update had changed: the reducer then leaves all updates to be learned at the end.
            state = replace(initial_state(event.design, engine), relearn_from=1)
        state, before = evolve(state, event), record.hash
    rows = [row for history in state.histories.values() for row in updates_of(engine, history)]
    rows.sort(key=lambda row: row[0])
    refusals: list[Refusal] = []  # in logs that do not record them, the policy skips these updates again
    policy_state = learn(engine, engine.first_state, b"".join(map(pack, rows)), refusals)
    state = replace(state, policy_state=policy_state, position=made.position - 1, relearn_from=None)
    return Reproduction(state.position, len(rows), compare_recommendation(state, made), state)
