"""A trial's log: its records, recommendations derived again from it, and who read what."""

from __future__ import annotations

from datetime import datetime

from adhere_client.answers.answer import Answer


class LogLine(Answer, frozen=True):
    """A record of the log, in words."""

    record: int
    at: datetime
    by: str
    event: str
    says: str
    hash: str
    recommendation_id: str | None = None


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

    recommendation_id: str
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
    """Whether a log is whole, and if not, the first record that was changed.

    `secret` says who can draw the arms again: anybody ("revealed"), only the service ("kept"), nobody there
    ("unknown"), or whoever has the seed ("seed").
    """

    whole: bool
    records: int
    head: str
    verified_at: datetime
    looks: int
    secret: str
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
    recommendation_id: str | None = None
