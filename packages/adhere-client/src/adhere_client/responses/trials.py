"""Responses about trials: their designs, looks and enrolment."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import field

from adhere_client.responses import Response, about

# The parts of a design (Looks, Stopping, …) have the same fields as in the request that creates a trial.
Part = Annotated[dict[str, Any], about("Like in the request, without fields that have their default values.")]


class ImputationRule(Response, frozen=True):
    """The rule for missing reports: the days to wait, the arm (or nothing) that counts as taken, and the reward."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | None = None


class Design(Response, frozen=True, omit_defaults=False):
    """A trial's design with all defaults filled in."""

    name: str
    policy: str
    arms: tuple[str, ...]
    n_patients: int | None = None
    reward_values: tuple[float, ...] = (0.0, 1.0)
    blinded: bool = False
    repeats: bool = False
    entries: str = "repeated"
    impute: ImputationRule | None = None
    control: str | None = None
    strata: tuple[str, ...] = ()
    update: str = "every patient"
    looks: Part = field(default_factory=dict)
    stopping: Part | None = None
    estimands: tuple[str, ...] = ("intention-to-treat", "compliers")
    enrolment: Part = field(default_factory=dict)
    delay: Part = field(default_factory=dict)
    missing: Part = field(default_factory=dict)
    rehearsal: bool = False
    outcome_words: dict[str, float] = field(default_factory=dict)
    lower_is_better: bool = False


class CreatedTrial(Response, frozen=True, omit_defaults=False):
    """A new trial: the record that created it, and its design with all defaults filled in."""

    record: int
    design: Design
    design_digest: Annotated[str, about("The design's digest, which is also in the trial's first record.")]
    warnings: Annotated[
        tuple[str, ...], about("Warnings about probable mistakes, such as looks that can never stop the trial.")
    ] = ()


class CheckedDesign(Response, frozen=True):
    """A valid design with all defaults filled in. No trial was created."""

    design: Design
    design_digest: Annotated[str, about("The design's digest, which a trial of this design also has.")]
    description: Annotated[tuple[str, ...], about("The design in sentences.")]
    warnings: Annotated[
        tuple[str, ...], about("Warnings about probable mistakes, such as looks that can never stop the trial.")
    ]
    file: Annotated[str, about("The text of the design's TOML file, without default values.")]


class ArmAtLook(Response, frozen=True):
    """An arm at a look: its status, the numbers compared with thresholds, and its share until the next look."""

    arm: str
    status: str
    values: dict[str, float] = field(default_factory=dict)
    share: float | None = None


class LookThreshold(Response, frozen=True):
    """The threshold that a number must reach for a status at a look. `of` is the name of the number."""

    of: str
    at_least: float | None = None
    at_most: float | None = None


class LookSummary(Response, frozen=True):
    """A look without its arms. Any decision except "go on" recommends to stop the trial."""

    look: int
    record: int
    at: datetime
    outcomes: int
    recommendations: int
    decision: str


class Look(LookSummary, frozen=True):
    """A look at a trial. Any decision except "go on" recommends to stop. A person confirms the stop by ending the
    trial.
    """

    arms: list[ArmAtLook]
    selected: str | None = None
    thresholds: dict[str, LookThreshold] = field(default_factory=dict)

    @property
    def is_stop(self) -> bool:
        """Return whether the look recommends to stop."""
        return self.decision != "go on"


class LookList(Response, frozen=True, omit_defaults=False):
    """The looks at a trial so far."""

    looks: list[Look]
    rehearsal: bool = False


class TrialLine(Response, frozen=True):
    """A trial in a list. Fields that a site or a coordinator may not see are left out."""

    name: str
    status: str
    rehearsal: Annotated[bool, about("Whether the trial is a rehearsal, with data that do not count.")] = False
    recommended_stop: Annotated[
        LookSummary | None, about("Present while the trial is not closed. Not shown to sites and coordinators.")
    ] = None
    blinded: bool = False
    recommendations: Annotated[int | None, about("Not shown to sites.")] = None
    waiting: Annotated[int | None, about("Recommendations that await a report. Not shown to sites.")] = None
    entered_in_error: Annotated[int | None, about("Recommendations entered in error. Not shown to sites.")] = None
    compliance: Annotated[
        float | None,
        about(
            "The share who took the recommended arm, among patients with a report of the treatment taken. "
            "Not shown to sites and coordinators."
        ),
    ] = None


class TrialList(Response, frozen=True):
    """The trials a token may see."""

    trials: list[TrialLine]


class TrialDetails(Response, frozen=True):
    """A trial. Sites and coordinators see nothing that predicts the next arm, and no arms of a blinded trial."""

    name: str
    status: str
    blinded: bool
    repeats: bool
    reward_values: tuple[float, ...]
    arms: tuple[str, ...] | None = None
    strata: tuple[str, ...] = ()
    entries: Annotated[
        str, about("Whether a subject is entered once, again if it is confirmed (ask), or repeatedly.")
    ] = "repeated"
    rehearsal: Annotated[bool, about("Whether the trial is a rehearsal, with data that do not count.")] = False
    outcome_words: Annotated[
        dict[str, float], about("What sites read for each of the reward_values, the worst first.")
    ] = field(default_factory=dict)
    lower_is_better: Annotated[bool, about("A reward y is analysed as 1 - y.")] = False
    design: Annotated[Design | None, about("With all defaults filled in. Not shown to sites and coordinators.")] = (
        None
    )
    design_digest: Annotated[str | None, about("The digest of the design.")] = None
    recommendations: int | None = None
    records: int | None = None
    head: Annotated[str | None, about("The hash of the log's last record.")] = None
    algorithm_version: str | None = None
    commitments: Annotated[
        tuple[str, ...],
        about("The digests that commit to the secrets of all epochs. Not shown to sites and coordinators."),
    ] = ()
    revealed: Annotated[bool, about("Whether the secrets were revealed after the trial was closed.")] = False
    last_look: Annotated[LookSummary | None, about("Not shown to sites and coordinators.")] = None
    recommended_stop: Annotated[
        LookSummary | None, about("Closing the trial confirms it. Not shown to sites and coordinators.")
    ] = None


class SiteList(Response, frozen=True):
    """The sites of a trial by name: sites with a token for this or all trials, and sites that entered subjects."""

    sites: list[str]
    required: Annotated[
        bool,
        about(
            "Whether every subject needs a site. This is so once a site has a token for this trial only "
            "or has entered a subject."
        ),
    ]


class SiteEnrolment(Response, frozen=True):
    """A site: the number of its recommendations, and how many of them are reported."""

    site: Annotated[str, about("Empty for recommendations that admins requested without a site.")]
    recommendations: int
    complete: Annotated[int, about("Both the treatment taken and the outcome are reported.")]
    waiting: Annotated[int, about("A report is still expected: the sum of the next three.")]
    nothing_reported: int
    only_taken_reported: Annotated[int, about("Only the treatment taken is reported.")]
    only_outcome_reported: Annotated[int, about("Only the outcome is reported.")]
    lost_to_follow_up: int
    entered_in_error: int
    last_activity: Annotated[datetime, about("The time of the site's last request or report.")]
    oldest_waiting: Annotated[
        datetime | None, about("The time of the oldest recommendation that awaits a report.")
    ] = None
    time_zone: Annotated[str, about("The time zone in which the site's days are counted (setting time_zones).")] = (
        "UTC"
    )


class DayEnrolment(Response, frozen=True):
    """The number of recommendations of a site on one day, in the site's time zone."""

    day: str
    site: str
    recommendations: int


class TrialEnrolment(Response, frozen=True):
    """The enrolment by site and day, and the number of missing reports, without any arm or outcome."""

    trial: str
    status: str
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    entered_in_error: int
    sites: list[SiteEnrolment]
    days: list[DayEnrolment]
    n_patients: Annotated[int | None, about("The design's largest number of patients.")] = None
    rehearsal: bool = False
