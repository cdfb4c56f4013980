"""Erase a subject's identity: delete the pseudonym and free text. The log keeps only a meaningless key."""

from adhere.errors import UnknownError
from adhere.trial.domain.commands import Erase
from adhere.trial.domain.events import Erased
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context


def decide(state: TrialState, command: Erase, context: Context) -> list[Change]:
    """Erase a known subject."""
    if context.subject is None:
        raise UnknownError("subject", command.subject, "a subject of this trial that was not erased")
    return [Change(Erased(**context.stamp(state), subject=context.subject.key), context.subject)]
