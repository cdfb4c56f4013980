"""The decisions on commands, one file each. `decide(state, command, context)` is pure and returns the resulting
events.
"""

from collections.abc import Callable
from typing import Any

from adhere.trial.domain import commands
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs import (
    change_status,
    correct,
    erase,
    impute_missing,
    mark_in_error,
    recommend,
    report,
    reveal,
    unblind,
    withdraw,
)
from adhere.trial.verbs.context import Change, Context

DECIDE: dict[type[commands.Command], Callable[[TrialState, Any, Context], list[Change]]] = {
    commands.Recommend: recommend.decide,
    commands.Report: report.decide,
    commands.Correct: correct.decide,
    commands.Withdraw: withdraw.decide,
    commands.MarkInError: mark_in_error.decide,
    commands.ChangeStatus: change_status.decide,
    commands.Reveal: reveal.decide,
    commands.Unblind: unblind.decide,
    commands.Erase: erase.decide,
    commands.ImputeMissing: impute_missing.decide,
}
