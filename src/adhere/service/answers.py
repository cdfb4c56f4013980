"""What clients are told, as types: the answers are made of them, and so is the OpenAPI document."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from adhere.service.bodies import Role
from adhere.trial.design import Design, Imputation


class Healthy(Struct, frozen=True):
    """All is well."""

    status: str = "ok"


class TrialLine(Struct, frozen=True):
    """A trial in a list."""

    name: str
    status: str


class TrialList(Struct, frozen=True):
    """The trials a token may see."""

    trials: list[TrialLine]


class TrialView(Struct, frozen=True, omit_defaults=True):
    """A trial. A site sees none of what could betray the next arm, nor, in a blinded trial, what the arms are."""

    name: str
    status: str
    blinded: bool
    repeats: bool
    arms: tuple[str, ...] | None = None
    policy: str | None = None
    seed: int | None = None
    horizon: int | None = None
    reward_values: tuple[float, ...] | None = None
    impute: Imputation | None = None
    recommendations: int | None = None
    records: int | None = None
    head: Annotated[str, Meta(description="The hash of the log's last record.")] | None = None
    law: str | None = None


class Made(Struct, frozen=True):
    """A new trial: where it stands in its own log, and its design with all that was filled in."""

    record: int
    design: Design


class HistoryLine(Struct, frozen=True, omit_defaults=True):
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


class Derivation(Struct, frozen=True, omit_defaults=True):
    """How a recommendation came to be: enough to draw it again years later."""

    arm: str
    subject: Annotated[str, Meta(description="The key that stands for the subject in the log.")]
    site: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    seen: Annotated[int, Meta(description="The last record the policy had learned from.")]
    estimated: bool
    key: str
    law: str
    software: str
    history: list[HistoryLine]
    kit: str | None = None
    fallback: Annotated[str, Meta(description="Why arms had equal chances.")] | None = None
    imputed: Annotated[tuple[str, ...], Meta(description="What is only assumed.")] = ()


class RecommendationView(Struct, frozen=True, omit_defaults=True):
    """A recommendation and what was reported of it; `took` is arm, kit, nothing or other."""

    recommendation: int
    at: datetime
    open: bool
    withdrawn: bool
    arm: str | None = None
    kit: str | None = None
    took: str | None = None
    actual: str | None = None
    reward: float | None = None
    derivation: Annotated[Derivation, Meta(description="Not for sites.")] | None = None


class TokenMade(Struct, frozen=True, omit_defaults=True):
    """A new token. Its text is shown here and never again."""

    id: int
    token: str
    role: Role
    label: str
    site: str | None = None
    trial: str | None = None


class TokenLine(Struct, frozen=True, omit_defaults=True):
    """A token in a list."""

    id: int
    role: str
    label: str
    made_at: str
    site: str | None = None
    trial: str | None = None
    revoked_at: str | None = None


class TokenList(Struct, frozen=True):
    """All tokens, also those that were revoked."""

    tokens: list[TokenLine]
