"""Trials, the looks at them, and who was enrolled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from adhere_client.answers.answer import Answer
from adhere_client.answers.designs import Imputation


class ArmAtLook(Answer, frozen=True):
    """An arm at a look: its status, the numbers compared with thresholds, by name, its share until the next look."""

    arm: str
    status: str
    values: dict[str, float] = msgspec.field(default_factory=dict)
    share: float | None = None


class LookThreshold(Answer, frozen=True):
    """What a number at a look must be for a status: `of` is the number's name."""

    of: str
    at_least: float | None = None
    at_most: float | None = None


class Look(Answer, frozen=True):
    """A look at a trial; a decision other than "go on" recommends to stop."""

    look: int
    record: int
    at: datetime
    outcomes: int
    recommendations: int
    decision: str
    arms: list[ArmAtLook]
    selected: str | None = None
    thresholds: dict[str, LookThreshold] = msgspec.field(default_factory=dict)


class LookSummary(Answer, frozen=True):
    """A look without its arms; a decision other than "go on" recommends to stop."""

    look: int
    record: int
    at: datetime
    outcomes: int
    recommendations: int
    decision: str


class TrialDetails(Answer, frozen=True):
    """A trial: its status and design. What a site or a coordinator may not see is None."""

    name: str
    status: str
    blinded: bool
    repeats: bool
    arms: tuple[str, ...] | None = None
    strata: tuple[str, ...] = ()
    entries: str = "repeated"
    policy: str | None = None
    n_patients: int | None = None
    reward_values: tuple[float, ...] | None = None
    impute: Imputation | None = None
    control: str | None = None
    update: str | None = None
    looks: dict[str, Any] | None = None
    stopping: dict[str, Any] | None = None
    estimands: tuple[str, ...] | None = None
    enrolment: dict[str, Any] | None = None
    delay: dict[str, Any] | None = None
    missing: dict[str, Any] | None = None
    design_digest: str | None = None
    recommendations: int | None = None
    records: int | None = None
    head: str | None = None
    algorithm_version: str | None = None
    commitments: tuple[str, ...] = ()
    revealed: bool = False
    last_look: LookSummary | None = None
    recommended_stop: LookSummary | None = None
    rehearsal: bool = False
    outcome_words: dict[str, float] = msgspec.field(default_factory=dict)
    lower_is_better: bool = False


class TrialLine(Answer, frozen=True):
    """A trial in the list of trials. What a site or a coordinator may not see is None.

    `waiting` counts recommendations that await a report, `entered_in_error` those that were slips; `compliance` is
    the share that took the arm recommended, of those of whom it is known what they took.
    """

    name: str
    status: str
    rehearsal: bool = False
    recommended_stop: LookSummary | None = None
    blinded: bool = False
    recommendations: int | None = None
    waiting: int | None = None
    entered_in_error: int | None = None
    compliance: float | None = None


class SiteEnrolment(Answer, frozen=True):
    """A site: how many recommendations it had, and what is reported of them."""

    site: str
    recommendations: int
    complete: int
    waiting: int
    nothing_reported: int
    only_taken_reported: int
    only_outcome_reported: int
    lost_to_follow_up: int
    entered_in_error: int
    last_activity: datetime
    oldest_waiting: datetime | None = None
    time_zone: str = "UTC"


class DayEnrolment(Answer, frozen=True):
    """The recommendations of a site on a day, in the time zone of the site."""

    day: str
    site: str
    recommendations: int


class TrialEnrolment(Answer, frozen=True):
    """Who was enrolled where and when, and what is still to be reported; no arm and no outcome."""

    trial: str
    status: str
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    entered_in_error: int
    sites: list[SiteEnrolment]
    days: list[DayEnrolment]
    n_patients: int | None = None
    rehearsal: bool = False
