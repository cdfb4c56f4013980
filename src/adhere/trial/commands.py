"""What can be asked of live trials, and what is answered."""

from __future__ import annotations

from datetime import datetime
from typing import TypeAlias

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What every request says: which trial, under which id, who asks, and for which site (None: for any)."""

    trial: str
    request: str
    by: str = ""
    site: str | None = None


class Recommend(Request, frozen=True, kw_only=True):
    """An arm for a subject."""

    subject: str


class Report(Request, frozen=True, kw_only=True):
    """What was taken (an arm or, in a blinded trial, a kit; nothing; something else), what came of it, or both."""

    recommendation: int
    actual: str | None = None
    took_nothing: bool = False
    took_other: str | None = None
    reward: float | None = None
    happened: datetime | None = None


class Correct(Request, frozen=True, kw_only=True):
    """Other values for what was reported; what is in `retract` ("actual", "reward") counts as never reported."""

    recommendation: int
    reason: str
    actual: str | None = None
    took_nothing: bool = False
    took_other: str | None = None
    reward: float | None = None
    retract: tuple[str, ...] = ()


class Withdraw(Request, frozen=True, kw_only=True):
    """Nothing more will be heard of a recommendation."""

    recommendation: int
    reason: str


class ChangeStatus(Request, frozen=True, kw_only=True):
    """Pause a trial ("paused"), go on ("open") or close it for good ("closed")."""

    status: str
    reason: str


class Unblind(Request, frozen=True, kw_only=True):
    """What is in a kit."""

    kit: str
    reason: str


class Erase(Request, frozen=True, kw_only=True):
    """Forget who a subject is."""

    subject: str


class Examine(Request, frozen=True, kw_only=True):
    """Apply the trial's rule for missing reports to the recommendations that are old enough by now."""


AnyRequest: TypeAlias = Recommend | Report | Correct | Withdraw | ChangeStatus | Unblind | Erase | Examine


class Advice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A recommendation: its number, and the arm or, in a blinded trial, the kit."""

    recommendation: int
    arm: str | None = None
    kit: str | None = None


class Receipt(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where in the log something was written."""

    record: int
    recommendation: int | None = None


Answer: TypeAlias = Advice | Receipt
