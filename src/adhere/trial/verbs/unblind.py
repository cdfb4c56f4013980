"""Disclose the arm in a kit, and record the disclosure."""

from contextlib import suppress

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import InputError, UnknownError
from adhere.trial.domain.commands import Unblind
from adhere.trial.domain.events import Unblinded
from adhere.trial.domain.state import TrialState
from adhere.trial.secret.kits import Kits
from adhere.trial.verbs.context import Change, Context, find_kit, named_history


def decide(state: TrialState, command: Unblind, context: Context) -> list[Change]:
    """Disclose an arm, with a reason."""
    kit = check_text("kit", command.kit)
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    if command.site is None:
        index = find_kit(state, context.kits, kit)
    else:
        index = _own_kit(state, kit, command.site, command.recommendation_id, context.kits)
    return [Change(Unblinded(**context.stamp(state), recommendation_index=index, reason=reason))]


def _own_kit(state: TrialState, kit: str, site: str, taken_by: str | None, kits: Kits) -> int:
    """Return the index of a kit that a site received or that its subject took. Other kits are reported as unknown."""
    kits.check_usable()
    index: int | None = None
    with suppress(InputError):
        index = find_kit(state, kits, kit)
    taker = None if taken_by is None else named_history(state, taken_by)
    if index is not None:
        is_taken = taker is not None and taker.actual is not None and taker.actual.kit == index
        if state.histories[index].site == site or (taker is not None and taker.site == site and is_taken):
            return index
    expected = "the code of a kit that this site was given, or that the subject of the recommendation has taken"
    raise UnknownError("kit", kit, expected)
