"""Responses about a trial's log: its records, recommendations derived again from it, and the access log."""

from datetime import datetime
from typing import Annotated

from adhere_client.responses import Response, about
from adhere_client.responses.recommendations import OfRecommendation


class LogLine(Response, frozen=True):
    """A record of the log, in words."""

    record: Annotated[int, about("The record's position in the log, from 1.")]
    at: datetime
    by: Annotated[str, about("The label of the token; empty if the service acted by itself.")]
    event: str
    says: str
    hash: str
    recommendation_id: str | None = None


class LogPage(Response, frozen=True):
    """Consecutive records of a log, and the total number of records."""

    records: list[LogLine]
    total: int
    before: Annotated[int | None, about("The value of before for earlier records, if there are any.")] = None
    after: Annotated[int | None, about("The value of after for later records, if there are any.")] = None
    rehearsal: bool = False


class DerivationReason(Response, frozen=True):
    """One of the reasons for a recommendation."""

    what: str
    says: str


class Reproduction(OfRecommendation, frozen=True):
    """A recommendation derived again from the log up to the time when it was made."""

    same: Annotated[bool, about("Whether everything that could be derived again agrees with the log.")]
    derived: Annotated[str, about("The parts that could be derived again.")]
    logged_arm: str
    logged_probabilities: dict[str, float]
    records: Annotated[int, about("The number of earlier records, each checked against the chain and used.")]
    updates: Annotated[int, about("The reports that the policy had learned from at that time.")]
    reasons: list[DerivationReason]
    history: list[LogLine]
    difference: str | None = None
    arm: Annotated[str | None, about("The result of deriving it again.")] = None
    probabilities: Annotated[dict[str, float] | None, about("The result of deriving it again.")] = None


class Verification(Response, frozen=True):
    """The result of verifying a log: the records are verified by the hash chain, and the data stored beside the log
    by their digests.
    """

    whole: bool
    records: Annotated[int, about("The number of intact records, counted from the first.")]
    head: Annotated[str, about("The hash of the last intact record.")]
    verified_at: datetime
    looks: int
    secret: Annotated[
        str,
        about(
            "The people who can draw the arms again: anybody (revealed), only this service (kept), nobody "
            "here (unknown), or anybody who has the seed (seed)."
        ),
    ]
    fault: Annotated[str | None, about("The first changed record, and its fault.")] = None


class Access(Response, frozen=True):
    """One read, or all reads of one kind by one token within ten minutes."""

    id: int
    at: Annotated[str, about("For reads that are counted together, the start of their ten minutes.")]
    token: int
    label: Annotated[str, about("The label of the token.")]
    kind: Annotated[str, about("The kind of read: trial, results, export, recommendation, records and others.")]
    head: Annotated[str, about("The hash of the log's last record at that time; later records were not seen.")]
    count: int
    recommendation_id: str | None = None


class AccessPage(Response, frozen=True):
    """One page of a trial's access log."""

    accesses: list[Access]
    next: Annotated[int | None, about("The value of after for more rows, if there may be more.")] = None
