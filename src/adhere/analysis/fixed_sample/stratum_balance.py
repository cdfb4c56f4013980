"""Whether arms were assigned in the same shares in all strata; where not, only stratified effects compare like."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from adhere.analysis.output.texts import p_value
from adhere.analysis.records import Ints, Records

_ALPHA = 0.001  # of the test: shares that differ by chance alone are no reason for a warning
_LEAST = 0.05  # a smaller difference of shares moves no effect much
_NOT_KNOWN = "(missing)"


@dataclass(frozen=True)
class StratumBalance:
    """How far the share assigned `arm` differs between two strata, those that stand out most either way.

    `p_value` is that of Pearson's chi-square test of arm assigned by stratum. They `differ` where it is below 0.001
    and the shares are more than 5 percentage points apart.
    """

    arm: str
    low_stratum: str
    low: float
    high_stratum: str
    high: float
    p_value: float
    differ: bool
    sentence: str


def stratum_balance(records: Records, *, adaptive: bool) -> StratumBalance | None:
    """Compare the shares assigned between strata; None without strata, and where allocation adapted."""
    if records.stratum is None or adaptive:
        return None
    table = _assigned(records)
    strata, arms = np.flatnonzero(table.sum(axis=1)), np.flatnonzero(table.sum(axis=0))
    if len(strata) < 2 or len(arms) < 2:
        return None
    from scipy.special import chdtrc  # scipy.stats takes a second to import

    used = table[np.ix_(strata, arms)]
    expected = np.outer(used.sum(axis=1), used.sum(axis=0)) / used.sum()
    apart = (used - expected) / np.sqrt(expected)
    p = float(chdtrc((len(strata) - 1) * (len(arms) - 1), np.sum(apart**2)))
    spans = np.ptp(apart, axis=0)
    if len(arms) == 2:
        spans[arms == records.control] = -1.0  # the other one is named
    arm = int(spans.argmax())
    shares = used[:, arm] / used.sum(axis=1)
    low, high = int(apart[:, arm].argmin()), int(apart[:, arm].argmax())
    names = [*records.strata, _NOT_KNOWN]
    found = StratumBalance(
        records.arms[arms[arm]],
        names[strata[low]],
        float(shares[low]),
        names[strata[high]],
        float(shares[high]),
        p,
        differ=bool(p < _ALPHA and shares[high] - shares[low] > _LEAST),
        sentence="",
    )
    return replace(found, sentence=_sentence(found))


def _assigned(records: Records) -> Ints:
    """Patients by stratum, the last of which holds those whose stratum is not known, and arm assigned."""
    assert records.stratum is not None
    n_strata = len(records.strata) + 1
    place = records.stratum % n_strata * records.n_arms + records.chosen
    counts = np.bincount(place, records.patients, n_strata * records.n_arms)
    return counts.reshape(n_strata, records.n_arms).astype(np.int64)


def _sentence(found: StratumBalance) -> str:
    p = p_value(found.p_value)
    if not found.differ:
        return f"The shares assigned do not differ between strata by more than 5 percentage points or chance (p {p})."
    return (
        f"The shares assigned differ between strata by more than chance explains: {found.arm} was assigned to "
        f"{found.low:.1%} of stratum {found.low_stratum}, but to {found.high:.1%} of stratum {found.high_stratum} "
        f"(p {p}). Only the stratified rows (intention-to-treat and compliers) compare patients of the same stratum. "
        "All others (unstratified effects and means, as-treated, per-protocol, bounds, principal strata, missing "
        "values at their extremes, whether what was taken can be trusted) compare patients of different strata, and "
        "show how strata differ as if it were an effect."
    )
