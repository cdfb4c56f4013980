"""The design of a trial: fixed before the first patient, simulated as it is run, in the first record of its log.

What its random numbers are keyed by is no part of it: a secret is drawn when a trial is created.
"""

from __future__ import annotations

import msgspec

from adhere.design.design_text import digest_of, json_of, toml_of
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
