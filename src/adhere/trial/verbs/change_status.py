"""Pause, resume or close a trial."""

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import InputError
from adhere.trial.domain.commands import ChangeStatus
from adhere.trial.domain.events import Closed, Paused, Resumed
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context

_EVENTS: dict[str, type[Paused | Resumed | Closed]] = {"paused": Paused, "open": Resumed, "closed": Closed}


def decide(state: TrialState, command: ChangeStatus, context: Context) -> list[Change]:
    """Change the trial's status. A repeated status only records another reason."""
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    if command.status not in _EVENTS:
        raise InputError("status", command.status, f"one of {', '.join(_EVENTS)}")
    return [Change(_EVENTS[command.status](**context.stamp(state), reason=reason))]
