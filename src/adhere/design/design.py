"""The design of a trial: fixed before the first patient, simulated as it is run, in the first record of its log.

What its random numbers are keyed by is no part of it: a secret is drawn when a trial is created.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import tomli_w

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
from adhere.design.policy_in_trial import PolicyInTrial
from adhere.errors import short


def plain(part: Any) -> Any:
    """A design, or a part of one, as dictionaries, lists, numbers and texts, without what has its default value."""
    if isinstance(part, msgspec.Struct):
        told = {
            field.name: value
            for field in msgspec.structs.fields(part)
            if (value := getattr(part, field.name)) != _default(field)
        }
        return plain(told)
    if isinstance(part, Mapping):
        return {name: plain(value) for name, value in part.items()}
    if isinstance(part, (tuple, list)):
        return [plain(value) for value in part]
    return part.item() if isinstance(part, np.generic) else part


def digest_of(design: msgspec.Struct) -> str:
    """The SHA-256 of a design in JSON with sorted names and without defaults."""
    return hashlib.sha256(msgspec.json.encode(plain(design), order="sorted")).hexdigest()


def json_of(design: msgspec.Struct) -> str:
    """A design in JSON, one line for each field."""
    return msgspec.json.format(msgspec.json.encode(plain(design)), indent=2).decode() + "\n"


def toml_of(design: msgspec.Struct) -> str:
    """A design in TOML, its own fields first."""
    return tomli_w.dumps(plain(design))


def difference(design: msgspec.Struct, other: msgspec.Struct) -> str:
    """Which field of two designs differs first, in words; nothing if none does."""
    for field in msgspec.structs.fields(design):
        mine, theirs = (plain(getattr(one, field.name)) for one in (design, other))
        if mine != theirs:
            return f"{field.name} is {short(mine)}, there {short(theirs)}"
    return ""


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A trial's name, policy and arms, and how it is run.

    `n_patients` is the largest number of patients. With `blinded`, sites get a kit code instead of the arm. With
    `repeats`, a subject may get another recommendation while one is open; `entries` says whether there is another
    after that: never ("once"), if the site confirms it ("ask"), or always. Without `impute`, a missing report stays
    missing. `outcome_words` are what sites read for each of the `reward_values`. With `lower_is_better` an outcome y
    is read as 1 − y wherever one is learned from, looked at or analysed; reports and the log have y itself. A
    `rehearsal` is there to try things out: its data are not those of a trial. `make_design` makes one that is valid.
    """

    name: str
    policy: str
    arms: tuple[str, ...]
    n_patients: int | None = None
    reward_values: tuple[float, ...] = (0.0, 1.0)
    blinded: bool = False
    repeats: bool = False
    entries: Entries = "repeated"
    impute: Imputation | None = None
    control: str | None = None
    strata: tuple[str, ...] = ()
    update: Update = "every patient"
    looks: Looks = Looks()
    stopping: Stopping | None = None
    estimands: tuple[Estimand, ...] = ("intention-to-treat", "compliers")
    enrolment: Enrolment = Enrolment()
    delay: Delay = Delay()
    missing: Missing = Missing()
    rehearsal: bool = False
    outcome_words: dict[str, float] = {}
    lower_is_better: bool = False

    @property
    def digest(self) -> str:
        """What stands for the design in the first record of a trial: equal designs have the same."""
        return digest_of(self)

    def to_toml(self) -> str:
        """The design as `load_design` reads it, without what has its default value."""
        return toml_of(self)

    def to_json(self) -> str:
        """The same in JSON, which is also what `POST /trials` takes."""
        return json_of(self)

    def policy_in_trial(self) -> PolicyInTrial:
        """Return the policy, assembled for the arms, patients and rewards of this design."""
        return PolicyInTrial(
            self.policy,
            self.arms,
            n_patients=self.n_patients,
            reward_values=self.reward_values,
            lower_is_better=self.lower_is_better,
        )
