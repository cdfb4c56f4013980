"""Whether the allocation depends on the stratum, by logged probabilities or by the shares of patients assigned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from adhere.analysis.adaptive.stratum_probabilities import depend_on_stratum
from adhere.analysis.output.texts import p_value
from adhere.analysis.records import Floats, Ints, Records

_ALPHA = 0.001  # of the test: shares that differ by chance alone are no reason for a warning
_DOUBT = 0.05  # of the test: shares that may differ, where no probabilities say whether they do
_LEAST = 0.05  # a smaller difference of shares moves no effect much
_NOT_KNOWN = "(missing)"


@dataclass(frozen=True)
class StratumBalance:
    """How far the share assigned `arm` differs between two strata, those that stand out most either way.

    `p_value` is that of Pearson's chi-square test of arm assigned by stratum. Shares `differ` where it is below 0.001
    and they are more than 5 percentage points apart. `by_probabilities` says that the logged probabilities depend on
    the stratum; `low` and `high` are then their means. The allocation `depends` on the stratum where either holds.
    If not all probabilities are logged, it is `doubtful` whether it does where the p-value is below 0.05 instead.
    `n_lacking` counts the patients in strata that lack an arm that other strata have.
    """

    arm: str
    low_stratum: str
    low: float
    high_stratum: str
    high: float
    p_value: float
    differ: bool
    by_probabilities: bool
    depends: bool
    sentence: str
    doubtful: bool = False
    n_lacking: int = 0


def stratum_balance(records: Records, *, adaptive: bool) -> StratumBalance | None:
    """Compare the allocation between strata; None without strata, or where only one has patients."""
    if records.stratum is None:
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
    shares = used / used.sum(axis=1)[:, None]
    by_probabilities = depend_on_stratum(records)
    is_wide = _widest(records, arms, apart, shares)[-1] > _LEAST
    differ = bool(p < _ALPHA and is_wide)
    if by_probabilities:
        shares = _probabilities(records)[np.ix_(strata, arms)]
        apart = (shares - shares.mean(axis=0)) * np.sqrt(used.sum(axis=1))[:, None]
    arm, low, high, _ = _widest(records, arms, apart, shares)
    names = [*records.strata, _NOT_KNOWN]
    found = StratumBalance(
        records.arms[arms[arm]],
        names[strata[low]],
        float(shares[low, arm]),
        names[strata[high]],
        float(shares[high, arm]),
        p,
        differ=differ,
        by_probabilities=by_probabilities,
        depends=differ or by_probabilities,
        sentence="",
        doubtful=bool(_ALPHA <= p < _DOUBT and is_wide and not records.has_all_probabilities),
        n_lacking=int(used[(used == 0).any(axis=1)].sum()),
    )
    from adhere.analysis.adaptive.confidence_sequence import why_not  # loads the compiler

    return replace(found, sentence=_sentence(found, kept_views(adaptive=adaptive, weighted=not why_not(records))))


def _widest(records: Records, arms: Ints, apart: Floats, shares: Floats) -> tuple[int, int, int, float]:
    """The arm and the two strata that stand out most, and how far their shares are apart."""
    spans = np.ptp(apart, axis=0)
    if len(arms) == 2:
        spans[arms == records.control] = -1.0  # the other one is named
    arm = int(spans.argmax())
    low, high = int(apart[:, arm].argmin()), int(apart[:, arm].argmax())
    return arm, low, high, float(shares[high, arm] - shares[low, arm])


def _probabilities(records: Records) -> Floats:
    """The mean logged probability of each arm by stratum; 0 in a stratum without any."""
    assert records.stratum is not None
    assert records.probabilities is not None
    known = ~records.lacks_probabilities
    n_strata = len(records.strata) + 1
    stratum = records.stratum[known] % n_strata
    sums = [np.bincount(stratum, of_arm, n_strata) for of_arm in records.probabilities[known].T]
    means: Floats = np.array(sums).T / np.maximum(1, np.bincount(stratum, minlength=n_strata))[:, None]
    return means


def _assigned(records: Records) -> Ints:
    """Patients by stratum, the last of which holds those whose stratum is not known, and arm assigned."""
    assert records.stratum is not None
    n_strata = len(records.strata) + 1
    place = records.stratum % n_strata * records.n_arms + records.chosen
    counts = np.bincount(place, records.patients, n_strata * records.n_arms)
    return counts.reshape(n_strata, records.n_arms).astype(np.int64)


def _sentence(found: StratumBalance, kept: str) -> str:
    p = p_value(found.p_value)
    if found.doubtful:
        return (
            f"The shares assigned may differ between strata: {found.arm} was assigned to {found.low:.1%} of stratum "
            f"{found.low_stratum}, but to {found.high:.1%} of stratum {found.high_stratum} (p {p}). Views that "
            "compare patients of different strata are marked approximate; read the stratified ones."
        )
    if not found.depends:
        return f"The shares assigned do not differ between strata by more than 5 percentage points or chance (p {p})."
    both = f"{found.low:.1%} of stratum {found.low_stratum}, but to {found.high:.1%} of stratum {found.high_stratum}"
    if found.by_probabilities:
        seen = f"The probabilities of arms depend on the stratum: {found.arm} was to be assigned to {both}."
    else:
        seen = (
            f"The shares assigned differ between strata by more than chance explains: {found.arm} was assigned to "
            f"{both} (p {p})."
        )
    return (
        f"{seen} Views that compare patients of different strata would show how strata differ as if it were an "
        f"effect: they are withheld. {f'What is left are {kept}' if kept else 'No view of all patients is left'}."
    )


def kept_views(*, adaptive: bool, weighted: bool) -> str:
    """The views of all patients that allow for an allocation that depends on the stratum, as in a sentence.

    `weighted` says whether there are views that use the logged probabilities.

    >>> kept_views(adaptive=False, weighted=True), kept_views(adaptive=True, weighted=False)
    ('the stratified effects, the confidence sequences and AIPW', '')
    """
    every = ["the stratified effects"] * (not adaptive) + ["the confidence sequences", "AIPW"] * weighted
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))
