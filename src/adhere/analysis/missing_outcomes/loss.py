"""Whether loss of outcomes depends on what was taken: a test, and a sentence with the shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from adhere.analysis.cells import Cells
from adhere.analysis.output.texts import p_value
from adhere.analysis.records import TOOK_NOTHING, TOOK_OTHER, Floats

_ALPHA: Final = 0.05
_FEWEST: Final = 5  # missing, and known, outcomes of an arm and stratum that the test uses
_WITHOUT_ARM = {TOOK_NOTHING: "took nothing", TOOK_OTHER: "took something else"}


@dataclass(frozen=True)
class LossByTaken:
    """Pearson's chi-square test of missing outcome by what was taken, within arm assigned and stratum.

    `missing_by_taken` has the shares of missing outcomes by what was taken, among patients assigned `arm`, the arm in
    which the shares differ most. Patients who did not report what they took do not count.
    """

    p_value: float
    depends: bool
    arm: str
    missing_by_taken: Mapping[str, float]
    sentence: str


def loss_by_taken(cells: Cells) -> LossByTaken | None:
    """Test whether loss depends on what was taken; None if too little is missing, or all of an arm took the same."""
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
    """The arm whose shares of missing outcomes stand out most from each other, and these shares."""
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
        return f"It is not seen that loss depends on what was taken (p {p_value(p)})."
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    return (
        f"Loss depends on what was taken (p {p_value(p)}): of those assigned {arm}, outcomes are missing for "
        f"{shares[most]:.0%} of those who {most}, and for {shares[least]:.0%} of those who {least}. Complete cases, "
        "and every view that leaves the missing out, can be biased by that."
    )


def missing_shares(cells: Cells) -> dict[str, float]:
    """Shares of missing outcomes by arm assigned, averaged over strata by their patients.

    Strata that lack an arm that others have do not count; the result is empty if there are no others.
    """
    everyone, known = (table.sum(axis=2).astype(np.float64) for table in (cells.assigned, cells.n))
    arms = np.flatnonzero(everyone.any(axis=0))
    kept = np.flatnonzero((everyone[:, arms] > 0.0).all(axis=1)) if len(arms) else arms
    if not len(kept):
        return {}
    n, weights = everyone[np.ix_(kept, arms)], cells.by_stratum_patients[kept]
    shares = weights / weights.sum() @ (1.0 - known[np.ix_(kept, arms)] / n)
    return {cells.arms[arm]: float(share) for arm, share in zip(arms, shares, strict=True)}
