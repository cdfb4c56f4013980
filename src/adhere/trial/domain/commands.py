"""The commands a live trial accepts, and its responses."""

from datetime import datetime
from typing import ClassVar, Final, TypeAlias

import msgspec


class Command(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The fields of every command: its trial, its request id, who sends it, and the site it acts for (None: any)."""

    trial: str
    request_id: str
    by: str = ""
    site: str | None = None

    # What must not stand in a log that cannot be erased, not even as a plain digest.
    private: ClassVar[tuple[str, ...]] = ()


class Recommend(Command, frozen=True, kw_only=True):
    """Recommend an arm for a subject, of a stratum if the design has strata."""

    private: ClassVar[tuple[str, ...]] = ("subject", "sites", "refuse_alike")
    subject: str
    stratum: str | None = None
    sites: tuple[str, ...] = ()  # whose tokens are for this trial only: then nobody is entered for no site
    again: bool | None = None  # True: the subject was entered before, knowingly, where the design asks
    refuse_alike: bool = False  # whether a new subject is refused whose code looks like another of the site


class AboutRecommendation(Command, frozen=True, kw_only=True):
    """The fields of every command about a recommendation; that it is the subject's, if one is named, is checked."""

    private: ClassVar[tuple[str, ...]] = ("subject",)
    recommendation_id: str
    subject: str | None = None


class Report(AboutRecommendation, frozen=True, kw_only=True):
    """Report what was taken (an arm or, in a blinded trial, a kit; nothing; something else), the reward, or both."""

    private: ClassVar[tuple[str, ...]] = ("took_other", "subject")
    actual: str | None = None
    took_nothing: bool = False
    took_other: str | None = None
    reward: float | None = None
    happened: datetime | None = None


class Correct(AboutRecommendation, frozen=True, kw_only=True):
    """Replace reported values; what `retract` lists ("actual", "reward", "withdrawal") counts as never reported."""

    private: ClassVar[tuple[str, ...]] = ("took_other", "subject")
    reason: str
    actual: str | None = None
    took_nothing: bool = False
    took_other: str | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()


class Withdraw(AboutRecommendation, frozen=True, kw_only=True):
    """Mark a recommendation as lost to follow-up."""

    reason: str


class MarkInError(AboutRecommendation, frozen=True, kw_only=True):
    """Mark a recommendation as entered in error: nobody was to be treated by it."""

    reason: str


class ChangeStatus(Command, frozen=True, kw_only=True):
    """Pause a trial ("paused"), resume it ("open") or close it for good ("closed")."""

    status: str
    reason: str


class Unblind(Command, frozen=True, kw_only=True):
    """Disclose the arm in a kit; a site's own, or one that the subject of its recommendation was reported to take."""

    kit: str
    reason: str
    recommendation_id: str | None = None


class Erase(Command, frozen=True, kw_only=True):
    """Erase a subject's identity."""

    private: ClassVar[tuple[str, ...]] = ("subject",)
    subject: str


class ImputeMissing(Command, frozen=True, kw_only=True):
    """Apply the trial's rule for missing reports to the next recommendations that are old enough.

    The response has the index of the recommendation to go on with; None if no more are due.
    """


class Reveal(Command, frozen=True, kw_only=True):
    """Reveal the secrets by which a closed trial drew its arms, so that anybody can draw them again."""

    reason: str


class Look(Command, frozen=True, kw_only=True):
    """Make the looks that are due by day; looks by number are made with the report that makes them due."""


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


# What holds for some kinds of commands. As tuples: `isinstance` would make a union type anew at each command.
NEED_POLICY: Final = (Recommend, Report, Correct, MarkInError, ImputeMissing, Look)  # the compiled one
ACCEPTED_WHEN_CLOSED: Final = (Unblind, Erase, ImputeMissing, Reveal)
NAME_SUBJECT: Final = (Recommend, Erase)  # by a pseudonym
# Those that take no longer than a commit, unless they replace what the rule for missing reports has assumed: then the
# policy learns again.
QUICK: Final = (Recommend, Report, Withdraw, MarkInError, ChangeStatus)
REPLACE_IMPUTED: Final = (Report, MarkInError)


class RecommendationResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recommendation: its ID, and the arm or, in a blinded trial, the kit.

    If it was made before, for another stratum than was asked for, it has the time and stratum of that entry.
    """

    recommendation_id: str
    arm: str | None = None
    kit: str | None = None
    entered_at: datetime | None = None
    stratum: str | None = None


class Receipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a command was recorded, and about which recommendation.

    A site is not told the position in the log: a gap in positions would tell it that something else was recorded.
    """

    at: datetime
    record: int | None = None
    recommendation_id: str | None = None


class Examined(msgspec.Struct, frozen=True):
    """How far the rule for missing reports has come: the index to go on with, or None if no more are due."""

    next_index: int | None = None


class UnblindingResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    """The arm in a kit, and when its disclosure was recorded; `repeated` if it was answered before under this key."""

    recommendation_id: str
    arm: str
    kit: str
    at: datetime
    repeated: bool = False


Response: TypeAlias = RecommendationResponse | UnblindingResponse | Receipt | Examined
