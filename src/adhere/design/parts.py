"""The parts of a design: enrolment, delays, missing reports, looks and stopping rules.

Times are in days. Enrolment, delay and missing reports are expectations. A simulation uses them; in a live trial they
are whatever happens.
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
# One number for all looks, or one for each look.
Threshold: TypeAlias = float | tuple[float, ...]
MIRRORED = "1 - superiority"


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all parts of a design."""


class Imputation(Part, frozen=True):
    """Rule for missing reports: what to assume after `after_days` days (an arm taken, nothing taken, or a reward)."""

    after_days: float
    actual: str | None = None
    took_nothing: bool = False
    reward: float | bool | None = None


class Enrolment(Part, frozen=True):
    """Arrival of patients: `per_day` a day, evenly or at random (Poisson), or on given `days`, one day for each
    patient.
    """

    per_day: float = 1.0
    random: bool = False
    days: tuple[float, ...] = ()


class Delay(Part, frozen=True):
    """Number of days after which a patient's outcome is reported.

    It is exactly `days` if "fixed", uniform between 0 and twice `days` if "uniform", and `days` on average if
    "exponential". `by_arm` gives the days for some arms, by the arm chosen, if they differ from the others.
    """

    days: float = 0.0
    distribution: Distribution = "fixed"
    by_arm: Mapping[str, float] = {}


class Rate(Part, frozen=True):
    """Share of reports that stay missing: one rate, or rates by chosen arm, outcome or stratum.

    An outcome of at least 0.5 counts as a success.
    """

    rate: float = 0.0
    by_arm: Mapping[str, float] = {}
    by_stratum: Mapping[str, float] = {}
    after_failure: float | None = None
    after_success: float | None = None

    def shares(self) -> Iterator[tuple[str, float]]:
        """Yield every share, with the name of its field."""
        yield "rate", self.rate
        yield from (("by_arm", share) for share in self.by_arm.values())
        yield from (("by_stratum", share) for share in self.by_stratum.values())
        for name in ("after_failure", "after_success"):
            if (share := getattr(self, name)) is not None:
                yield name, share


class Missing(Part, frozen=True):
    """Rates at which the outcome, or what was taken, is never reported."""

    outcome: Rate = Rate()
    taken: Rate = Rate()


class Looks(Part, frozen=True):
    """Times at which the trial is looked at, given in one of three ways. The end of the trial is always a look.

    `at` lists numbers of patients with outcomes. `every` is the number of further outcomes between two looks. `days`
    lists days since the first patient. At the end, all outcomes have been reported.
    """

    at: tuple[int, ...] = ()
    every: int | None = None
    days: tuple[float, ...] = ()


class Stopping(Part, frozen=True):
    """The evidence that a look uses, and when it stops the trial or drops an arm.

    The values of `by` are:

    - "posterior": the outcomes of each arm chosen, with uniform priors
    - "belief": the policy's own posterior
    - "z-test": a test of two proportions or means, with given critical values or those of a boundary
    - "wealth": the wealth of the bets against no effect, as in the analysis' confidence sequence

    With a control, each other arm is compared with it. Without one, all arms are compared with each other.

    For "posterior" and "belief" the thresholds are probabilities. For superiority and inferiority it is the
    probability of being best, or better than the control. For equivalence it is the probability of a difference below
    `margin`, and for futility the probability of a gain above `margin`.

    For "z-test" the thresholds are critical values. They apply to both sides unless `inferiority` is given.
    Alternatively, `boundary` gives the critical values of a two-sided test at level `alpha`. "wealth" only takes
    `alpha`.
    """

    by: Evidence
    superiority: Threshold | None = None
    inferiority: Threshold | str | None = None  # or MIRRORED
    equivalence: Threshold | None = None
    futility: Threshold | None = None
    margin: float | None = None
    boundary: Boundary | None = None
    alpha: float | None = None
