"""One recommendation, everything reported about it, and the updates that a policy learns from the reports.

Each part of a report (the actual arm and the reward) has a *place*: the position of the record that first reported
it. A correction changes the value but not the place, so the policy learns as if the right value had been reported
then. An imputed value has a place too, and the reported value that replaces it takes over that place.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from adhere.design.arms import MAX_ARMS
from adhere.trial.domain.events import (
    AnyEvent,
    Corrected,
    EnteredInError,
    Imputed,
    Recommended,
    Reported,
    UpdateRefused,
    Withdrawn,
)
from adhere.trial.policy.updates import Row


class Part(NamedTuple):
    """The actual arm or the reward: its value, its place, and whether it was imputed.

    If a kit was named instead of an arm, `kit` is the index of its recommendation. If something else was taken,
    `text_at` is the position of the record with the description.
    """

    value: float
    place: int
    imputed: bool = False
    kit: int | None = None
    text_at: int | None = None


class Refused(NamedTuple):
    """An update that the policy refused: its place, feedback and reward. A refused choice has neither feedback nor
    reward.

    The feedback is coded as for a policy that sees both arms, with MAX_ARMS arms.
    """

    place: int
    feedback: int | None = None
    reward: float | None = None


class History(msgspec.Struct, frozen=True, gc=False):
    """One recommendation and what was reported about it."""

    recommendation_index: int
    recommendation_id: str
    position: int
    at: datetime
    site: str
    chosen: int
    memo: tuple[float, ...] = ()
    fallback: str = ""
    actual: Part | None = None
    reward: Part | None = None
    withdrawn: bool = False
    was_imputed: bool = False
    was_retracted: bool = False
    refused: tuple[Refused, ...] = ()
    in_error: bool = False
    epoch: str = ""
    subject: str = ""  # the subject's key
    stratum: int | None = None
    earlier: int | None = None  # the subject's previous recommendation, if the design needs to know it

    @property
    def is_open(self) -> bool:
        """Return whether a report is still expected. An imputed value may still be replaced by a reported one."""
        actual, reward = self.actual, self.reward
        complete = actual is not None and reward is not None and not actual.imputed and not reward.imputed
        return not self.withdrawn and not self.in_error and not complete

    @property
    def may_be_imputed(self) -> bool:
        """Return whether the rule for missing reports applies. It applies once, and never after a retraction."""
        return self.is_open and not self.was_imputed and not self.was_retracted

    def updates(
        self, n_arms: int, sees_both_arms: bool = False, benefit: Callable[[float], float] = float
    ) -> tuple[Row, ...]:
        """Return the updates of a policy: at most one from the reward and one from an actual arm that comes later.

        A policy that sees both arms also learns when none of the arms was taken. An update that the policy refused is
        omitted until its content changes. `benefit` converts a reward to the value that is learned.

        >>> from datetime import datetime
        >>> history = History(0, "", 1, datetime(2026, 1, 1), "", chosen=1, actual=Part(0, 3), reward=Part(1.0, 2))
        >>> history.updates(2)
        ((2, 0, 1, 2, 1.0, ()), (3, 0, 1, 3, 1.0, ()))
        """
        rows = self._reported_updates(n_arms, sees_both_arms, benefit)
        if not self.refused:
            return rows
        said = (_said(row) for row in self._reported_updates(MAX_ARMS, sees_both_arms))
        refused = self.refused if sees_both_arms else [_without_taken(one) for one in self.refused]
        return tuple(row for row, says in zip(rows, said, strict=True) if says not in refused)

    def refuses_choice(self) -> bool:
        """Return whether the policy failed when it repeated the choice itself."""
        return Refused(self.position) in self.refused

    def _reported_updates(
        self, n_arms: int, sees_both_arms: bool, benefit: Callable[[float], float] = float
    ) -> tuple[Row, ...]:
        if self.reward is None or self.fallback:  # a policy does not learn from a fallback, which it did not choose
            return ()
        reward, place = benefit(self.reward.value), self.reward.place
        arm = -1 if self.actual is None else int(self.actual.value)
        if self.actual is None or (arm < 0 and not sees_both_arms):
            # Learners that need an arm wait for it. They wait forever if no arm of the trial was taken.
            return (self._update(place, n_arms, reward),)
        if self.actual.place <= place:
            return (self._update(place, arm if arm >= 0 else arm - 1, reward),)
        later = n_arms + 1 + arm if arm >= 0 else 2 * n_arms - arm
        return (self._update(place, n_arms, reward), self._update(self.actual.place, later, reward))

    def _update(self, place: int, feedback: int, reward: float) -> Row:
        return (place, self.recommendation_index, self.chosen, feedback, reward, self.memo)


def evolve_history(history: History | None, event: AnyEvent) -> History:
    """Return the history of a recommendation after one more event about it."""
    if history is None:
        assert isinstance(event, Recommended)
        return History(
            event.recommendation_index,
            event.recommendation_id,
            event.position,
            event.at,
            event.site,
            event.chosen,
            event.memo,
            event.fallback,
            epoch=event.epoch,
            subject=event.subject,
            stratum=event.stratum,
            earlier=event.earlier,
        )
    if isinstance(event, Reported):
        return replace(
            history,
            actual=_reported(history.actual, event.position, event.actual, event.kit, _text_at(event)),
            reward=_reported(history.reward, event.position, event.reward),
        )
    if isinstance(event, Imputed):
        return replace(
            history,
            actual=_imputed(history.actual, event.position, event.actual),
            reward=_imputed(history.reward, event.position, event.reward),
            was_imputed=True,
        )
    if isinstance(event, Corrected):
        return replace(
            history,
            actual=_corrected(history.actual, event, event.actual, "actual"),
            reward=_corrected(history.reward, event, event.reward, "reward"),
            withdrawn=history.withdrawn and "withdrawal" not in event.retract,
            was_retracted=history.was_retracted or bool(event.retract),
        )
    if isinstance(event, UpdateRefused):
        return replace(history, refused=(*history.refused, _refused(history, event.place)))
    if isinstance(event, EnteredInError):  # nobody is lost to follow-up, and no value is imputed
        return replace(history, in_error=True, withdrawn=False, actual=None, reward=None)
    return replace(history, withdrawn=True) if isinstance(event, Withdrawn) else history


def history_of(events: Iterable[AnyEvent]) -> History:
    """Return the history of a recommendation from all events about it, in order."""
    history: History | None = None
    for event in events:
        history = evolve_history(history, event)
    assert history is not None
    return history


def _refused(history: History, place: int) -> Refused:
    """Return the current content of the update at a place, to record that the policy refused it."""
    rows = history._reported_updates(MAX_ARMS, sees_both_arms=True)
    return next((_said(row) for row in rows if row[0] == place), Refused(place))


def _said(row: Row) -> Refused:
    return Refused(row[0], row[3], row[4])


def _without_taken(refused: Refused) -> Refused:
    """Return a refused update as it appears to a policy that is not told when no arm of the trial was taken."""
    is_taken = refused.feedback is None or refused.feedback >= 0
    return refused if is_taken else refused._replace(feedback=MAX_ARMS)


def _imputed(part: Part | None, position: int, value: float | None) -> Part | None:
    return part if part is not None or value is None else Part(value, position, imputed=True)


def is_new(part: Part | None, value: float | None) -> bool:
    """Return whether a report adds a value: to a missing part, or in place of an imputed value."""
    return value is not None and (part is None or part.imputed)


def _reported(
    part: Part | None, position: int, value: float | None, kit: int | None = None, text_at: int | None = None
) -> Part | None:
    """Fill a missing part, or replace an imputed value at its place."""
    if value is None or not is_new(part, value):
        return part
    return Part(value, position if part is None else part.place, kit=kit, text_at=text_at)


def _text_at(event: Reported | Corrected) -> int | None:
    return event.position if event.text else None


def _corrected(part: Part | None, event: Corrected, value: float | None, name: str) -> Part | None:
    """Replace a value at its old place, or remove it if it was retracted."""
    if name in event.retract:
        return None
    if value is None:
        return part
    place = event.position if part is None else part.place
    return Part(value, place, kit=event.kit, text_at=_text_at(event)) if name == "actual" else Part(value, place)


class Counts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Counts of recommendations: reports pending, treatment known, recommendation followed, entered in error."""

    pending: int = 0
    known: int = 0
    followed: int = 0
    in_error: int = 0

    @property
    def compliance(self) -> float | None:
        """Return the share of subjects who took the recommended arm, among those with a known treatment."""
        return self.followed / self.known if self.known else None


def evolve_counts(counts: Counts, before: History | None, after: History) -> Counts:
    """Return the counts after an event about a recommendation."""
    pending = after.is_open - (before is not None and before.is_open)
    taken, was_taken = after.actual, None if before is None else before.actual
    in_error = after.in_error - (before is not None and before.in_error)
    if taken is was_taken and not pending and not in_error:
        return counts
    known = (taken is not None) - (was_taken is not None)
    followed = (taken is not None and taken.value == after.chosen) - (
        was_taken is not None and was_taken.value == after.chosen
    )
    return Counts(
        counts.pending + pending, counts.known + known, counts.followed + followed, counts.in_error + in_error
    )
