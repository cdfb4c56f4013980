"""Disclose the arm in a kit, and record that it was disclosed."""

from __future__ import annotations

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.trial.commands import Unblind
from adhere.trial.events import Unblinded
from adhere.trial.state import TrialState
from adhere.trial.verbs.context import Change, Context


def decide(state: TrialState, command: Unblind, context: Context) -> list[Change]:
    """A disclosure, with its reason."""
    number = context.kits.recommendation_id(check_text("kit", command.kit), state.n_recommendations)
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    return [Change(Unblinded(**context.stamp(state), recommendation_id=number, reason=reason))]
