"""Reveal the secrets of a closed trial, after which anybody who has its log can draw its arms and kits again."""

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import ConflictError
from adhere.trial.domain.commands import Reveal
from adhere.trial.domain.events import Revealed
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context


def decide(state: TrialState, command: Reveal, context: Context) -> list[Change]:
    """A reveal of all secrets, once, and not before the trial is closed."""
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    name = state.design.name
    if state.status != "closed":
        sentence = f"trial {name!r} is not closed: its secret would tell the arms to come. Close it first"
        raise ConflictError("trial", name, "a trial that is closed", sentence)
    if state.is_revealed:
        sentence = f"the secret of trial {name!r} was revealed before; it is in its log"
        raise ConflictError("trial", name, "a trial whose secret is not revealed yet", sentence)
    secrets = tuple(_secret(state, commitment) for commitment in state.commitments)
    return [Change(Revealed(**context.stamp(state), secrets=secrets, reason=reason))]


def _secret(state: TrialState, commitment: str) -> str:
    """Return a secret in hexadecimal digits, or nothing for an epoch with a seed, which is in the log."""
    if not commitment:
        return ""
    secret = state.engine.keys.secret(commitment)
    if secret is None:
        name = state.design.name
        sentence = f"a secret of trial {name!r} is not kept here (commitment {commitment}); nothing was revealed"
        raise ConflictError("trial", name, "a trial all of whose secrets are kept here", sentence)
    return secret.hex()
