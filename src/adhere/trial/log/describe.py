"""What an event of a log says, in one line of plain words."""

from __future__ import annotations

from adhere.design.arms import describe_taken
from adhere.design.design import Design
from adhere.trial.domain.events import (
    AnyEvent,
    Closed,
    Conflicted,
    Corrected,
    Created,
    EnteredInError,
    EpochBegun,
    Erased,
    Imputed,
    Looked,
    Paused,
    Recommended,
    Repeated,
    Reported,
    Resumed,
    Revealed,
    Unblinded,
    UpdateRefused,
    Withdrawn,
)
from adhere.trial.log.look_view import decision_of

_WITH_REASON = {
    Withdrawn: "lost to follow-up",
    EnteredInError: "entered in error",
    Unblinded: "unblinded",
    Paused: "paused: no new recommendations",
    Resumed: "resumed: recommendations go on",
    Closed: "closed for good",
    Revealed: "secret revealed: anybody can draw the arms again",
}


def describe(design: Design, event: AnyEvent, words: str | None = None) -> str:
    """One line; `words` are the reporter's own for what was taken, unless they were erased."""
    if (said := _WITH_REASON.get(type(event))) is not None:
        return f"{said} ({getattr(event, 'reason', '')})"
    if isinstance(event, Recommended):
        at = f", stratum {design.strata[event.stratum]}" if event.stratum is not None else ""
        shares = f" with probability {event.probabilities[event.chosen]:.4f}" if event.probabilities else ""
        return f"recommended: {design.arms[event.chosen]}{shares}{at}"
    if isinstance(event, Reported | Imputed | Corrected):
        return _describe_report(design, event, words)
    if isinstance(event, UpdateRefused):
        return f"the policy refused the update of record {event.place}, which it skips from here on ({event.reason})"
    if isinstance(event, Looked):
        return f"look {event.look + 1}, at {event.n_outcomes:,} outcomes: {decision_of(event)}"
    if isinstance(event, Created):
        return f"created: {design.policy}, arms {', '.join(design.arms)}"
    if isinstance(event, Conflicted):
        return f"refused: another request under the request id of record {event.of}"
    if isinstance(event, EpochBegun):
        lost = f", {event.n_lost:,} records lost" if event.n_lost else ""
        return f"new epoch: arms are drawn by a fresh secret from here on ({event.reason}{lost})"
    if isinstance(event, Erased):
        return f"a subject's identity was erased (key {event.subject})"
    assert isinstance(event, Repeated)
    return "requested or reported once more, with nothing new"


def _describe_report(design: Design, event: Reported | Imputed | Corrected, words: str | None) -> str:
    values = _values(design, event, words)
    if isinstance(event, Imputed):
        return f"no report, so the trial's rule assumes: {values}"
    if isinstance(event, Reported):
        when = f" (happened {event.happened.isoformat()})" if event.happened else ""
        return f"reported: {values}{when}"
    said = [
        values,
        *("not lost to follow-up" if part == "withdrawal" else f"{part} retracted" for part in event.retract),
    ]
    return f"corrected: {', '.join(filter(None, said))} ({event.reason})"


def _values(design: Design, event: Reported | Imputed | Corrected, words: str | None) -> str:
    said = [] if event.actual is None else [f"actual {describe_taken(design.arms, event.actual)}"]
    said = [f"{said[0]} ({words})"] if words is not None else said
    return ", ".join(said + ([] if event.reward is None else [_reward(design, event.reward)]))


def _reward(design: Design, reward: float) -> str:
    words = [f" ({word})" for word, value in design.outcome_words.items() if value == reward]
    return f"reward {reward:g}{''.join(words)}"
