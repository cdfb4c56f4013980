"""Reveal the secrets of a closed trial. Anybody who has its log can then draw its arms and kits again."""

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import ConflictError
from adhere.trial.domain.commands import Reveal
from adhere.trial.domain.events import Revealed
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context


def decide(state: TrialState, command: Reveal, context: Context) -> list[Change]:
    """Reveal all secrets once, after the trial is closed."""
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    name = state.design.name
    if state.status != "closed":
        sentence = f"trial {name!r} is not closed: its secret would disclose future arms. Close it first"
        raise ConflictError("trial", name, "a trial that is closed", sentence)
    if state.is_revealed:
        sentence = f"the secret of trial {name!r} was already revealed; it is in the log"
        raise ConflictError("trial", name, "a trial whose secret is not revealed yet", sentence)
    secrets = tuple(_secret(state, commitment) for commitment in state.commitments)
    return [Change(Revealed(**context.stamp(state), secrets=secrets, reason=reason))]


def _secret(state: TrialState, commitment: str) -> str:
    """Return a secret in hexadecimal digits. Return an empty text for an epoch with a seed, which is in the log."""
    if not commitment:
        return ""
    secret = state.engine.keys.secret(commitment)
    if secret is None:
        name = state.design.name
        sentence = f"a secret of trial {name!r} is not stored here (commitment {commitment}); nothing was revealed"
        raise ConflictError("trial", name, "a trial with all its secrets stored here", sentence)
    return secret.hex()
