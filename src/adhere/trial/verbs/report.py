"""Report the treatment taken, the reward, or both. A repeated report is only acknowledged."""

from datetime import datetime, timedelta

from adhere.checks import check_text
from adhere.design.arms import arm_taken, describe_taken
from adhere.errors import ConflictError, InputError
from adhere.trial.domain.commands import Correct, Report
from adhere.trial.domain.events import Repeated, Reported
from adhere.trial.domain.history import History, is_new
from adhere.trial.domain.state import TrialState
from adhere.trial.secret.kits import Kits
from adhere.trial.verbs.context import Change, Context, check_not_in_error, find_history, find_kit

CLOCK_SKEW = timedelta(minutes=5)
_CORRECT = "to change it, send a correction"


def decide(state: TrialState, command: Report, context: Context) -> list[Change]:
    """Record a report unless it contradicts an earlier one."""
    history = find_history(state, command.recommendation_id, command.site)
    check_not_in_error(history)
    taken, kit = reported_arm(state, command, context.kits)
    reward = None if command.reward is None else state.engine.check_reward(command.reward)
    if taken is None and reward is None:
        expected = "what was taken (actual, took_nothing or took_other), a reward, or both"
        raise InputError("report", None, expected, f"the report is empty; expected {expected}")
    if history.withdrawn:
        named = command.recommendation_id
        sentence = f"recommendation {named} is marked as lost to follow-up; retract that first, by a correction"
        raise ConflictError("recommendation", named, "a recommendation that is not lost to follow-up", sentence)
    _check_consistent(state, history, command.site, taken, kit, reward)
    _check_same_text(history, command.took_other, context)
    _check_time(history, command.happened, context.at)
    stamp, number = context.stamp(state), history.recommendation_index
    if not (is_new(history.actual, taken) or is_new(history.reward, reward)):
        return [Change(Repeated(**stamp, recommendation_index=number))]
    digest, note = context.note_for(number, command.took_other)
    event = Reported(
        **stamp,
        recommendation_index=number,
        actual=taken,
        reward=reward,
        happened=command.happened,
        text=digest,
        kit=kit,
    )
    return [Change(event, note=note)]


def reported_arm(state: TrialState, command: Report | Correct, kits: Kits) -> tuple[int | None, int | None]:
    """Return the arm taken and the recommendation of its kit.

    A site of a blinded trial names a kit, because it does not know the arms.
    """
    design = state.design
    if design.blinded and command.site is not None and command.actual is not None:
        arm_taken([command.actual], command.actual, command.took_nothing, command.took_other)
        kit = find_kit(state, kits, check_text("actual", command.actual))
        return state.histories[kit].chosen, kit
    return arm_taken(design.arms, command.actual, command.took_nothing, command.took_other), None


def _check_consistent(
    state: TrialState, history: History, site: str | None, taken: int | None, kit: int | None, reward: float | None
) -> None:
    """Refuse a report that contradicts an earlier one. An imputed value may be replaced."""
    arms, known = state.design.arms, history.actual
    if taken is not None and known is not None and not known.imputed:
        # A different kit with the same arm gets the same answer as one with another arm. Otherwise a site could find
        # out which kits contain the same arm.
        if state.design.blinded and site is not None and (kit, taken) != (known.kit, known.value):
            sentence = f"actual: conflicts with an earlier report; {_CORRECT}"
            raise ConflictError("actual", "another", "what was reported before, or a correction", sentence)
        if taken != known.value:
            before = describe_taken(arms, int(known.value))
            raise _contradiction(history, "actual", describe_taken(arms, taken), before)
    known = history.reward
    if reward is not None and known is not None and not known.imputed and reward != known.value:
        raise _contradiction(history, "reward", _exact(reward), _exact(known.value))


def _exact(reward: float) -> str:
    """Return a reward with all its digits: 0.1 + 0.2 is not 0.3."""
    return repr(reward).removesuffix(".0")


def _contradiction(history: History, field: str, now: str, before: str) -> ConflictError:
    number = history.recommendation_id
    sentence = f"{field}: conflicts with an earlier report for recommendation {number}: got {now}, before {before}"
    expected = f"{before}, as reported before for recommendation {number}"
    return ConflictError(field, now, expected, f"{sentence}; {_CORRECT}")


def _check_same_text(history: History, text: str | None, context: Context) -> None:
    known = history.actual
    if text is None or known is None or known.imputed or context.is_erased(history.recommendation_index):
        return  # nothing is stored about an erased person that could be compared
    if known.text_at is None or context.text_of(known.text_at) != text:
        sentence = f"took_other: conflicts with an earlier report: got other words; {_CORRECT}"
        raise ConflictError("took_other", text, "the words reported before", sentence)


def _check_time(history: History, happened: datetime | None, now: datetime) -> None:
    if happened is None:
        return
    if happened.tzinfo is None:
        raise InputError("happened", happened.isoformat(), "a time with its zone, e.g. 2026-03-01T09:30:00Z")
    if happened > now + CLOCK_SKEW:
        raise InputError("happened", happened.isoformat(), f"no time after now ({now.isoformat()})")
    if happened < history.at - CLOCK_SKEW:
        expected = f"no time before the recommendation ({history.at.isoformat()})"
        raise InputError("happened", happened.isoformat(), expected)
