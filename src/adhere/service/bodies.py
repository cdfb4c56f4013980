"""What clients send, field by field; anything else in a body is refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from adhere.trial.checks import LONGEST_NAME, LONGEST_TEXT
from adhere.trial.design import Imputation

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT)]
Reward: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]
Part: TypeAlias = Literal["actual", "reward"]
Role: TypeAlias = Literal["site", "statistician", "admin"]


class Body(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every body has in common: nothing but the fields it names."""


class NewTrial(Body, frozen=True, kw_only=True):
    """A trial's design. Without a seed it gets one that nobody can guess."""

    name: Name
    policy: Annotated[str, Meta(min_length=1, max_length=1000, examples=["thompson/actual"])]
    arms: tuple[str, ...]
    seed: Annotated[int, Meta(ge=0)] | None = None
    horizon: Annotated[int, Meta(ge=1, lt=2**53)] | None = None
    reward_values: tuple[Reward, ...] = (0.0, 1.0)
    blinded: bool = False
    repeats: bool = False
    impute: Imputation | None = None


class ForSubject(Body, frozen=True, kw_only=True):
    """Whom to recommend an arm for, by the pseudonym the site uses."""

    subject: Name


class ReportBody(Body, frozen=True, kw_only=True):
    """What was taken (an arm, or a kit in a blinded trial; nothing; something else), what came of it, or both."""

    actual: Name | None = None
    took_nothing: bool = False
    took_other: Text | None = None
    reward: Reward | None = None
    happened: datetime | None = None


class CorrectionBody(Body, frozen=True, kw_only=True):
    """Other values for what was reported; what is in `retract` counts as never reported."""

    reason: Text
    actual: Name | None = None
    took_nothing: bool = False
    took_other: Text | None = None
    reward: Reward | None = None
    retract: tuple[Part, ...] = ()


class Reason(Body, frozen=True, kw_only=True):
    """Why."""

    reason: Text


class KitAndReason(Body, frozen=True, kw_only=True):
    """Which kit to open, and why."""

    kit: Name
    reason: Text


class WhomToForget(Body, frozen=True, kw_only=True):
    """A subject by pseudonym, and the site that uses it (none: a subject of no site)."""

    subject: Name
    site: Name | None = None


class NewToken(Body, frozen=True, kw_only=True):
    """Who will hold a token: a role, for a site its name, and if wanted the one trial it is for."""

    role: Role
    label: Name
    site: Name | None = None
    trial: Name | None = None
