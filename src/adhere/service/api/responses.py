"""Response bodies."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from adhere.access.tokens import Role, Status
from adhere.design.design import Design
from adhere.design.parts import (
    Delay,
    Enrolment,
    Entries,
    Estimand,
    Imputation,
    Looks,
    Missing,
    Stopping,
    Update,
)
from adhere.trial.log.look_view import LookView

DESCRIPTION: Final = "Adaptive trials for people who do not always do as they are told."


class Healthy(Struct, frozen=True):
    """The service works."""

    status: str = "ok"


class Start(Struct, frozen=True):
    """What this service is, and where to go."""

    name: str
    version: str
    description: str
    docs: Annotated[str, Meta(description="The path of the API as a page.")]
    openapi: Annotated[str, Meta(description="The path of the OpenAPI document.")]
    ready: Annotated[str, Meta(description="The path that says whether the service can write.")]
    next: Annotated[str, Meta(description="What to do first.")]


class LookSummary(Struct, frozen=True):
    """A look without its arms: when it was, and what it recommends ("go on", or why to stop)."""

    look: int
    record: int
    at: datetime
    outcomes: int
    recommendations: int
    decision: str


class TrialLine(Struct, frozen=True, omit_defaults=True):
    """A trial in a list."""

    name: str
    status: str
    rehearsal: Annotated[bool, Meta(description="Not data of a trial.")] = False
    recommended_stop: (
        Annotated[LookSummary, Meta(description="Of a trial that is not closed yet. Not for sites and coordinators.")]
        | None
    ) = None
    blinded: bool = False
    recommendations: Annotated[int, Meta(description="Not for sites.")] | None = None
    waiting: Annotated[int, Meta(description="Recommendations that await a report. Not for sites.")] | None = None
    entered_in_error: Annotated[int, Meta(description="Recommendations that were slips. Not for sites.")] | None = (
        None
    )
    compliance: (
        Annotated[
            float,
            Meta(
                description="The share that took the arm recommended, of those of whom it is known what they took. "
                "Not for sites and coordinators."
            ),
        ]
        | None
    ) = None


class TrialList(Struct, frozen=True):
    """The trials a token may see."""

    trials: list[TrialLine]


class TrialView(Struct, frozen=True, omit_defaults=True):
    """A trial. Sites and coordinators see nothing that could predict the next arm, nor the arms if it is blinded."""

    name: str
    status: str
    blinded: bool
    repeats: bool
    arms: tuple[str, ...] | None = None
    strata: tuple[str, ...] = ()
    entries: Annotated[
        Entries, Meta(description="Whether a subject is entered once, again if it is confirmed (ask), or repeatedly.")
    ] = "repeated"
    policy: str | None = None
    n_patients: int | None = None
    reward_values: tuple[float, ...] | None = None
    impute: Imputation | None = None
    control: str | None = None
    update: Update | None = None
    looks: Looks | None = None
    stopping: Stopping | None = None
    estimands: tuple[Estimand, ...] | None = None
    enrolment: Enrolment | None = None
    delay: Delay | None = None
    missing: Missing | None = None
    design_digest: Annotated[str, Meta(description="The digest of the design.")] | None = None
    recommendations: int | None = None
    records: int | None = None
    head: Annotated[str, Meta(description="The hash of the log's last record.")] | None = None
    algorithm_version: str | None = None
    commitments: Annotated[
        tuple[str, ...],
        Meta(description="The digests that commit to the secrets of all epochs. Not for sites and coordinators."),
    ] = ()
    revealed: Annotated[bool, Meta(description="Whether its secrets were revealed, after it was closed.")] = False
    last_look: Annotated[LookSummary, Meta(description="Not for sites and coordinators.")] | None = None
    recommended_stop: (
        Annotated[LookSummary, Meta(description="Closing the trial confirms it. Not for sites and coordinators.")]
        | None
    ) = None
    rehearsal: Annotated[bool, Meta(description="Not data of a trial.")] = False
    outcome_words: Annotated[
        dict[str, float], Meta(description="What sites read for each of the reward_values, the worst first.")
    ] = {}
    lower_is_better: Annotated[bool, Meta(description="A reward y is read as 1 - y.")] = False


class SiteList(Struct, frozen=True):
    """The sites of a trial, by name: those with a token for it or for all trials, and those that entered subjects."""

    sites: list[str]
    required: Annotated[
        bool,
        Meta(
            description="Whether a subject must be entered for one of them: if one has a token for this trial only, "
            "or has entered a subject."
        ),
    ]


class LookList(Struct, frozen=True):
    """The looks at a trial so far."""

    looks: list[LookView]
    rehearsal: bool = False


class DesignView(Design, frozen=True, forbid_unknown_fields=False, omit_defaults=False):
    """A trial's design."""


class TrialCreated(Struct, frozen=True):
    """A new trial: the record of its creation, and its design with all defaults filled in."""

    record: int
    design: DesignView
    design_digest: Annotated[str, Meta(description="Equal designs have the same; it is in the trial's first record.")]
    warnings: Annotated[tuple[str, ...], Meta(description="What is hardly meant: looks that can never stop it.")] = ()


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
    """How a recommendation was derived: enough to derive it again."""

    arm: str
    subject: Annotated[str, Meta(description="The key that stands for the subject in the log.")]
    site: str
    probabilities: dict[str, float]
    memo: tuple[float, ...]
    learned_up_to: Annotated[int, Meta(description="The last record the policy had learned from.")]
    estimated: bool
    algorithm_version: str
    software: str
    history: list[HistoryLine]
    kit: str | None = None
    fallback: Annotated[str, Meta(description="Why all arms had equal probabilities.")] | None = None
    imputed: Annotated[tuple[str, ...], Meta(description="What was imputed.")] = ()


class RecordedLine(Struct, frozen=True, omit_defaults=True):
    """One record about a recommendation: reported, corrected, withdrawn, entered-in-error or unblinded."""

    event: str
    at: datetime
    by: Annotated[str, Meta(description="The label of the token; to a site, the role of anybody else.")]
    took: Annotated[str, Meta(description="arm, kit, nothing or other")] | None = None
    actual: (
        Annotated[str, Meta(description="The arm; in a blinded trial a site is shown the kit that was named.")] | None
    ) = None
    took_other: Annotated[str, Meta(description="The words for something else, unless they were erased.")] | None = (
        None
    )
    kit: Annotated[str, Meta(description="The kit that was named, or unblinded.")] | None = None
    reward: float | None = None
    happened: datetime | None = None
    retract: tuple[str, ...] = ()
    reason: Annotated[str, Meta(description="In a blinded trial a site is shown its own reasons only.")] | None = None


class RecommendationView(Struct, frozen=True, omit_defaults=True):
    """A recommendation and its reports; took is arm, kit, nothing or other."""

    recommendation_id: str
    at: datetime
    open: bool
    withdrawn: bool
    in_error: Annotated[bool, Meta(description="Entered in error: a slip.")] = False
    arm: str | None = None
    kit: str | None = None
    took: str | None = None
    actual: (
        Annotated[str, Meta(description="The arm; in a blinded trial a site is shown the kit that was named.")] | None
    ) = None
    took_other: Annotated[str, Meta(description="The words for something else, unless they were erased.")] | None = (
        None
    )
    reward: float | None = None
    stratum: str | None = None
    recorded: Annotated[
        tuple[RecordedLine, ...],
        Meta(description="What was recorded since; to a site, what it or an admin recorded."),
    ] = ()
    derivation: Annotated[Derivation, Meta(description="Not for sites.")] | None = None


class AccessLine(Struct, frozen=True, omit_defaults=True):
    """A read, or all reads of one kind by a token in ten minutes."""

    id: int
    at: Annotated[str, Meta(description="Of reads counted together, the beginning of their ten minutes.")]
    token: int
    label: Annotated[str, Meta(description="Of the token.")]
    kind: Annotated[
        str, Meta(description="What was read: trial, results, export, recommendation, records and others.")
    ]
    head: Annotated[str, Meta(description="The hash of the log's last record then: nothing after it was seen.")]
    count: int
    recommendation_id: str | None = None


class AccessList(Struct, frozen=True, omit_defaults=True):
    """The access log of a trial, or a part of it."""

    accesses: list[AccessLine]
    next: Annotated[int, Meta(description="If there may be more: the value of after for them.")] | None = None


class TokenCreated(Struct, frozen=True, omit_defaults=True):
    """A new token. Its text is shown only here."""

    id: int
    token: str
    role: Role
    label: str
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None


class LinkCreated(Struct, frozen=True):
    """A one-time link to sign in, with the rights of a token. It is shown only here."""

    path: Annotated[
        str,
        Meta(description="Its path on this service, with its secret in the fragment, which browsers send to nobody."),
    ]
    expires_at: str


class TokenLine(Struct, frozen=True, omit_defaults=True):
    """A token in a list."""

    id: int
    role: str
    label: str
    made_at: str
    status: Status
    site: str | None = None
    trial: str | None = None
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: Annotated[str, Meta(description="To about a minute.")] | None = None


class TokenList(Struct, frozen=True):
    """All tokens, including expired and revoked ones."""

    tokens: list[TokenLine]
