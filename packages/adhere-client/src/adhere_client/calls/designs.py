"""Designs: trials created by them, designs checked, and the policies they may name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from adhere_client.answers.designs import CheckedDesign, Design, Imputation, PolicyDetails
from adhere_client.calls.lists import list_of
from adhere_client.design_files import AnyDesign, fields_of
from adhere_client.request import Request, Steps, ask, get


class _Created(msgspec.Struct):
    design: Design


class _PolicyList(msgspec.Struct):
    policies: list[PolicyDetails]


def create_trial(
    name: str,
    policy: object,
    arms: Sequence[str],
    *,
    n_patients: int | None = None,
    reward_values: Sequence[float] = (0.0, 1.0),
    blinded: bool = False,
    repeats: bool = False,
    entries: str = "repeated",
    impute: Mapping[str, Any] | Imputation | None = None,
    control: str | None = None,
    strata: Sequence[str] = (),
    update: str = "every patient",
    looks: Mapping[str, Any] | None = None,
    stopping: Mapping[str, Any] | None = None,
    estimands: Sequence[str] = ("intention-to-treat", "compliers"),
    enrolment: Mapping[str, Any] | None = None,
    delay: Mapping[str, Any] | None = None,
    missing: Mapping[str, Any] | None = None,
    rehearsal: bool = False,
    outcome_words: Mapping[str, float] | None = None,
    lower_is_better: bool = False,
    seed: int | None = None,
) -> Steps[Design]:
    """Create a trial; returns its design with all defaults filled in. The same again changes nothing.

    A seed is for rehearsals only: any other trial draws a secret of its own, by which nobody can predict an arm.
    """
    body = {
        "name": name,
        "policy": str(policy),
        "arms": list_of("arms", arms, 'names, such as ["walk", "aspirin"]'),
        "n_patients": n_patients,
        "reward_values": list_of("reward_values", reward_values, "numbers from 0 to 1"),
        "blinded": blinded,
        "repeats": repeats,
        "entries": entries,
        "impute": dict(impute) if isinstance(impute, Mapping) else impute,
        "control": control,
        "strata": list_of("strata", strata, 'names, such as ["under 60", "60 and over"]'),
        "update": update,
        "looks": looks,
        "stopping": stopping,
        "estimands": list_of("estimands", estimands, 'names, such as ["intention-to-treat"]'),
        "enrolment": enrolment,
        "delay": delay,
        "missing": missing,
        "rehearsal": rehearsal,
        "outcome_words": outcome_words,
        "lower_is_better": lower_is_better,
        "seed": None if seed is None else str(seed),
    }
    created = yield from ask(Request("POST", "/trials", _Created, body))
    return created.design


def create_trial_from(design: AnyDesign, *, seed: int | None = None) -> Steps[Design]:
    """Create the trial of a design: a .toml or .json file, a mapping, or an `adhere.Design`.

    The rest as for `create_trial`.
    """
    body = {**fields_of(design), "seed": None if seed is None else str(seed)}
    created = yield from ask(Request("POST", "/trials", _Created, body))
    return created.design


def check_design(design: AnyDesign) -> Steps[CheckedDesign]:
    """Check a design, as for `create_trial_from`, without creating a trial."""
    return ask(Request("POST", "/designs", CheckedDesign, {"design": fields_of(design)}))


def policies() -> Steps[list[PolicyDetails]]:
    """Every policy that a design may name."""
    found = yield from get("/policies", _PolicyList)
    return found.policies
