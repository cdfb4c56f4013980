"""The results of a trial so far."""

from adhere_client.responses import Response


class ArmEstimate(Response, frozen=True):
    """A mean reward and its 95% interval; without rewards there is no mean, and the interval is 0 to 1."""

    arm: str
    n: int
    mean: float | None
    low: float
    high: float


class Compliance(Response, frozen=True):
    """The arms taken by patients who were recommended one arm, and the share who took it, with its 95% interval."""

    chosen: str
    took: dict[str, int]
    took_nothing: int
    took_other: int
    unknown: int
    share: float | None
    low: float
    high: float


class Results(Response, frozen=True):
    """A trial's results: the state of its recommendations, and estimates for three analysis sets."""

    trial: str
    head: str
    records: int
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    imputed_parts: int
    fallbacks: int
    refused_updates: int
    intention_to_treat: list[ArmEstimate]
    as_treated: list[ArmEstimate]
    per_protocol: list[ArmEstimate]
    compliance: list[Compliance]
    probabilities: dict[str, float]
    note: str
    entered_in_error: int = 0
    rehearsal: bool = False
    lower_is_better: bool = False
