"""Designs and the policies they may name."""

from __future__ import annotations

from typing import Any

import msgspec

from adhere_client.answers.answer import Answer


class Imputation(Answer, frozen=True):
    """The rule for missing reports: what to assume after so many days (an arm taken, nothing taken, a reward)."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | None = None


class Design(Answer, frozen=True):
    """A trial's design with all defaults filled in."""

    name: str
    policy: str
    arms: tuple[str, ...]
    n_patients: int | None = None
    reward_values: tuple[float, ...] = (0.0, 1.0)
    blinded: bool = False
    repeats: bool = False
    entries: str = "repeated"
    impute: Imputation | None = None
    control: str | None = None
    strata: tuple[str, ...] = ()
    update: str = "every patient"
    looks: dict[str, Any] = msgspec.field(default_factory=dict)
    stopping: dict[str, Any] | None = None
    estimands: tuple[str, ...] = ("intention-to-treat", "compliers")
    enrolment: dict[str, Any] = msgspec.field(default_factory=dict)
    delay: dict[str, Any] = msgspec.field(default_factory=dict)
    missing: dict[str, Any] = msgspec.field(default_factory=dict)
    rehearsal: bool = False
    outcome_words: dict[str, float] = msgspec.field(default_factory=dict)
    lower_is_better: bool = False


class CheckedDesign(Answer, frozen=True):
    """A valid design, of which no trial was created: its digest, what it says in sentences, warnings, its file."""

    design: Design
    design_digest: str
    description: tuple[str, ...]
    warnings: tuple[str, ...]
    file: str


class PolicyParameter(Answer, frozen=True):
    """A parameter of a policy; without a default it is required, or the policy sets it."""

    name: str
    meaning: str
    expected: str
    required: bool
    default: str | None = None


class PolicyDetails(Answer, frozen=True):
    """A policy: what it does, its parameters, and what it needs of a trial."""

    name: str
    kind: str
    summary: str
    example: str
    parameters: list[PolicyParameter]
    protocols: tuple[str, ...]
    needs_n_patients: bool
    states_probabilities: bool | None = None
