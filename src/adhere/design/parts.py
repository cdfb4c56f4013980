"""The parts of a design: who comes when, what is heard back, when one looks, and when one stops.

Times are in days. Enrolment, delay and missing reports are what a design expects; a simulation plays them, and a live
trial has its own.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from adhere.looks.group_sequential import Boundary as Boundary

Update: TypeAlias = Literal["every patient", "at looks"]
Entries: TypeAlias = Literal["once", "ask", "repeated"]
Evidence: TypeAlias = Literal["posterior", "belief", "z-test", "wealth"]
Distribution: TypeAlias = Literal["fixed", "uniform", "exponential"]
Estimand: TypeAlias = Literal["intention-to-treat", "compliers"]
# One number for all looks, or one for each.
Threshold: TypeAlias = float | tuple[float, ...]
MIRRORED = "1 - superiority"


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts of a design."""


class Imputation(Part, frozen=True):
    """The rule for missing reports: what to assume after so many days (an arm taken, nothing taken, a reward)."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | bool | None = None


class Enrolment(Part, frozen=True):
    """When patients come: so many a day, evenly or at random (Poisson), or on given days, one for each patient."""

    per_day: float = 1.0
    random: bool = False
    days: tuple[float, ...] = ()


class Delay(Part, frozen=True):
    """After how many days the outcome of a patient is reported.

    "fixed" is after `days` exactly, "uniform" between 0 and twice that, "exponential" after that on average. `by_arm`
    has the days of arms that differ from the others, by the arm chosen.
    """

    days: float = 0.0
    distribution: Distribution = "fixed"
    by_arm: Mapping[str, float] = {}


class Rate(Part, frozen=True):
    """How often something stays missing: one rate, or one for each arm chosen, outcome or stratum.

    An outcome of at least a half counts as a success.
    """

    rate: float = 0.0
    by_arm: Mapping[str, float] = {}
    by_stratum: Mapping[str, float] = {}
    after_failure: float | None = None
    after_success: float | None = None

    def shares(self) -> Iterator[tuple[str, float]]:
        """Every share that stays missing, with the name of its field."""
        yield "rate", self.rate
        yield from (("by_arm", share) for share in self.by_arm.values())
        yield from (("by_stratum", share) for share in self.by_stratum.values())
        for name in ("after_failure", "after_success"):
            if (share := getattr(self, name)) is not None:
                yield name, share


class Missing(Part, frozen=True):
    """How often the outcome is never reported, and how often what was taken is not."""

    outcome: Rate = Rate()
    taken: Rate = Rate()


class Looks(Part, frozen=True):
    """When the trial is looked at: one of three ways. The end of the trial, with all outcomes in, is always a look.

    `at` are numbers of patients with outcomes, `every` so many of them, `days` are days since the first patient.
    """

    at: tuple[int, ...] = ()
    every: int | None = None
    days: tuple[float, ...] = ()


class Stopping(Part, frozen=True):
    """What a look decides by, and when it stops the trial or drops an arm.

    `by` is "posterior" (the outcomes of each arm chosen, with uniform priors), "belief" (what the policy itself
    believes), "z-test" (two proportions or means, with the critical values of a boundary) or "wealth" (of the bets
    against no effect of the analysis' confidence sequence).

    With a control, each other arm is compared with it; without one, all arms are compared with one another. For
    "posterior" and "belief" the thresholds are probabilities: of being best (or better than the control) for
    superiority and inferiority, of a difference below `margin` for equivalence, of a gain above `margin` for
    futility. For "z-test" they are critical values, on both sides unless `inferiority` has others, or `boundary`
    gives those of a two-sided test at level `alpha`. For "wealth" there is `alpha` only.
    """

    by: Evidence
    superiority: Threshold | None = None
    inferiority: Threshold | str | None = None  # or MIRRORED
    equivalence: Threshold | None = None
    futility: Threshold | None = None
    margin: float | None = None
    boundary: Boundary | None = None
    alpha: float | None = None
