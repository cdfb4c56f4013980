"""One recommendation and all that was heard of it since; and what a policy learns from that, and where in the log.

Each part of a report, the actual arm and the reward, stands at a *place*: the position of the record that first
brought it. A correction changes the value and leaves the place, so that the policy learns as if the right value had
been reported then. An imputed value has a place as a reported one has, and so has the truth that replaces it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

TOOK_NOTHING: Final = -1  # none of the arms
TOOK_OTHER: Final = -2  # something that is no arm


class Part(NamedTuple):
    """The actual arm, or the reward: its value, its place, and whether it was only imputed.

    Where a kit was named instead of an arm, `kit` is the number of its recommendation.
    """

    value: float
    place: int
    imputed: bool = False
    kit: int | None = None


class Lesson(NamedTuple):
    """What a policy learns at a place (see `policies.generic` for `feedback`)."""

    place: int
    feedback: int
    reward: float


class Case(msgspec.Struct, frozen=True):
    """One recommendation and what is known of it."""

    decision: int
    position: int
    chosen: int
    memo: tuple[float, ...] = ()
    learns: bool = True  # no policy learns from a fallback, which it did not choose
    actual: Part | None = None
    reward: Part | None = None
    withdrawn: bool = False
    was_imputed: bool = False
    was_retracted: bool = False

    @property
    def may_be_imputed(self) -> bool:
        """Whether the rule for missing reports may speak: once, and not where somebody took a report back."""
        return self.is_open and not self.was_imputed and not self.was_retracted

    @property
    def is_open(self) -> bool:
        """Whether something is still to be heard; what was only imputed was not."""
        heard = all(part is not None and not part.imputed for part in (self.actual, self.reward))
        return not self.withdrawn and not heard

    def reported(
        self,
        position: int,
        actual: int | None,
        reward: float | None,
        *,
        imputed: bool = False,
        kit: int | None = None,
    ) -> Case:
        """The case after a report: a missing part is filled, an imputed one replaced at its place."""
        return replace(
            self,
            actual=_heard(self.actual, position, actual, imputed, kit),
            reward=_heard(self.reward, position, reward, imputed),
            was_imputed=self.was_imputed or imputed,
        )

    def corrected(
        self,
        position: int,
        actual: int | None,
        reward: float | None,
        retract: tuple[str, ...] = (),
        *,
        kit: int | None = None,
    ) -> Case:
        """The case after a correction: new values at the old places; what is retracted was never reported."""
        return replace(
            self,
            actual=None if "actual" in retract else _corrected(self.actual, position, actual, kit),
            reward=None if "reward" in retract else _corrected(self.reward, position, reward),
            was_retracted=self.was_retracted or bool(retract),
        )

    def lessons(self, n_arms: int) -> tuple[Lesson, ...]:
        """What a policy learns, in order: at most one lesson from the reward and one from an actual arm that is late.

        >>> Case(0, 1, 1, actual=Part(0, 3), reward=Part(1.0, 2)).lessons(2)
        (Lesson(place=2, feedback=2, reward=1.0), Lesson(place=3, feedback=3, reward=1.0))
        """
        if self.reward is None or not self.learns:
            return ()
        reward, place = self.reward.value, self.reward.place
        arm = -1 if self.actual is None else int(self.actual.value)
        if self.actual is None or arm < 0:  # whoever needs an arm waits, for good if none of ours was taken
            return (Lesson(place, n_arms, reward),)
        if self.actual.place <= place:
            return (Lesson(place, arm, reward),)
        return (Lesson(place, n_arms, reward), Lesson(self.actual.place, n_arms + 1 + arm, reward))


def first_difference(before: tuple[Lesson, ...], after: tuple[Lesson, ...]) -> int | None:
    """The first place where two lists of lessons differ."""
    places = {lesson.place for lesson in set(before) ^ set(after)}
    return min(places) if places else None


def _heard(
    part: Part | None, position: int, value: float | None, imputed: bool, kit: int | None = None
) -> Part | None:
    if value is None:
        return part
    if part is None:
        return Part(value, position, imputed, kit)
    return Part(value, part.place, kit=kit) if part.imputed and not imputed else part


def _corrected(part: Part | None, position: int, value: float | None, kit: int | None = None) -> Part | None:
    if value is None:
        return part
    return Part(value, position if part is None else part.place, kit=kit)
