"""Bounds on each arm's mean and each average effect, whoever did not take what they were told and why."""

from __future__ import annotations

from dataclasses import dataclass

from adhere.analysis.confidence_set import ConfidenceSet
from adhere.analysis.instrumental_inequality import InstrumentalInequality


@dataclass(frozen=True)
class Bound:
    """Between which values a mean or an average effect of the whole population lies.

    Parameters
    ----------
    quantity
        "mean", of everybody taking `treatment`; or "effect", of everybody taking `treatment` instead of `control`.
    assumption
        "none" but that what people were told matters only through what they took; or "monotonicity": besides,
        whoever takes an arm when told another one takes it when told it (for two arms: there are no defiers).
    low, high
        The bounds by the observed shares; None where `reason` says why there are none.
    limits
        What the bounds are with the sampling error of the shares; empty where the data refute the assumption.

    """

    quantity: str
    treatment: str
    control: str | None
    assumption: str
    low: float | None
    high: float | None
    limits: ConfidenceSet | None
    reason: str = ""


@dataclass(frozen=True)
class Bounds:
    """Every mean and effect between its bounds, without and with monotonicity, and the test of the assumption."""

    bounds: tuple[Bound, ...]
    inequality: InstrumentalInequality
    notes: tuple[str, ...] = ()
