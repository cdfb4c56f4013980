"""Correct or retract a report or a withdrawal. The policy learns as if the right values had been reported first."""

from adhere.checks import MAX_TEXT_LENGTH, check_text
from adhere.errors import ConflictError, InputError
from adhere.trial.domain.commands import Correct
from adhere.trial.domain.events import Corrected
from adhere.trial.domain.history import evolve_history
from adhere.trial.domain.state import TrialState
from adhere.trial.verbs.context import Change, Context, check_not_in_error, find_history
from adhere.trial.verbs.entries import check_may_reopen
from adhere.trial.verbs.report import reported_arm

_PARTS = ("actual", "reward", "withdrawal")


def decide(state: TrialState, command: Correct, context: Context) -> list[Change]:
    """Correct a report. If a withdrawal is retracted, the recommendation awaits reports again."""
    history = find_history(state, command.recommendation_id, command.site)
    check_not_in_error(history)
    reason = check_text("reason", command.reason, MAX_TEXT_LENGTH)
    taken, kit = reported_arm(state, command, context.kits)
    reward = None if command.reward is None else state.engine.check_reward(command.reward)
    for part in command.retract:
        if part not in _PARTS:
            raise InputError("retract", part, "actual, reward or withdrawal")
    retract = tuple(part for part in _PARTS if part in command.retract)
    if taken is None and reward is None and not retract:
        expected = "what was taken, a reward, or what to retract"
        raise InputError("correction", None, expected, f"the correction is empty; expected {expected}")
    if "withdrawal" in retract and not history.withdrawn:
        sentence = f"retract: recommendation {history.recommendation_id} is not marked as lost to follow-up"
        raise ConflictError("retract", "withdrawal", "a recommendation that is marked as lost to follow-up", sentence)
    stays_withdrawn = history.withdrawn and "withdrawal" not in retract
    for part, value in (("actual", taken), ("reward", reward)):
        reported = getattr(history, part) is not None
        if part in retract and value is not None:
            sentence = f"{part} is both corrected and retracted; choose one"
            raise InputError("retract", part, f"a new {part}, or {part} to be retracted, not both", sentence)
        if part in retract and not reported:
            raise ConflictError(
                "retract", part, "something that was reported", f"retract: {part} was not reported yet"
            )
        if stays_withdrawn and value is not None and not reported:
            expected = "a correction of what was reported before the withdrawal"
            sentence = f"no {part} was reported before the withdrawal, so there is none to correct"
            raise ConflictError(part, "a new one", expected, sentence)
    digest, note = context.note_for(history.recommendation_index, command.took_other)
    event = Corrected(
        **context.stamp(state),
        recommendation_index=history.recommendation_index,
        actual=taken,
        reward=reward,
        retract=retract,
        reason=reason,
        text=digest,
        kit=kit,
    )
    check_may_reopen(state, history, evolve_history(history, event), context.latest)
    return [Change(event, note=note)]
