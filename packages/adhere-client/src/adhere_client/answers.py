"""What the calls return. Every answer is a value that can be compared, printed and turned into JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The base of all answers.

    >>> Recorded(record=7, recommendation_id=2).to_json()
    '{"record":7,"recommendation_id":2}'
    """

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists, numbers and texts, as the service sent them; `json.dumps` takes them."""
        return dict(msgspec.json.decode(msgspec.json.encode(self)))

    def to_json(self) -> str:
        """The answer in JSON, as the service sent it."""
        return msgspec.json.encode(self).decode()


class IssuedRecommendation(Answer, frozen=True):
    """A recommendation: its number, and the arm or, in a blinded trial, the kit."""

    id: int = msgspec.field(name="recommendation_id")
    arm: str | None = None
    kit: str | None = None


class Recorded(Answer, frozen=True):
    """Where in the trial's log something was written, and about which recommendation."""

    record: int
    recommendation_id: int | None = None


class Imputation(Answer, frozen=True):
    """The rule for missing reports: what to assume after so many days (an arm taken, nothing taken, a reward)."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | None = None


class Design(Answer, frozen=True):
    """A trial's design with all defaults filled in."""

    name: str
    policy: str
    arms: tuple[str, ...]
    n_patients: int | None = None
    reward_values: tuple[float, ...] = (0.0, 1.0)
    blinded: bool = False
    repeats: bool = False
    impute: Imputation | None = None
    control: str | None = None
    strata: tuple[str, ...] = ()
    update: str = "every patient"
    looks: dict[str, Any] = {}
    stopping: dict[str, Any] | None = None
    estimands: tuple[str, ...] = ("intention-to-treat", "compliers")
    enrolment: dict[str, Any] = {}
    delay: dict[str, Any] = {}
    missing: dict[str, Any] = {}
    rehearsal: bool = False


class CheckedDesign(Answer, frozen=True):
    """A valid design, of which no trial was created: its digest, what it says in sentences, warnings, its file."""

    design: Design
    design_digest: str
    description: tuple[str, ...]
    warnings: tuple[str, ...]
    file: str


class PolicyParameter(Answer, frozen=True):
    """A parameter of a policy; without a default it is required, or the policy sets it."""

    name: str
    meaning: str
    expected: str
    required: bool
    default: str | None = None


class PolicyDetails(Answer, frozen=True):
    """A policy: what it does, its parameters, and what it needs of a trial."""

    name: str
    kind: str
    summary: str
    example: str
    parameters: list[PolicyParameter]
    protocols: tuple[str, ...]
    needs_n_patients: bool
    states_probabilities: bool | None = None


class Characteristic(Answer, frozen=True):
    """An operating characteristic with its Monte Carlo standard error and 95% interval, or why there is none."""

    name: str
    mean: float | None
    se: float | None = None
    lo: float | None = None
    hi: float | None = None
    arm: str | None = None
    estimand: str | None = None
    method: str | None = None
    reason: str | None = None


class SimulatedScenario(Answer, frozen=True):
    """A scenario, what is true in it, and how trials of the design behave in it."""

    name: str
    null: str | None
    effect: float | None
    compliance: float | None
    confounding: float | None
    mean_given_chosen: list[float]
    characteristics: list[Characteristic]


class Simulation(Answer, frozen=True):
    """A simulation of a design: where it stands (waiting, running, done, failed, stopped), and what was found."""

    id: int
    state: str
    n_trials: int
    seed: str
    done: int = 0
    total: int = 0
    doing: str = ""
    reason: str = ""
    design_digest: str | None = None
    scenarios: list[SimulatedScenario] | None = None
    meanings: dict[str, str] | None = None
    notes: tuple[str, ...] = ()
    report: str | None = None


class ArmAtLook(Answer, frozen=True):
    """An arm at a look: its status, the numbers compared with thresholds, by name, its share until the next look."""

    arm: str
    status: str
    values: dict[str, float] = {}
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
    thresholds: dict[str, LookThreshold] = {}


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
    last_look: LookSummary | None = None
    recommended_stop: LookSummary | None = None
    rehearsal: bool = False


class TrialLine(Answer, frozen=True):
    """A trial in the list of trials. What a site or a coordinator may not see is None.

    `waiting` counts recommendations that await a report; `compliance` is the share that took the arm recommended, of
    those of whom it is known what they took.
    """

    name: str
    status: str
    rehearsal: bool = False
    recommended_stop: LookSummary | None = None
    blinded: bool = False
    recommendations: int | None = None
    waiting: int | None = None
    compliance: float | None = None


class HistoryLine(Answer, frozen=True):
    """One record about a recommendation."""

    record: int
    event: str
    at: datetime
    by: str
    actual: str | None = None
    reward: float | None = None
    happened: datetime | None = None
    retract: tuple[str, ...] = ()
    reason: str | None = None


class Derivation(Answer, frozen=True):
    """How a recommendation was derived: enough to derive it again."""

    arm: str
    subject: str
    site: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    learned_up_to: int
    estimated: bool
    key: str
    algorithm_version: str
    software: str
    history: list[HistoryLine]
    kit: str | None = None
    fallback: str | None = None
    imputed: tuple[str, ...] = ()


class RecommendationDetails(Answer, frozen=True):
    """A recommendation and its reports; `took` is arm, kit, nothing or other. A site sees no derivation."""

    id: int = msgspec.field(name="recommendation_id")
    at: datetime
    open: bool
    withdrawn: bool
    in_error: bool = False
    arm: str | None = None
    kit: str | None = None
    took: str | None = None
    actual: str | None = None
    reward: float | None = None
    stratum: str | None = None
    derivation: Derivation | None = None


class ListedRecommendation(Answer, frozen=True):
    """A recommendation in a list; `state` is waiting, complete, lost to follow-up or entered in error."""

    id: int = msgspec.field(name="recommendation_id")
    site: str
    at: datetime
    state: str
    missing: tuple[str, ...] = ()
    stratum: str | None = None
    subject: str | None = None
    arm: str | None = None
    kit: str | None = None


class SiteEnrolment(Answer, frozen=True):
    """A site: how many recommendations it had, and what is reported of them."""

    site: str
    recommendations: int
    complete: int
    waiting: int
    nothing_reported: int
    outcome_missing: int
    taken_missing: int
    lost_to_follow_up: int
    entered_in_error: int
    last_activity: datetime
    oldest_waiting: datetime | None = None


class DayEnrolment(Answer, frozen=True):
    """The recommendations of a site on a day, in UTC."""

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
    planned: int | None = None
    rehearsal: bool = False


class ArmEstimate(Answer, frozen=True):
    """A mean reward and its 95% interval; without rewards there is no mean, and the interval is 0 to 1."""

    arm: str
    n: int
    mean: float | None
    low: float
    high: float


class Compliance(Answer, frozen=True):
    """What was taken where an arm was chosen, and the share of those reported who took it, with its 95% interval."""

    chosen: str
    actual: dict[str, int]
    nothing: int
    other: int
    unknown: int
    share: float | None
    low: float
    high: float


class Results(Answer, frozen=True):
    """A trial's results: what became of its recommendations, and estimates for three analysis sets."""

    trial: str
    head: str
    records: int
    recommendations: int
    reported: int
    open: int
    withdrawn: int
    imputed_parts: int
    fallbacks: int
    refused_lessons: int
    intention_to_treat: list[ArmEstimate]
    as_treated: list[ArmEstimate]
    per_protocol: list[ArmEstimate]
    compliance: list[Compliance]
    probabilities: dict[str, float]
    note: str
    in_error: int = 0
    rehearsal: bool = False


class LogLine(Answer, frozen=True):
    """A record of the log, in words."""

    record: int
    at: datetime
    by: str
    event: str
    says: str
    hash: str
    recommendation_id: int | None = None


class LogPage(Answer, frozen=True):
    """Some records of a log in order; `before` and `after` lead to earlier and later ones, if there are any."""

    records: list[LogLine]
    total: int
    before: int | None = None
    after: int | None = None
    rehearsal: bool = False


class Reason(Answer, frozen=True):
    """A part of why a recommendation came out as it did."""

    what: str
    says: str


class DerivedAgain(Answer, frozen=True):
    """A recommendation derived again from the log as it stood when it was made."""

    recommendation_id: int
    same: bool
    derived: str
    logged_arm: str
    logged_probabilities: dict[str, float]
    records: int
    lessons: int
    reasons: list[Reason]
    history: list[LogLine]
    difference: str | None = None
    arm: str | None = None
    probabilities: dict[str, float] | None = None


class Verification(Answer, frozen=True):
    """Whether a log is whole, and if not, the first record that was changed."""

    whole: bool
    records: int
    head: str
    verified_at: datetime
    looks: int
    fault: str | None = None


class Access(Answer, frozen=True):
    """A read, or all reads of one kind by a token in ten minutes."""

    id: int
    at: str
    token: int
    label: str
    kind: str
    head: str
    count: int
    recommendation_id: int | None = None


class IssuedToken(Answer, frozen=True):
    """A new token, whose text is never shown again; printing the answer does not show it either."""

    id: int
    token: str
    role: str
    label: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None

    def __repr__(self) -> str:
        return f"IssuedToken(id={self.id}, token=(not shown), role={self.role!r}, label={self.label!r})"

    def __rich_repr__(self) -> Any:  # what rich prints instead
        yield from (("id", self.id), ("role", self.role), ("label", self.label))


class SignInLink(Answer, frozen=True):
    """A one-time link to sign in to the pages: its path on the service, and when it expires."""

    path: str
    expires_at: str


class TokenDetails(Answer, frozen=True):
    """A token in the list: whose it is, what it is for, and whether it is valid."""

    id: int
    role: str
    label: str
    made_at: str
    status: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: str | None = None


class Monitor(Answer, frozen=True):
    """A trial as a statistician watches it; its parts are dictionaries, as docs/client.md and the API have them."""

    trial: str
    status: str
    head: str
    records: int
    at: datetime | None
    n_patients: int | None
    level: float
    recommendations: int
    outcomes: int
    waiting: int
    lost: int
    compliance: dict[str, Any]
    arms: list[dict[str, Any]]
    adaptive: bool
    effects: list[dict[str, Any]]
    why_no_sequences: str
    taken: dict[str, Any]
    surplus: dict[str, Any] | None
    allocation: dict[str, Any]
    allocation_check: dict[str, Any] | None
    beliefs: dict[str, Any]
    looks: list[dict[str, Any]]
    planned_looks: int
    present: dict[str, Any] | None
    warnings: list[str]
