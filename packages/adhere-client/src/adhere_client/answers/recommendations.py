"""Recommendations and what was reported of them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from adhere_client.answers.answer import Answer


class IssuedRecommendation(Answer, frozen=True):
    """A recommendation: its ID, and the arm or, in a blinded trial, the kit.

    If it was made before, for another stratum than was asked for, it has the time and stratum of that entry.
    """

    id: str = msgspec.field(name="recommendation_id")
    arm: str | None = None
    kit: str | None = None
    entered_at: datetime | None = None
    stratum: str | None = None


class Unblinding(Answer, frozen=True):
    """The arm in a kit, and when its disclosure was recorded; `repeated` if it was answered before under this ID."""

    id: str = msgspec.field(name="recommendation_id")
    arm: str
    kit: str
    at: datetime
    repeated: bool = False


class RecordedLine(Answer, frozen=True):
    """One thing that was recorded about a recommendation, as the token may see it.

    `event` is reported, corrected, withdrawn, entered-in-error or unblinded; `actual` the arm or, for a site of a
    blinded trial, the kit.
    """

    event: str
    at: datetime
    by: str
    took: str | None = None
    actual: str | None = None
    took_other: str | None = None
    kit: str | None = None
    reward: float | None = None
    happened: datetime | None = None
    retract: tuple[str, ...] = ()
    reason: str | None = None


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
    algorithm_version: str
    software: str
    history: list[HistoryLine]
    kit: str | None = None
    fallback: str | None = None
    imputed: tuple[str, ...] = ()


class RecommendationDetails(Answer, frozen=True):
    """A recommendation and its reports; `took` is arm, kit, nothing or other. A site sees no derivation."""

    id: str = msgspec.field(name="recommendation_id")
    at: datetime
    open: bool
    withdrawn: bool
    in_error: bool = False
    arm: str | None = None
    kit: str | None = None
    took: str | None = None
    actual: str | None = None
    took_other: str | None = None
    reward: float | None = None
    stratum: str | None = None
    recorded: tuple[RecordedLine, ...] = ()
    derivation: Derivation | None = None


class ListedRecommendation(Answer, frozen=True):
    """A recommendation in a list; `state` is waiting, complete, lost to follow-up or entered in error."""

    id: str = msgspec.field(name="recommendation_id")
    site: str
    at: datetime
    state: str
    missing: tuple[str, ...] = ()
    stratum: str | None = None
    subject: str | None = None
    arm: str | None = None
    kit: str | None = None
