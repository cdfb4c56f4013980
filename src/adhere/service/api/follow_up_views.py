"""Response bodies of enrolment and follow-up. They name no arm of a blinded trial and no outcome."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct


class SiteEnrolment(Struct, frozen=True, omit_defaults=True):
    """A site: how many recommendations it had, and what is reported of them."""

    site: Annotated[str, Meta(description="Empty for what admins asked for themselves.")]
    recommendations: int
    complete: Annotated[int, Meta(description="What was taken and the outcome are reported.")]
    waiting: Annotated[int, Meta(description="A report is still expected: the sum of the next three.")]
    nothing_reported: int
    only_taken_reported: Annotated[int, Meta(description="Only what was taken is reported.")]
    only_outcome_reported: Annotated[int, Meta(description="Only the outcome is reported.")]
    lost_to_follow_up: int
    entered_in_error: int
    last_activity: Annotated[datetime, Meta(description="When the site last asked or reported anything.")]
    oldest_waiting: (
        Annotated[datetime, Meta(description="When the oldest one that waits was recommended.")] | None
    ) = None
    time_zone: Annotated[str, Meta(description="In which its days are counted (the setting time_zones).")] = "UTC"


class DayEnrolment(Struct, frozen=True):
    """The recommendations of a site on a day, in the time zone of the site."""

    day: str
    site: str
    recommendations: int


class EnrolmentView(Struct, frozen=True, omit_defaults=True):
    """Who was enrolled where and when, and what is still to be reported."""

    trial: str
    status: str
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    entered_in_error: int
    sites: list[SiteEnrolment]
    days: list[DayEnrolment]
    n_patients: Annotated[int, Meta(description="The design's largest number of patients.")] | None = None
    rehearsal: bool = False


class RecommendationLine(Struct, frozen=True, omit_defaults=True):
    """A recommendation in a list; state is waiting, complete, lost to follow-up or entered in error."""

    recommendation_id: str
    site: str
    at: datetime
    state: str
    missing: Annotated[tuple[str, ...], Meta(description="What is not reported yet, of one that waits.")] = ()
    stratum: str | None = None
    subject: Annotated[str, Meta(description="The pseudonym. For its site and admins.")] | None = None
    arm: Annotated[str, Meta(description="For its site and admins, unless the trial is blinded.")] | None = None
    kit: Annotated[str, Meta(description="For its site and admins, if the trial is blinded.")] | None = None


class WaitingList(Struct, frozen=True, omit_defaults=True):
    """Recommendations that await a report, oldest first, or a part of them."""

    waiting: list[RecommendationLine]
    total: int
    next: Annotated[str, Meta(description="If there are more: the value of after for them.")] | None = None


class RecommendationList(Struct, frozen=True, omit_defaults=True):
    """The recommendations of a subject, in order; none of one that is not known, or of another site."""

    recommendations: list[RecommendationLine]
    alike: Annotated[
        tuple[RecommendationLine, ...],
        Meta(
            description="Of a code that is new: the latest recommendations of subjects whose codes look like it "
            "(O and 0, I, l and 1, blanks, capital letters)."
        ),
    ] = ()
