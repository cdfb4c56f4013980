"""Mark a recommendation as entered in error: it was not meant for any patient. No analysis counts it."""

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import ConflictError
from adhere.trial.domain.commands import MarkInError
from adhere.trial.domain.events import EnteredInError, Repeated
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context, find_history


def decide(state: TrialState, command: MarkInError, context: Context) -> list[Change]:
    """Mark a recommendation as entered in error, unless it has a report. A repeated mark is only acknowledged."""
    history = find_history(state, command.recommendation_id, command.site)
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    stamp, number = context.stamp(state), history.recommendation_index
    if history.in_error:
        return [Change(Repeated(**stamp, recommendation_index=number))]
    # If reported patients could be removed, outcomes could decide who is analysed.
    parts = {"actual": history.actual, "reward": history.reward}
    if reported := [name for name, part in parts.items() if part is not None and not part.imputed]:
        named, said = history.recommendation_id, " and ".join(reported)
        sentence = (
            f"{said} of recommendation {named} {'was' if len(reported) == 1 else 'were'} reported, so it cannot be "
            "marked as entered in error; retract what was reported first, by a correction with its reason"
        )
        raise ConflictError("recommendation", named, "a recommendation without reports", sentence)
    return [Change(EnteredInError(**stamp, recommendation_index=number, reason=reason))]
