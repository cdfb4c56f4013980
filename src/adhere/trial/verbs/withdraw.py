"""Mark a recommendation as lost to follow-up: no further reports are accepted, but earlier ones remain valid."""

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.trial.domain.commands import Withdraw
from adhere.trial.domain.events import Repeated, Withdrawn
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context, check_not_in_error, find_history


def decide(state: TrialState, command: Withdraw, context: Context) -> list[Change]:
    """Record a withdrawal. A repeated withdrawal is only acknowledged."""
    history = find_history(state, command.recommendation_id, command.site)
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    check_not_in_error(history)
    stamp, number = context.stamp(state), history.recommendation_index
    if history.withdrawn:
        return [Change(Repeated(**stamp, recommendation_index=number))]
    return [Change(Withdrawn(**stamp, recommendation_index=number, reason=reason))]
