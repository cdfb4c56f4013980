"""Compare a recommendation in the log with what comes out when it is derived again from the state before it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from adhere.errors import UnavailableError
from adhere.trial.domain.events import Recommended
from adhere.trial.domain.state import TrialState
from adhere.trial.looks.due_looks import arms_left, choose, prescribed, stated_probabilities
from adhere.trial.looks.look_check import TOLERANCE
from adhere.trial.policy.engine import Choice


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
    """How a recommendation was derived again, what came out, and how that differs from the log, if it does."""

    how: How
    difference: str | None = None
    arm: int | None = None
    probabilities: Sequence[float] = ()


def compare_recommendation(state: TrialState, event: Recommended) -> Comparison:
    """Derive a recommendation again from the state that its policy had learned."""
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
    is_secret = not engine.keys.knows(state.epoch)
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
    """What another version of the policy must not have changed."""
    engine = state.engine
    if len(event.memo) != engine.memo_size:
        what = f"its memo has {len(event.memo)} numbers, and {engine.memo_size} in today's version"
        return Comparison(How.BY_PROBABILITIES, what)
    probabilities: Sequence[float] | None = prescribed(state, event.stratum)
    if probabilities is None:
        probabilities = engine.probabilities(state.policy_state, event.recommendation_index, event.memo)
    return _compare_stated(How.BY_PROBABILITIES, event, probabilities)


def _compare_stated(how: How, event: Recommended, probabilities: Sequence[float]) -> Comparison:
    """Compare the probabilities; the arm must be one that could be drawn."""
    difference = compare_numbers("the probabilities", event.probabilities, probabilities)
    if difference is None and not event.probabilities[event.chosen] > 0.0:
        difference = f"arm {event.chosen} was logged, which had no probability"
    return Comparison(how, difference, probabilities=tuple(probabilities))


def _compared(how: How, event: Recommended, choice: Choice) -> Comparison:
    return Comparison(how, _difference(event, choice), choice.chosen, choice.probabilities)


def _difference(event: Recommended, choice: Choice) -> str | None:
    if event.chosen != choice.chosen:
        return f"arm {event.chosen} was logged, and arm {choice.chosen} comes out"
    return compare_numbers("the probabilities", event.probabilities, choice.probabilities) or compare_numbers(
        "the memo", event.memo, choice.memo
    )


def compare_numbers(name: str, logged: Sequence[float], derived: Sequence[float]) -> str | None:
    """How two lists of numbers differ, if by more than rounding."""
    if logged == derived:
        return None
    if len(logged) == len(derived) and np.allclose(logged, derived, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        return None
    return f"{name} {list(logged)} were logged, and {list(derived)} come out"
