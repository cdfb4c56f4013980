"""Missing outcomes and missing reports of what was taken: how many, and how much they could change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adhere.analysis.confidence_set import ConfidenceSet
from adhere.analysis.records import Records
from adhere.analysis.view import View


@dataclass(frozen=True)
class ExtremeCase:
    """An effect with every missing value at its worst (`low`) and at its best (`high`) for the treatment.

    `limits` reaches from the lower end of the confidence interval at the worst to the upper end of that at the best.
    """

    view: View
    treatment: str
    control: str
    low: float
    high: float
    limits: ConfidenceSet


@dataclass(frozen=True)
class Missing:
    """How many outcomes and reports of what was taken are missing or imputed, by arm assigned, and extreme cases."""

    outcomes: Mapping[str, int]
    taken: Mapping[str, int]
    imputed_outcomes: Mapping[str, int]
    imputed_taken: Mapping[str, int]
    extremes: tuple[ExtremeCase, ...]
    sentence: str


def missing(records: Records, *, adaptive: bool, level: float = 0.95) -> Missing:
    """Count what is missing, and bound effects by extreme cases; `adaptive` makes the limits any-time valid."""
    raise NotImplementedError
