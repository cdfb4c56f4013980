"""The statistician's view of a running trial: the numbers of its analysis, now and over time."""

from datetime import datetime
from typing import Annotated

from msgspec import field

from adhere_client.responses import Response, about
from adhere_client.responses.trials import ArmAtLook, Look, LookThreshold


class Estimate(Response, frozen=True):
    """An estimate with its interval, or the reason why there is none. A confidence set that is not an interval has no
    bounds here.
    """

    value: float | None
    low: float | None
    high: float | None
    reason: str = ""


class AssignedRow(Response, frozen=True):
    """The patients assigned to one arm: the treatments they took, and the number of known outcomes."""

    arm: str
    assigned: int
    took: Annotated[dict[str, int], about("The number of patients who took each arm.")]
    took_nothing: int
    took_other: int
    not_reported: int
    lost: int
    outcomes: int
    compliance: Estimate


class Effect(Response, frozen=True):
    """The difference in mean outcome between a treatment and a control in one view of the data, such as
    intention-to-treat, with its confidence set.

    `validity` describes the set's guarantee. An any-time valid set comes with its history: after `t[m]`
    recommendations, its bounds were `low[m]` and `high[m]`. `n_pending` counts the patients who enter the set with
    the worst case for their missing report.
    """

    view: str
    treatment: str
    control: str
    estimate: Estimate
    validity: str
    is_any_time_valid: bool
    note: str
    n: int
    n_pending: int = 0
    p_value: float | None = None
    t: list[int] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)


class AllocationOverTime(Response, frozen=True):
    """The recommendations of each arm and its mean probability, after `t[m]` recommendations made until `at[m]`.

    Each mean covers the recommendations since the previous time. It is null if no recommendation had probabilities.
    """

    t: list[int]
    at: list[datetime]
    assigned: dict[str, list[int]]
    probability: dict[str, list[float | None]]


class AllocationCheck(Response, frozen=True):
    """A check that arms were drawn with the logged probabilities: observed and expected assignments of each arm."""

    observed: dict[str, int]
    expected: dict[str, float]
    log_e: Annotated[float, about("The logarithm of the e-value against this.")]
    rejected: bool
    sentence: str


class Posterior(Response, frozen=True):
    """The Beta posterior of an arm's mean outcome in one component of the policy, with its 95% interval."""

    part: str
    of: Annotated[str, about("The patients whose outcomes count: assigned, taken, ….")]
    arm: str
    alpha: float
    beta: float
    mean: float
    low: float
    high: float


class Weights(Response, frozen=True):
    """The weights that one component of the policy gives to its experts or to the arms; they add up to 1."""

    part: str
    of: Annotated[str, about("experts or arms")]
    weights: dict[str, float]


class OddsOfMediation(Response, frozen=True):
    """The policy's odds that outcomes depend on the arm taken alone."""

    part: str
    log_odds: float | None
    probability: float


class Beliefs(Response, frozen=True):
    """The policy's state after the reports so far. A custom policy shows only its probabilities."""

    probabilities: Annotated[dict[str, float], about("The probability of each arm at the next recommendation.")]
    posteriors: list[Posterior]
    weights: list[Weights]
    mediation: list[OddsOfMediation]


class SurplusOverTime(Response, frozen=True):
    """The expected gain in summed outcomes over drawing all arms with equal probabilities, with its interval."""

    total: Estimate
    sentence: str
    t: list[int]
    low: list[float]
    high: list[float]


class PresentValues(Response, frozen=True):
    """The numbers that a look made now would compare with its thresholds. Showing them is not a look."""

    look: int
    outcomes: int
    arms: list[ArmAtLook]
    thresholds: dict[str, LookThreshold]
    due_at: Annotated[int | None, about("The number of outcomes at which the look is due.")] = None
    due_day: Annotated[float | None, about("The look is due at the end of this day after the first patient.")] = None


class Taken(Response, frozen=True):
    """A test of the reports of treatments taken: given the arm taken, does the outcome depend on the arm assigned?"""

    depends: Annotated[bool, about("Whether the data show such a dependence.")]
    sentence: str


class Monitor(Response, frozen=True):
    """The statistician's view of a running trial, with the numbers of `adhere analyse` on the log up to `head`."""

    trial: str
    status: str
    head: str
    records: int
    at: Annotated[datetime | None, about("When the last recommendation was made.")]
    n_patients: int | None
    level: float
    recommendations: int
    outcomes: int
    waiting: Annotated[int, about("Recommendations with a missing or incomplete report.")]
    lost_to_follow_up: int
    compliance: Estimate
    arms: list[AssignedRow]
    adaptive: bool
    effects: list[Effect]
    why_no_sequences: str
    taken: Taken
    surplus: SurplusOverTime | None
    allocation: AllocationOverTime
    allocation_check: AllocationCheck | None
    beliefs: Beliefs
    looks: list[Look]
    planned_looks: int
    present: PresentValues | None
    warnings: list[str]
    lower_is_better: Annotated[bool, about("Every outcome y is analysed as 1 - y.")] = False
