"""Mark a recommendation as lost to follow-up: no more reports are accepted, earlier ones stay."""

from __future__ import annotations

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import ConflictError
from adhere.trial.commands import Withdraw
from adhere.trial.events import Withdrawn
from adhere.trial.state import TrialState
from adhere.trial.verbs.context import Change, Context, find_history


def decide(state: TrialState, command: Withdraw, context: Context) -> list[Change]:
    """A withdrawal, once."""
    history = find_history(state, command.recommendation_id, command.site)
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    if history.withdrawn:
        number = command.recommendation_id
        sentence = f"recommendation {number} was withdrawn (lost to follow-up) before"
        raise ConflictError("recommendation", number, "one that was not withdrawn before", sentence)
    stamp = context.stamp(state)
    return [Change(Withdrawn(**stamp, recommendation_id=history.recommendation_id, reason=reason))]
