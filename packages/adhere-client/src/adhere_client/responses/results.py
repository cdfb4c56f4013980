"""What a trial has found so far."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from adhere_client.responses import Response


class ArmEstimate(Response, frozen=True):
    """A mean reward and its 95% interval; without rewards there is no mean, and the interval is 0 to 1."""

    arm: str
    n: int
    mean: float | None
    low: float
    high: float


class Compliance(Response, frozen=True):
    """What was taken where an arm was chosen, and the share of those reported who took it, with its 95% interval."""

    chosen: str
    took: dict[str, int]
    took_nothing: int
    took_other: int
    unknown: int
    share: float | None
    low: float
    high: float


class Results(Response, frozen=True):
    """A trial's results: what became of its recommendations, and estimates for three analysis sets."""

    trial: str
    head: str
    records: int
    recommendations: int
    complete: int
    waiting: int
    lost_to_follow_up: int
    imputed_parts: int
    fallbacks: int
    refused_lessons: int
    intention_to_treat: list[ArmEstimate]
    as_treated: list[ArmEstimate]
    per_protocol: list[ArmEstimate]
    compliance: list[Compliance]
    probabilities: dict[str, float]
    note: str
    entered_in_error: int = 0
    rehearsal: bool = False
    lower_is_better: bool = False


class Monitor(Response, frozen=True):
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
    lost_to_follow_up: int
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
    lower_is_better: bool = False
