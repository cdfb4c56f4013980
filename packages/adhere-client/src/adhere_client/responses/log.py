"""Responses about a trial's log: its records, recommendations derived again from it, and the access log."""

from datetime import datetime
from typing import Annotated

from adhere_client.responses import Response, about
from adhere_client.responses.recommendations import OfRecommendation


class LogLine(Response, frozen=True):
    """A record of the log, in words."""

    record: Annotated[int, about("Its position in the log, from 1.")]
    at: datetime
    by: Annotated[str, about("Whose token it was, by its label; empty if the service did it by itself.")]
    event: str
    says: str
    hash: str
    recommendation_id: str | None = None


class LogPage(Response, frozen=True):
    """Consecutive records of a log, and how many records there are."""

    records: list[LogLine]
    total: int
    before: Annotated[int | None, about("If there are earlier ones: the value of before for them.")] = None
    after: Annotated[int | None, about("If there are later ones: the value of after for them.")] = None
    rehearsal: bool = False


class DerivationReason(Response, frozen=True):
    """One of the reasons for a recommendation."""

    what: str
    says: str


class Reproduction(OfRecommendation, frozen=True):
    """A recommendation derived again from the log up to the time when it was made."""

    same: Annotated[bool, about("Whether all that could be derived again is as it was logged.")]
    derived: Annotated[str, about("What could be derived again.")]
    logged_arm: str
    logged_probabilities: dict[str, float]
    records: Annotated[int, about("The records before it, each checked against the chain and used.")]
    updates: Annotated[int, about("What the policy had learned from: reports, as they stood then.")]
    reasons: list[DerivationReason]
    history: list[LogLine]
    difference: str | None = None
    arm: Annotated[str | None, about("What came out.")] = None
    probabilities: Annotated[dict[str, float] | None, about("What came out.")] = None


class Verification(Response, frozen=True):
    """The result of verifying a log: its records by the hash chain, and data stored beside the log by digests."""

    whole: bool
    records: Annotated[int, about("How many are intact, counted from the first.")]
    head: Annotated[str, about("The hash of the last of them.")]
    verified_at: datetime
    looks: int
    secret: Annotated[
        str,
        about(
            "Who can draw the arms again: anybody (revealed), only this service (kept), nobody here "
            "(unknown), or whoever has the seed (seed)."
        ),
    ]
    fault: Annotated[str | None, about("The first record that was changed, and what is wrong with it.")] = None


class Access(Response, frozen=True):
    """One read, or all reads of one kind by one token within ten minutes."""

    id: int
    at: Annotated[str, about("Of reads counted together, the beginning of their ten minutes.")]
    token: int
    label: Annotated[str, about("Of the token.")]
    kind: Annotated[str, about("What was read: trial, results, export, recommendation, records and others.")]
    head: Annotated[str, about("The hash of the log's last record then: nothing after it was seen.")]
    count: int
    recommendation_id: str | None = None


class AccessPage(Response, frozen=True):
    """One page of a trial's access log."""

    accesses: list[Access]
    next: Annotated[int | None, about("If there may be more: the value of after for them.")] = None
