"""Can what was taken be trusted: given the arm taken, does the outcome depend on the arm chosen?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adhere.analysis.confidence_set import Quantity
from adhere.analysis.records import Records


@dataclass(frozen=True)
class ArmMediation:
    """Of those who took one arm: does their outcome depend on what they were assigned?

    `n` and `means` are by the arm chosen. `log_bayes_factor` is that of confounded (a mean for each arm chosen) over
    mediated (one mean). `log_e` is the logarithm of an any-time valid e-value against mediated: refuted at
    e ≥ 1/(1 - level). `largest_difference` is the largest between the means of two arms chosen, in absolute value; it
    is `within_margin` if its whole confidence set is. All are None where nobody took the arm under two arms chosen.
    """

    arm: str
    n: Mapping[str, int]
    means: Mapping[str, Quantity]
    log_bayes_factor: float | None
    log_e: float | None
    refuted: bool | None
    largest_difference: Quantity
    within_margin: bool | None
    sentence: str


@dataclass(frozen=True)
class Mediation:
    """The same for each arm taken, and for all of them: the product of their Bayes factors, and of their e-values.

    `refuted` and `equivalent` are None where no arm can be tested. `equivalent` is True only if every arm that
    anybody took can be tested and is within the margin; that data do not refute something does not make it true.
    """

    margin: float
    level: float
    arms: tuple[ArmMediation, ...]
    log_bayes_factor: float | None
    log_e: float | None
    refuted: bool | None
    equivalent: bool | None
    sentence: str


def mediation(records: Records, *, adaptive: bool, margin: float = 0.05, level: float = 0.95) -> Mediation:
    """Test each arm taken; `adaptive` makes the limits of the differences any-time valid."""
    raise NotImplementedError
