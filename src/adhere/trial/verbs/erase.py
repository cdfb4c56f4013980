"""Erase a subject's identity: the pseudonym and free text are deleted, the log keeps a key without meaning."""

from adhere.errors import UnknownError
from adhere.trial.domain.commands import Erase
from adhere.trial.domain.events import Erased
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context


def decide(state: TrialState, command: Erase, context: Context) -> list[Change]:
    """An erasure of a known subject."""
    if context.subject is None:
        raise UnknownError("subject", command.subject, "a subject of this trial that was not erased")
    return [Change(Erased(**context.stamp(state), subject=context.subject.key), context.subject)]
