"""Make the looks that a trial's design plans.

Nobody requests a look: the report that makes it due also records it. This module also checks the looks in a log:
whether they come where the design plans them, and whether their findings are right.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np

from adhere.design.design import Design
from adhere.errors import InputError, UnavailableError, listed
from adhere.looks.judge import ACTIVE, GO_ON
from adhere.trial.domain.events import SOFTWARE, AnyEvent, Closed, Corrected, Imputed, Looked, Recommended, Reported
from adhere.trial.domain.look_state import dropped, due_look, stratum_shares
from adhere.trial.domain.looker import Patients
from adhere.trial.domain.state import TrialState
from adhere.trial.policy.engine import Choice, Engine
from adhere.trial.policy.policy_steps import OF_THE_MACHINE, reason_of, unavailable


def look_due(state: TrialState, at: datetime, *, is_end: bool = False) -> int | None:
    """Return the index of the look that is due at a time, or None if no look is due. The last look is always due at
    the end.
    """
    if state.looks is None or state.looker is None or state.status == "closed":
        return None
    return due_look(state.looker.plan, state.looks, state.n_recommendations, at, is_end=is_end)


def needs_policy(state: TrialState) -> bool:
    """Return whether a look needs the policy's state, updated with all corrections."""
    return state.looker is not None and (state.looker.needs_beliefs or state.looker.plan.is_frozen)


def looked(state: TrialState, number: int, at: datetime, patients: Patients) -> Looked:
    """Return the event of the look with index `number`. `patients` are all recommendations, and are read only if the
    look's rule needs them.
    """
    looker, looks, engine = state.looker, state.looks, state.engine
    assert looker is not None
    assert looks is not None
    plan, n = looker.plan, state.n_recommendations
    beliefs = engine.beliefs(state.policy_state, n) if looker.needs_beliefs else ()
    finding = looker.find(number, looks, beliefs, patients)
    shares: tuple[float, ...] = ()
    reason = ""
    if plan.is_frozen:
        # A stop is only a recommendation and drops no arm.
        status = looks.status if finding.decision != GO_ON else finding.status
        gone = [one != ACTIVE for one in status]
        left = [arm for arm, is_gone in enumerate(gone) if not is_gone]
        given = state.policy_state, max(n, plan.burn_in), gone
        shares, reason = _shares_or_equal(engine, left, lambda: engine.stated_shares(*given))
    return Looked(
        position=state.position + 1,
        at=at,
        **finding._asdict(),
        look=number,
        n_outcomes=looks.n_outcomes,
        n_recommendations=n,
        shares=shares,
        fallback=reason,
        algorithm_version=engine.algorithm_version,
        software=SOFTWARE,
    )


def _shares_or_equal(
    engine: Engine, left: Sequence[int] | None, stated: Callable[[], Sequence[float]]
) -> tuple[tuple[float, ...], str]:
    """Return each arm's share, computed by a function. If the policy fails, return equal shares of the remaining
    arms, and the reason for the failure.
    """
    try:
        return tuple(stated()), ""
    except UnavailableError:
        raise
    except OF_THE_MACHINE as error:
        raise unavailable(engine.policy, error) from error
    except Exception as error:
        return engine.equal_shares(left), reason_of(error)


def stratum_number(design: Design, stratum: object) -> int | None:
    """Return the index of a stratum. Raise an error if a trial with strata gets no stratum, or a trial without strata
    gets one.
    """
    if not design.strata:
        if stratum is None:
            return None
        raise InputError("stratum", stratum, "none: the trial's design has no strata")
    if stratum is None:
        sentence = f"stratum: expected one of {listed(design.strata)}, and none was given"
        raise InputError("stratum", "", f"one of {listed(design.strata)}", sentence)
    if not isinstance(stratum, str) or stratum not in design.strata:
        raise InputError("stratum", stratum, f"one of {listed(design.strata)}")
    return design.strata.index(stratum)


def choose(state: TrialState, stratum: int | None) -> Choice:
    """Choose the next recommendation's arm as the design prescribes. Errors of the policy are passed on."""
    engine, index = state.engine, state.n_recommendations
    shares = prescribed(state, stratum)
    if shares is None:
        return engine.choose(state.policy_state, index, state.epoch)
    return engine.allocate(state.policy_state, index, shares, state.epoch)


def prescribed(state: TrialState, stratum: int | None) -> list[float] | None:
    """Return the probabilities with which the design draws the next arm, or None if the policy chooses by itself."""
    if state.looks is None or state.looker is None:
        return None
    engine, index, looks, plan = state.engine, state.n_recommendations, state.looks, state.looker.plan
    gone = dropped(looks)
    if stratum is not None and index < plan.burn_in:
        return stratum_shares(plan, looks, stratum)
    if plan.is_frozen and index >= plan.burn_in:
        return list(looks.shares) or engine.stated_shares(engine.first_state, plan.burn_in, gone)
    return engine.stated_shares(state.policy_state, index, gone) if any(gone) else None


def choose_or_fall_back(state: TrialState, stratum: int | None) -> Choice:
    """Choose an arm. If the policy fails, draw one of the remaining arms with equal probabilities, and record the
    reason for the failure.
    """
    given = state.policy_state, state.n_recommendations, state.epoch
    return state.engine.choose_or_fall_back(*given, lambda: choose(state, stratum), arms_left(state))


def arms_left(state: TrialState) -> list[int] | None:
    """Return the arms that were not dropped, or None if no arm was dropped."""
    gone = [] if state.looks is None else dropped(state.looks)
    return [arm for arm, is_dropped in enumerate(gone) if not is_dropped] if any(gone) else None


def stated_probabilities(state: TrialState, stratum: int | None) -> tuple[float, ...]:
    """Return the probability of each arm at the next recommendation without drawing. Errors of the policy are passed
    on.
    """
    engine, shares = state.engine, prescribed(state, stratum)
    none_dropped = [False] * engine.n_arms
    return tuple(shares or engine.stated_shares(state.policy_state, state.n_recommendations, none_dropped))


def next_probabilities(state: TrialState) -> tuple[float, ...]:
    """Return the probability of each arm at the next recommendation.

    In a burn-in by strata, the remaining arms are equally likely, because the next patient's stratum is not known.
    """
    looker, left = state.looker, arms_left(state)
    if looker is not None and looker.plan.n_strata and state.n_recommendations < looker.plan.burn_in:
        return state.engine.equal_shares(left)
    state.engine.ensure_loaded()
    return _shares_or_equal(state.engine, left, lambda: stated_probabilities(state, None))[0]


# Events that are recorded only after the looks that are due. Refusals come before these looks; other events need no
# policy.
_AFTER_LOOKS = (Recommended, Reported, Imputed, Corrected, Closed)
TOLERANCE = 1e-9  # the mathematical library of another machine may differ in the last bits


def check_looks(state: TrialState, event: AnyEvent) -> str | None:
    """Return the fault of an event that follows a state, or None. Either a look is missing before the event, or the
    event itself is a look that is not due.
    """
    if state.looks is None:
        return None
    if isinstance(event, Looked):
        return _check_look(state, event)
    if not isinstance(event, _AFTER_LOOKS):
        return None
    due = look_due(state, event.at, is_end=isinstance(event, Closed))
    return None if due is None else f"look {due + 1} was due before this record, but the log does not contain it"


def _check_look(state: TrialState, event: Looked) -> str | None:
    assert state.looks is not None
    # The last look may be made at the end of the trial. The record of the end then follows it.
    if event.look not in (look_due(state, event.at), look_due(state, event.at, is_end=True)):
        return f"look {event.look + 1} was not due here by the trial's design"
    counted, known = (event.n_outcomes, event.n_recommendations), (state.looks.n_outcomes, state.n_recommendations)
    if counted != known:
        there = f"{known[0]} of {known[1]}"
        return f"look {event.look + 1} counts {counted[0]} outcomes of {counted[1]}, but there were {there}"
    return None


def missing_look(state: TrialState, at: datetime) -> str | None:
    """Return a message if a look should follow the last event, which has the time `at`."""
    due = look_due(state, at)
    return None if due is None else f"look {due + 1} should follow it"


def compare_looks(logged: Looked, derived: Looked) -> str | None:
    """Return how a logged look differs from the same look derived again, or None if they agree."""
    name = f"look {logged.look + 1}"
    for what in ("status", "decision", "selected"):
        if getattr(logged, what) != getattr(derived, what):
            return f"{name}: {what} {getattr(logged, what)} was logged, and {getattr(derived, what)} comes out"
    values, shares = (_numbers(logged), _numbers(derived)), (logged.shares, derived.shares)
    for what, (one, other) in (("the values", values), ("the shares", shares)):
        if len(one) != len(other) or not np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return f"{name}: {what} {list(one)} were logged, and {list(other)} come out"
    return None


def _numbers(event: Looked) -> Sequence[float]:
    return [np.nan if value is None else value for row in event.values for value in row]
