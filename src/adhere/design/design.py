"""The design of a trial: fixed before the first patient, used for simulations, and stored in the first record of its
log.

The key of the trial's random numbers is not part of the design. It is a secret, drawn when a trial is created.
"""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
import tomli_w
from msgspec import Meta

from adhere.checks import MAX_COUNT, MAX_NAME_LENGTH
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
    """Return a design, or a part of one, as plain values, without fields at their defaults."""
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


def difference(design: msgspec.Struct, other: msgspec.Struct) -> str:
    """Describe the first field in which two designs differ; return an empty text if there is none."""
    for field in msgspec.structs.fields(design):
        mine, theirs = (plain(getattr(one, field.name)) for one in (design, other))
        if mine != theirs:
            return f"{field.name} is {short(mine)}, there {short(theirs)}"
    return ""


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


class Design(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Design of a trial: its name, policy and arms, and how it is run.

    Call `load_design` to read and check one. The request that creates a trial has the same fields.

    Parameters
    ----------
    name : str
        Name of the trial, without a slash.
    policy : str
        Text of the policy.
    arms : tuple of str
        Names of 2 to 100 arms.
    n_patients : int, optional
        Largest number of patients.
    reward_values : tuple of float, default (0, 1)
        Every outcome that can occur.
    blinded : bool, default False
        Whether sites receive the code of a kit instead of the arm.
    repeats : bool, default False
        Whether a subject may get another recommendation while one is open.
    entries : {"once", "ask", "repeated"}, default "repeated"
        Whether a subject with a complete recommendation can be entered again.
    impute : Imputation, optional
        Rule for missing reports. By default they stay missing.
    control : str, optional
        Arm that the others are compared with.
    strata : tuple of str, default ()
        Groups of patients that the burn-in balances separately.
    update : {"every patient", "at looks"}, default "every patient"
        When the probabilities of arms change.
    looks : Looks, optional
        Times at which the trial is looked at. The end is always a look.
    stopping : Stopping, optional
        Rule by which a look stops the trial.
    estimands : tuple of str, default ("intention-to-treat", "compliers")
        Effects that are estimated.
    enrolment : Enrolment, optional
        Expected arrival of patients, for simulations.
    delay : Delay, optional
        Expected delay of outcomes, for simulations.
    missing : Missing, optional
        Expected share of missing reports, for simulations.
    rehearsal : bool, default False
        Whether the trial is for practice only.
    outcome_words : dict of str to float, default {}
        Words that sites read for each of the `reward_values`.
    lower_is_better : bool, default False
        Whether a lower outcome is better. An outcome y is then read as 1 − y wherever it is learned from, looked at
        or analysed. Reports and the log contain y itself.

    See Also
    --------
    load_design : Read a design from a file.
    evaluate : Simulate trials of a design.

    Examples
    --------
    >>> from adhere import Design
    >>> design = Design("headache", "thompson", ("walk", "aspirin"), n_patients=200)
    >>> design.update, len(design.digest)
    ('every patient', 64)
    >>> print(design.to_toml())
    name = "headache"
    policy = "thompson"
    arms = [
        "walk",
        "aspirin",
    ]
    n_patients = 200
    <BLANKLINE>

    """

    name: Annotated[
        str,
        Meta(
            description="Unique, without a slash.", extra_json_schema={"minLength": 1, "maxLength": MAX_NAME_LENGTH}
        ),
    ]
    policy: Annotated[
        str,
        Meta(
            description="In text, e.g. thompson; the command adhere policies lists them.",
            examples=["thompson"],
            max_length=1000,
            extra_json_schema={"minLength": 1},
        ),
    ]
    arms: Annotated[tuple[str, ...], Meta(description="The names of the arms, 2 to 100.")]
    n_patients: Annotated[
        int | None,
        Meta(
            description="The largest number of patients; looks and some policies need it.",
            extra_json_schema={"minimum": 1, "exclusiveMaximum": MAX_COUNT},
        ),
    ] = None
    reward_values: Annotated[
        tuple[float, ...], Meta(description="Every reward that can occur; only policies that recycle need it.")
    ] = (0.0, 1.0)
    blinded: Annotated[bool, Meta(description="Sites get kit codes instead of arms.")] = False
    repeats: Annotated[
        bool,
        Meta(description="A subject may get another recommendation while one is open, not only once it is reported."),
    ] = False
    entries: Annotated[
        Entries,
        Meta(
            description="Whether a subject whose report is complete, or who is lost to follow-up, gets another "
            "recommendation: never (once), if the request says again (ask), or always (repeated)."
        ),
    ] = "repeated"
    impute: Annotated[Imputation | None, Meta(description="What to assume where reports stay missing.")] = None
    control: Annotated[str | None, Meta(description="The arm that the others are compared with.")] = None
    strata: Annotated[tuple[str, ...], Meta(description="Groups of patients whose burn-in is balanced in each.")] = ()
    update: Annotated[
        Update, Meta(description="Whether probabilities follow every report, or change at looks only.")
    ] = "every patient"
    looks: Annotated[Looks, Meta(description="When the trial is looked at; its end is always a look.")] = Looks()
    stopping: Annotated[Stopping | None, Meta(description="What a look decides by, and when it stops.")] = None
    estimands: Annotated[tuple[Estimand, ...], Meta(description="What the analysis estimates.")] = (
        "intention-to-treat",
        "compliers",
    )
    enrolment: Annotated[Enrolment, Meta(description="When patients are expected; for simulations.")] = Enrolment()
    delay: Annotated[Delay, Meta(description="When outcomes are expected; for simulations.")] = Delay()
    missing: Annotated[Missing, Meta(description="What is expected to stay missing; for simulations.")] = Missing()
    rehearsal: Annotated[bool, Meta(description="To try things out: marked everywhere as no trial's data.")] = False
    outcome_words: Annotated[
        dict[str, float],
        Meta(description="What sites read for each of the reward_values.", examples=[{"died": 0, "alive": 1}]),
    ] = {}
    lower_is_better: Annotated[
        bool, Meta(description="A lower reward is better, as where 1 is a death: a reward y is read as 1 - y.")
    ] = False

    @property
    def digest(self) -> str:
        """SHA-256 of the design as JSON, with sorted names, without defaults; part of a trial's first record."""
        return hashlib.sha256(msgspec.json.encode(plain(self), order="sorted")).hexdigest()

    def to_toml(self) -> str:
        """Return the design as text in TOML, which `load_design` reads. Fields at their defaults are omitted."""
        return tomli_w.dumps(plain(self))

    def to_json(self) -> str:
        """Return the design as JSON, which `load_design` reads and `POST /trials` accepts."""
        return msgspec.json.format(msgspec.json.encode(plain(self)), indent=2).decode() + "\n"

    def policy_in_trial(self) -> PolicyInTrial:
        """Return the policy, assembled for the arms, patients and rewards of this design."""
        return PolicyInTrial(
            self.policy,
            self.arms,
            n_patients=self.n_patients,
            reward_values=self.reward_values,
            lower_is_better=self.lower_is_better,
        )
