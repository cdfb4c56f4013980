"""Response bodies of designs and policies."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from adhere.service.api.responses import DesignView


class DesignChecked(Struct, frozen=True):
    """A valid design with all defaults filled in, of which no trial was created."""

    design: DesignView
    design_digest: Annotated[str, Meta(description="Equal designs have the same; a trial of it has it too.")]
    description: Annotated[tuple[str, ...], Meta(description="What the design says, in sentences.")]
    warnings: Annotated[tuple[str, ...], Meta(description="What is hardly meant: looks that can never stop it.")]
    file: Annotated[str, Meta(description="The text of its file, in TOML, without what has its default value.")]


class ParameterView(Struct, frozen=True):
    """A parameter of a policy; without a default it is required, or the policy sets it."""

    name: str
    meaning: str
    expected: Annotated[str, Meta(description="What it must be, in words.")]
    required: bool
    default: str | None = None


class PolicyView(Struct, frozen=True):
    """A policy: what it does, its parameters, and what it needs of a trial."""

    name: str
    kind: Annotated[str, Meta(description="learner, learner that sees both arms, hybrid or guard.")]
    summary: str
    example: Annotated[str, Meta(description="How a design writes it.")]
    parameters: list[ParameterView]
    protocols: Annotated[
        tuple[str, ...], Meta(description="Which arm is credited with a reward, after a slash; the default first.")
    ]
    needs_n_patients: Annotated[bool, Meta(description="Whether n_patients is needed, unless a parameter says it.")]
    states_probabilities: Annotated[
        bool | None, Meta(description="If not, they are estimated by drawing; null: as what is inside it does.")
    ] = None


class PolicyList(Struct, frozen=True):
    """Every policy that a design of this service may name."""

    policies: list[PolicyView]
