"""The commands that a live trial accepts, and the responses to them."""

from datetime import datetime
from typing import ClassVar, Final, TypeAlias

import msgspec


class Command(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The fields of every command.

    These are its trial, its request ID, its sender, and the site it acts for (None means any site).
    """

    trial: str
    request_id: str
    by: str = ""
    site: str | None = None

    # Fields that must never appear in the log, which cannot be erased: not even as an unsalted digest.
    private: ClassVar[tuple[str, ...]] = ()


class Recommend(Command, frozen=True, kw_only=True):
    """Recommend an arm for a subject. The subject's stratum is required if the design has strata."""

    private: ClassVar[tuple[str, ...]] = ("subject", "sites", "refuse_alike")
    subject: str
    stratum: str | None = None
    sites: tuple[str, ...] = ()  # with tokens for this trial only; if any, a subject needs a site
    again: bool | None = None  # True confirms that the subject was entered before; asked only if the design says so
    refuse_alike: bool = False  # refuse a new code that resembles another one of the site


class AboutRecommendation(Command, frozen=True, kw_only=True):
    """The fields of every command about a recommendation. If a subject is named, the recommendation must be
    theirs.
    """

    private: ClassVar[tuple[str, ...]] = ("subject",)
    recommendation_id: str
    subject: str | None = None


class Report(AboutRecommendation, frozen=True, kw_only=True):
    """Report the treatment taken, the reward, or both.

    The treatment is an arm (a kit in a blinded trial), nothing, or something else.
    """

    private: ClassVar[tuple[str, ...]] = ("took_other", "subject")
    actual: str | None = None
    took_nothing: bool = False
    took_other: str | None = None
    reward: float | None = None
    happened: datetime | None = None


class Correct(AboutRecommendation, frozen=True, kw_only=True):
    """Replace reported values. Values listed in `retract` ("actual", "reward", "withdrawal") count as never
    reported.
    """

    private: ClassVar[tuple[str, ...]] = ("took_other", "subject")
    reason: str
    actual: str | None = None
    took_nothing: bool = False
    took_other: str | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()


class Withdraw(AboutRecommendation, frozen=True, kw_only=True):
    """Mark a recommendation as lost to follow-up: no further reports are accepted."""

    reason: str


class MarkInError(AboutRecommendation, frozen=True, kw_only=True):
    """Mark a recommendation as entered in error: it was not meant for any patient."""

    reason: str


class ChangeStatus(Command, frozen=True, kw_only=True):
    """Pause a trial ("paused"), resume it ("open") or close it for good ("closed")."""

    status: str
    reason: str


class Unblind(Command, frozen=True, kw_only=True):
    """Disclose the arm in a kit.

    A site may unblind its own kits, and a kit that the subject of its recommendation was reported to have taken.
    """

    kit: str
    reason: str
    recommendation_id: str | None = None


class Erase(Command, frozen=True, kw_only=True):
    """Erase a subject's identity."""

    private: ClassVar[tuple[str, ...]] = ("subject",)
    subject: str


class ImputeMissing(Command, frozen=True, kw_only=True):
    """Apply the trial's rule for missing reports to the next recommendations that are old enough.

    The response contains the index to continue from, or None if no more are due.
    """


class Reveal(Command, frozen=True, kw_only=True):
    """Reveal the secrets that drew the arms of a closed trial, so that anybody can draw them again."""

    reason: str


class Look(Command, frozen=True, kw_only=True):
    """Make the looks that are scheduled by day and due now. A look scheduled by number of outcomes is made together
    with the report that reaches this number.
    """


AnyCommand: TypeAlias = (
    Recommend
    | Report
    | Correct
    | Withdraw
    | MarkInError
    | ChangeStatus
    | Unblind
    | Erase
    | Reveal
    | ImputeMissing
    | Look
)


# Groups of commands. They are tuples because `isinstance` would build a union type again for each command.
NEED_POLICY: Final = (Recommend, Report, Correct, MarkInError, ImputeMissing, Look)  # the compiled policy
ACCEPTED_WHEN_CLOSED: Final = (Unblind, Erase, ImputeMissing, Reveal)
NAME_SUBJECT: Final = (Recommend, Erase)  # by a pseudonym
# Commands that take no longer than a commit. Some of them may replace a value that the rule for missing reports has
# assumed; then the policy learns again, which takes longer.
QUICK: Final = (Recommend, Report, Withdraw, MarkInError, ChangeStatus)
REPLACE_IMPUTED: Final = (Report, MarkInError)


class RecommendationResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recommendation: its ID, and the arm or, in a blinded trial, the kit.

    If the subject was already entered for another stratum, the response has the time and stratum of that entry.
    """

    recommendation_id: str
    arm: str | None = None
    kit: str | None = None
    entered_at: datetime | None = None
    stratum: str | None = None


class Receipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The time at which a command was recorded, and the recommendation it was about.

    A site is not told the position in the log: a gap between positions would disclose that something else was
    recorded.
    """

    at: datetime
    record: int | None = None
    recommendation_id: str | None = None


class Examined(msgspec.Struct, frozen=True):
    """The progress of the rule for missing reports: the index to continue from, or None if no more are due."""

    next_index: int | None = None


class UnblindingResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The arm in a kit, and the time at which its disclosure was recorded.

    `repeated` is true if the same request ID was answered before.
    """

    recommendation_id: str
    arm: str
    kit: str
    at: datetime
    repeated: bool = False


Response: TypeAlias = RecommendationResponse | UnblindingResponse | Receipt | Examined
