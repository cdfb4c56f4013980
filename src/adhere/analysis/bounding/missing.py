"""Missing outcomes and missing reports of what was taken: how many, and how much they could change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adhere.analysis.bounding.extreme_cases import ExtremeCase as ExtremeCase
from adhere.analysis.bounding.extreme_cases import extreme_cases
from adhere.analysis.bounding.missing_words import missing_sentence
from adhere.analysis.flow import flow
from adhere.analysis.records import Records


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
    """Count what is missing, and bound effects by extreme cases; `adaptive` makes the limits any-time valid.

    There are extreme cases for the pairs of arms of which anything is missing, by intention-to-treat; and for
    compliers where there are two arms and it is certain that more of those assigned to the treatment took it.
    """
    counts = flow(records, level).arms
    outcomes = {arm.arm: arm.outcome_missing for arm in counts}
    taken = {arm.arm: arm.not_reported + arm.lost for arm in counts}
    imputed_outcomes = {arm.arm: arm.outcome_imputed for arm in counts}
    imputed_taken = {arm.arm: arm.taken_imputed for arm in counts}
    extremes = extreme_cases(records, adaptive, level)
    sentence = missing_sentence(records.n_patients, outcomes, taken, imputed_outcomes, imputed_taken, extremes)
    return Missing(outcomes, taken, imputed_outcomes, imputed_taken, extremes.cases, sentence)
