"""Missing outcomes and missing reports of what was taken: how many, and how much they could change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adhere.analysis.bounding.extreme_cases import ExtremeCase as ExtremeCase
from adhere.analysis.bounding.extreme_cases import extreme_cases
from adhere.analysis.bounding.missing_words import missing_sentence
from adhere.analysis.cells import cells_of
from adhere.analysis.flow import flow
from adhere.analysis.missing_outcomes.loss import LossByTaken, loss_by_taken, missing_shares
from adhere.analysis.missing_outcomes.sensitivity import Sensitivity, sensitivity
from adhere.analysis.records import Records


@dataclass(frozen=True)
class Missing:
    """Numbers of missing and imputed outcomes and reports of what was taken, by arm, and what depends on them.

    `extremes` are worst-case bounds; `sensitivity` has complete cases, latent ignorability and tipping points; `loss`
    is the test of whether loss depends on what was taken, None where it cannot be made.
    """

    outcomes: Mapping[str, int]
    taken: Mapping[str, int]
    imputed_outcomes: Mapping[str, int]
    imputed_taken: Mapping[str, int]
    extremes: tuple[ExtremeCase, ...]
    sentence: str
    sensitivity: Sensitivity = field(default_factory=Sensitivity)
    loss: LossByTaken | None = None
    shares_within_strata: Mapping[str, float] = field(default_factory=dict)


def missing(records: Records, *, adaptive: bool, level: float = 0.95, by_patients: bool = False) -> Missing:
    """Count what is missing, and say what depends on it; `adaptive` makes the limits of bounds any-time valid.

    There are worst-case bounds for the pairs of arms of which anything is missing, by intention-to-treat; and for
    compliers where there are two arms and it is certain that more of those assigned to the treatment took it.
    `by_patients` weights strata as `effects` does.
    """
    counts = flow(records, level).arms
    outcomes = {arm.arm: arm.outcome_missing for arm in counts}
    taken = {arm.arm: arm.not_reported + arm.lost for arm in counts}
    imputed_outcomes = {arm.arm: arm.outcome_imputed for arm in counts}
    imputed_taken = {arm.arm: arm.taken_imputed for arm in counts}
    extremes = extreme_cases(records, adaptive, level, by_patients)
    sentence = missing_sentence(records.n_patients, outcomes, taken, imputed_outcomes, imputed_taken, extremes)
    cells = cells_of(records)
    return Missing(
        outcomes,
        taken,
        imputed_outcomes,
        imputed_taken,
        extremes.cases,
        sentence,
        sensitivity(cells, level, by_patients=by_patients),
        loss_by_taken(cells),
        missing_shares(cells) if by_patients else {},
    )
