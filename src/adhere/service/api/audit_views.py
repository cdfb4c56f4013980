"""Response bodies of the audit: records of the log, a recommendation derived again, the chain verified."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct


class RecordLine(Struct, frozen=True, omit_defaults=True):
    """A record of the log, in words."""

    record: Annotated[int, Meta(description="Its position in the log, from 1.")]
    at: datetime
    by: Annotated[str, Meta(description="Whose token it was, by its label; empty if the service did it by itself.")]
    event: str
    says: str
    hash: str
    recommendation_id: str | None = None


class RecordList(Struct, frozen=True, omit_defaults=True):
    """Some records of a log in order, and how many there are."""

    records: list[RecordLine]
    total: int
    before: Annotated[int, Meta(description="If there are earlier ones: the value of before for them.")] | None = None
    after: Annotated[int, Meta(description="If there are later ones: the value of after for them.")] | None = None
    rehearsal: bool = False


class Reason(Struct, frozen=True):
    """A part of why a recommendation came out as it did."""

    what: str
    says: str


class DerivationView(Struct, frozen=True, omit_defaults=True):
    """A recommendation derived again from the log as it stood when it was made."""

    recommendation_id: str
    same: Annotated[bool, Meta(description="Whether all that could be derived again is as it was logged.")]
    derived: Annotated[str, Meta(description="What could be derived again.")]
    logged_arm: str
    logged_probabilities: dict[str, float]
    records: Annotated[int, Meta(description="The records before it, each checked against the chain and used.")]
    lessons: Annotated[int, Meta(description="What the policy had learned from: reports, as they stood then.")]
    reasons: list[Reason]
    history: list[RecordLine]
    difference: str | None = None
    arm: Annotated[str, Meta(description="What came out.")] | None = None
    probabilities: Annotated[dict[str, float], Meta(description="What came out.")] | None = None


class VerificationView(Struct, frozen=True, omit_defaults=True):
    """Whether the log is whole: every record by the hash chain, and what is kept beside it by its digests."""

    whole: bool
    records: Annotated[int, Meta(description="How many are intact, counted from the first.")]
    head: Annotated[str, Meta(description="The hash of the last of them.")]
    verified_at: datetime
    looks: int
    secret: Annotated[
        str,
        Meta(
            description="Who can draw the arms again: anybody (revealed), only this service (kept), nobody here "
            "(unknown), or whoever has the seed (seed)."
        ),
    ]
    fault: (
        Annotated[str, Meta(description="The first record that was changed, and what is wrong with it.")] | None
    ) = None
