"""Apply the trial's rule for missing reports to each recommendation that is old enough, once."""

from datetime import datetime, timedelta

from adhere.design.arms import arm_taken
from adhere.trial.domain.commands import ImputeMissing
from adhere.trial.domain.events import Imputed
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context

BATCH = 64  # recommendations per transaction, for which other writers wait


def decide(state: TrialState, command: ImputeMissing, context: Context) -> list[Change]:
    """Impute values for the next recommendations that are due."""
    rule = state.design.impute
    assert rule is not None
    taken = arm_taken(state.design.arms, rule.actual, rule.took_nothing)
    changes: list[Change] = []
    for number in due(state, context.at):
        history = state.histories[number]
        actual = taken if history.actual is None else None
        reward = rule.reward if history.reward is None else None
        if history.may_be_imputed and (actual is not None or reward is not None):
            stamp = context.stamp(state) | {"position": state.position + 1 + len(changes)}
            changes.append(Change(Imputed(**stamp, recommendation_index=number, actual=actual, reward=reward)))
    return changes


def next_batch(state: TrialState) -> range:
    """Return the next recommendations to examine."""
    return range(state.n_examined, min(state.n_examined + BATCH, state.n_recommendations))


def due(state: TrialState, now: datetime) -> range:
    """Return the consecutive recommendations at the start of the next batch that are old enough."""
    rule, batch = state.design.impute, next_batch(state)
    if rule is None or state.status == "closed":
        return batch[:0]
    for number in batch:
        if state.histories[number].at + timedelta(days=rule.after_days) > now:
            return range(batch.start, number)
    return batch
