"""Missing outcomes and reports of treatment taken: how many, what missingness depends on, and its possible effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from adhere.analysis.cells import Cells, cells_of
from adhere.analysis.estimates import View
from adhere.analysis.flow import flow
from adhere.analysis.formatting import p_value, signed
from adhere.analysis.missing_outcomes.sensitivity import Sensitivity, sensitivity
from adhere.analysis.missing_outcomes.worst_case import ExtremeCase, extreme_cases
from adhere.analysis.records import TOOK_NOTHING, TOOK_OTHER, Floats, Records
from adhere.analysis.sentences import say
from adhere.report.numbers import counted


@dataclass(frozen=True)
class Missing:
    """Numbers of missing and imputed reports by arm, and how much they could change the effects.

    `extremes` are worst-case bounds. `sensitivity` has complete cases, latent ignorability and tipping points. `loss`
    is the test of whether missing outcomes depend on the treatment taken, or None if it cannot be made.
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
    """Count missing reports and compute how much they could change the effects.

    Every pair of arms with a missing report has worst-case bounds by intention-to-treat. Effects on compliers have
    these bounds if there are two arms and assignment certainly made more patients take the treatment. `adaptive`
    makes the limits of bounds any-time valid. `by_patients` weights strata like `effects`.
    """
    counts, cells = flow(records, level).arms, cells_of(records)
    extremes, why_no_compliers = extreme_cases(cells, adaptive, level, by_patients)
    found = Missing(
        outcomes={arm.arm: arm.outcome_missing for arm in counts},
        taken={arm.arm: arm.not_reported + arm.lost for arm in counts},
        imputed_outcomes={arm.arm: arm.outcome_imputed for arm in counts},
        imputed_taken={arm.arm: arm.taken_imputed for arm in counts},
        extremes=extremes,
        sentence="",
        sensitivity=sensitivity(cells, level, by_patients=by_patients),
        loss=loss_by_taken(cells),
        shares_within_strata=missing_shares(cells) if by_patients else {},
    )
    return replace(found, sentence=missing_sentence(records.n_patients, found, why_no_compliers))


_NAMED = 3  # pairs with their worst-case bounds written out, and arms named if there are many
_MAX_ARMS = 6  # up to this number, all arms are named


def missing_sentence(n_patients: int, found: Missing, why_no_compliers: str = "") -> str:
    """Return sentences on missing values, how far they could move an effect, and how many were imputed."""
    sentences = [_counts(n_patients, found.outcomes, found.taken)]
    by_strata = {case.pair for case in found.extremes if case.stratified}
    cases = [
        case
        for case in found.extremes
        if case.stratified or case.view is View.COMPLIERS or case.pair not in by_strata
    ]
    sentences += [_extreme(case) for case in cases[:_NAMED]]
    if len(cases) > _NAMED:
        most = max(case.high - case.low for case in cases)
        sentences.append(f"For no pair of arms is that range wider than {most:z.3f}.")
    if why_no_compliers:
        sentences.append(f"There are no worst-case bounds for compliers: {why_no_compliers}.")
    filled = _both(sum(found.imputed_outcomes.values()), sum(found.imputed_taken.values()))
    if filled:
        sentences.append(f"The trial's rule for missing reports filled in {filled}; they are counted as reported.")
    return " ".join(sentences)


def _counts(n_patients: int, outcomes: Mapping[str, int], taken: Mapping[str, int]) -> str:
    n_outcomes, n_taken = sum(outcomes.values()), sum(taken.values())
    if not n_patients:
        return "There are no patients."
    if not n_outcomes and not n_taken:
        return "Every outcome and treatment taken is known."
    sentences = []
    if n_outcomes:
        of_all = f"{n_outcomes:,} of {n_patients:,} outcomes {'is' if n_outcomes == 1 else 'are'} missing"
        sentences.append(f"{of_all} ({_by_arm(outcomes)}).")
    else:
        sentences.append("No outcome is missing.")
    if n_taken:
        patients = f"{n_taken:,} of {n_patients:,} patients"
        sentences.append(f"It is not known what {patients} took ({_by_arm(taken)}).")
    return " ".join(sentences)


def _by_arm(counts: Mapping[str, int]) -> str:
    most = sorted(counts.items(), key=lambda one: -one[1])[:_NAMED] if len(counts) > _MAX_ARMS else counts.items()
    more = f" and {len(counts) - _NAMED} more arms" if len(counts) > _MAX_ARMS else ""
    return ", ".join(f"{arm}: {count:,}" for arm, count in most) + more


def _extreme(case: ExtremeCase) -> str:
    what = "intention-to-treat difference" if case.view is View.INTENTION_TO_TREAT else "effect among compliers"
    what = f"stratified {what}" if case.stratified else what
    sign = "; even its sign depends on them" if case.low < 0.0 < case.high else ""
    return say("extreme_case", one=case, what=what, low=signed(case.low), high=signed(case.high), sign=sign)


def _both(n_outcomes: int, n_taken: int) -> str:
    outcomes, taken = counted(n_outcomes, "outcome"), f"what {counted(n_taken, 'patient')} took"
    return " and ".join([outcomes] * bool(n_outcomes) + [taken] * bool(n_taken))


_ALPHA: Final = 0.05
_FEWEST: Final = 5  # missing outcomes, and known ones, that an arm and stratum need to enter the test
_WITHOUT_ARM = {TOOK_NOTHING: "took nothing", TOOK_OTHER: "took something else"}


@dataclass(frozen=True)
class LossByTaken:
    """Pearson's chi-square test of missing outcomes by treatment taken, within arm assigned and stratum.

    `arm` is the arm assigned in which the shares of missing outcomes differ most. `missing_by_taken` has these shares
    by treatment taken. Patients who did not report what they took are excluded.
    """

    p_value: float
    depends: bool
    arm: str
    missing_by_taken: Mapping[str, float]
    sentence: str


def loss_by_taken(cells: Cells) -> LossByTaken | None:
    """Test whether missing outcomes depend on the treatment taken.

    Return None if too few outcomes are missing, or if all patients of an arm took the same treatment.
    """
    from scipy.special import chdtrc  # scipy.stats takes a second to import

    columns = [*range(len(cells.arms)), TOOK_OTHER, TOOK_NOTHING]
    everyone = cells.assigned[:, :, columns].astype(np.float64)
    lost = everyone - cells.n[:, :, columns]
    statistic, freedom = 0.0, 0
    for stratum, arm in np.ndindex(everyone.shape[:2]):
        n, missing = everyone[stratum, arm], lost[stratum, arm]
        if min(missing.sum(), (n - missing).sum()) >= _FEWEST and np.count_nonzero(n) > 1:
            statistic += _chi_square(n[n > 0], missing[n > 0])
            freedom += int(np.count_nonzero(n)) - 1
    if not freedom:
        return None
    p = float(chdtrc(freedom, statistic))
    arm, shares = _most_different(cells, everyone.sum(axis=0), lost.sum(axis=0), columns)
    name, depends = cells.arms[arm], p < _ALPHA
    return LossByTaken(p, depends, name, shares, _sentence(name, shares, p, depends))


def _chi_square(n: Floats, missing: Floats) -> float:
    share = missing.sum() / n.sum()
    return float(((missing - n * share) ** 2 / (n * share * (1.0 - share))).sum())


def _most_different(cells: Cells, n: Floats, lost: Floats, columns: list[int]) -> tuple[int, dict[str, float]]:
    """Return the arm with the most different shares of missing outcomes, and these shares."""
    found = []
    for arm in range(len(cells.arms)):
        took = n[arm] > 0
        is_used = np.count_nonzero(took) > 1 and 0 < lost[arm].sum() < n[arm].sum()
        found.append(_chi_square(n[arm][took], lost[arm][took]) if is_used else -1.0)
    arm = int(np.argmax(found))
    words = {place: f"took {cells.arms[place]}" for place in range(len(cells.arms))} | _WITHOUT_ARM
    return arm, {
        words[place]: float(lost[arm, column] / n[arm, column])
        for column, place in enumerate(columns)
        if n[arm, column]
    }


def _sentence(arm: str, shares: Mapping[str, float], p: float, depends: bool) -> str:
    if not depends:
        return say("loss_not_seen", p=p_value(p))
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    ends = {"most": most, "high": shares[most], "least": least, "low": shares[least]}
    return say("loss_depends", p=p_value(p), arm=arm, **ends)


def missing_shares(cells: Cells) -> dict[str, float]:
    """Return shares of missing outcomes by arm assigned, averaged over strata weighted by their patients.

    Strata that lack an arm present in other strata are excluded. The result is empty if no stratum is left.
    """
    everyone, known = (table.sum(axis=2).astype(np.float64) for table in (cells.assigned, cells.n))
    arms = np.flatnonzero(everyone.any(axis=0))
    kept = np.flatnonzero((everyone[:, arms] > 0.0).all(axis=1)) if len(arms) else arms
    if not len(kept):
        return {}
    n, weights = everyone[np.ix_(kept, arms)], cells.by_stratum_patients[kept]
    shares = weights / weights.sum() @ (1.0 - known[np.ix_(kept, arms)] / n)
    return {cells.arms[arm]: float(share) for arm, share in zip(arms, shares, strict=True)}
