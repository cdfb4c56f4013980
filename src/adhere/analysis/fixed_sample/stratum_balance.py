"""Test whether the allocation depends on the stratum, by the shares assigned and by the logged probabilities."""

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from adhere.analysis.cells import cells_of
from adhere.analysis.formatting import p_value
from adhere.analysis.records import Bools, Floats, Ints, Records
from adhere.analysis.sentences import say
from adhere.intervals import normal_quantile

_SAME: Final = 1e-6  # probabilities closer than this count as equal; in tables they sum to 1 within this
_LEVEL: Final = 0.998  # two-sided: a guess must beat chance with p < 0.001
_BETTER: Final = 0.2  # fraction of the errors expected by chance that guesses must avoid
_RECENT: Final = 5  # patients of a stratum whose probabilities are averaged
_STRETCH: Final = 100  # consecutive decisions within which the mix of strata counts as constant
_BALANCED: Final = 0.15  # fraction of the imbalance of independent draws below which draws were in blocks
_MAX_DISTANCES: Final = 10**7  # decisions times strata; later decisions are ignored


def depend_on_stratum(records: Records) -> bool:
    """Return whether the logged probabilities differ between strata at the same time.

    The answer is False if the records have no probabilities or no strata.

    Probabilities that are constant within each stratum are compared directly. If they change, the answer is the
    records' `learns_by_stratum`, if present.

    Otherwise the stratum of each decision is guessed: the stratum in which the last five patients had the most
    similar probabilities on average. If probabilities do not depend on the stratum, guesses are right as often as by
    chance, given the stratum of the previous patient and the mix of strata among 100 consecutive patients. The
    probabilities depend on the stratum if guesses are right more often (p < 0.001) and avoid at least a fifth of the
    errors expected by chance. Permuted blocks by stratum do not count: they keep the shares of arms in every stratum
    much closer to each other than independent draws would.

    >>> chosen, stratum = np.array([0, 1] * 50), np.array([0, 0, 1, 1] * 25)
    >>> odds = np.where(stratum[:, None] == 1, [0.2, 0.8], [0.5, 0.5])
    >>> given = Records("", "", ("old", "new"), chosen, chosen, np.ones(100), strata=("A", "B"), stratum=stratum)
    >>> from dataclasses import replace
    >>> depend_on_stratum(given), depend_on_stratum(replace(given, probabilities=odds))
    (False, True)
    """
    if records.probabilities is None or records.stratum is None:
        return False
    known = ~records.lacks_probabilities
    probabilities = records.probabilities[known]
    strata, stratum = np.unique(records.stratum[known], return_inverse=True)
    if len(strata) < 2:
        return False
    first = probabilities[np.unique(stratum, return_index=True)[1]]
    if not np.any(np.abs(probabilities - first[stratum]) > _SAME):
        return bool(np.any(np.abs(first - first[0]) > _SAME))
    if records.learns_by_stratum is not None:
        return records.learns_by_stratum
    n = min(len(stratum), _MAX_DISTANCES // len(strata))
    probabilities, stratum = probabilities[:n], stratum[:n].astype(np.int64)
    chosen = records.chosen[known][:n]
    return _imbalance(chosen, stratum, records.n_arms) > _BALANCED and _can_be_guessed(
        probabilities, stratum, len(strata)
    )


def _imbalance(chosen: Ints, stratum: Ints, n_arms: int) -> float:
    """Return the squared deviations of the strata's counts of arms, relative to independent draws.

    After t patients of a stratum, an arm's count is compared with t·p, where p is the arm's overall share. If arms
    are drawn independently, the expected squared deviation is t·p·(1 − p).
    """
    order = np.argsort(stratum, kind="stable")
    first = np.flatnonzero(np.diff(stratum[order], prepend=-1))
    place = np.arange(len(order)) - np.repeat(first, np.diff(first, append=len(order)))
    squares = expected = 0.0
    for arm in range(n_arms):
        off = (chosen[order] == arm) - float(np.mean(chosen == arm))
        total = np.cumsum(off)
        before = np.repeat(total[first] - off[first], np.diff(first, append=len(order)))
        squares += float(np.sum((total - before) ** 2))
        expected += float(np.mean(off**2) * np.sum(place + 1))
    return squares / expected if expected else 0.0


def _can_be_guessed(probabilities: Floats, stratum: Ints, n_strata: int) -> bool:
    """Return whether guesses are right more often than if strata were permuted within cells of decisions.

    A cell has the decisions of one stretch that follow a patient of one stratum. Let a and b be the numbers of
    guesses and of patients by stratum, n = Σa = Σb and m = Σab/n². The number of right guesses has mean nm and
    variance (Σab(1 + 2m − 2(a + b)/n) + Σab(a + b)/n − n²m²)/(n − 1).
    """
    guess, is_guessed = _guesses(probabilities, stratum, n_strata)
    kept = np.flatnonzero(is_guessed[1:]) + 1  # the first patient has no predecessor
    _, cell = np.unique(kept // _STRETCH * n_strata + stratum[kept - 1], return_inverse=True)
    size = int(cell.max(initial=-1)) + 1
    guesses, patients = (
        np.bincount(cell * n_strata + of[kept], minlength=size * n_strata).reshape(size, n_strata).astype(np.float64)
        for of in (guess, stratum)
    )
    n = patients.sum(axis=1)
    both, apart = guesses * patients, guesses + patients
    mean = both.sum(axis=1) / n
    scale = n[:, None]
    squares = (both * (1.0 + 2.0 * mean[:, None] / scale - apart / scale)).sum(axis=1) - mean**2
    variance = float(np.sum(squares[n > 1] / (n[n > 1] - 1.0)))
    n_right, by_chance = float(np.sum(guess[kept] == stratum[kept])), float(mean.sum())
    more = n_right - by_chance
    return more > normal_quantile(_LEVEL) * math.sqrt(max(0.0, variance)) and more >= _BETTER * (
        len(kept) - by_chance
    )


def _guesses(probabilities: Floats, stratum: Ints, n_strata: int) -> tuple[Ints, Bools]:
    """Return, for each decision, the stratum with the nearest recent probabilities, and whether it is unique."""
    least, guess = np.full(len(stratum), np.inf), np.zeros(len(stratum), dtype=np.int64)
    is_one = np.zeros(len(stratum), dtype=np.bool_)
    for one in range(n_strata):
        own = stratum == one
        before = np.cumsum(own) - own
        sums = np.concatenate([np.zeros((1, probabilities.shape[1])), np.cumsum(probabilities[own], axis=0)])
        start = np.maximum(before - _RECENT, 0)
        n_recent = before - start
        recent = (sums[before] - sums[start]) / np.maximum(n_recent, 1)[:, None]
        distance = np.where(n_recent > 0, np.abs(probabilities - recent).max(axis=1), np.inf)
        is_nearer = distance < least - _SAME
        is_one = is_nearer | (is_one & (distance > least + _SAME))
        guess, least = np.where(is_nearer, one, guess), np.minimum(distance, least)
    return guess, is_one


_ALPHA = 0.001  # level of the test; there is no warning about shares that differ by chance
_DOUBT = 0.05  # level at which shares may differ, if probabilities do not settle it
_LEAST = 0.05  # a smaller difference of shares hardly moves an effect
_NOT_KNOWN = "(missing)"


@dataclass(frozen=True)
class StratumBalance:
    """Difference of the share assigned `arm` between the two strata that deviate most in either direction.

    `p_value` is from Pearson's chi-square test of arm assigned by stratum. Shares `differ` if it is below 0.001 and
    they are more than 5 percentage points apart. `low` and `high` are the shares assigned `arm` in the two strata.
    With `by_probabilities`, the logged probabilities depend on the stratum; `low` and `high` are then means of the
    probabilities. The allocation `depends` on the stratum if shares differ or probabilities depend on it. It is
    `doubtful` if the p-value is only below 0.05 and not all probabilities are logged. `n_lacking` counts the patients
    in strata that lack an arm present in other strata.
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
    """Compare the allocation between strata. Return None if fewer than two strata or arms have patients."""
    if records.stratum is None:
        return None
    table = cells_of(records).assigned.sum(axis=2)
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
    """Return the arm and the two strata that deviate most, and the difference of their shares."""
    spans = np.ptp(apart, axis=0)
    if len(arms) == 2:
        spans[arms == records.control] = -1.0  # name the other arm
    arm = int(spans.argmax())
    low, high = int(apart[:, arm].argmin()), int(apart[:, arm].argmax())
    return arm, low, high, float(shares[high, arm] - shares[low, arm])


def _probabilities(records: Records) -> Floats:
    """Return the mean logged probability of each arm by stratum; 0 in a stratum without probabilities."""
    assert records.stratum is not None
    assert records.probabilities is not None
    known = ~records.lacks_probabilities
    n_strata = len(records.strata) + 1
    stratum = records.stratum[known] % n_strata
    sums = [np.bincount(stratum, of_arm, n_strata) for of_arm in records.probabilities[known].T]
    return np.array(sums).T / np.maximum(1, np.bincount(stratum, minlength=n_strata))[:, None]


def _sentence(found: StratumBalance, kept: str) -> str:
    p = p_value(found.p_value)
    if found.doubtful:
        return say("shares_may_differ", one=found, p=p)
    if not found.depends:
        return say("shares_alike", p=p)
    seen = say("probabilities_depend" if found.by_probabilities else "shares_differ", one=found, p=p)
    left = f"What is left are {kept}" if kept else "No view of all patients is left"
    return say("strata_withheld", seen=seen, left=left)


def kept_views(*, adaptive: bool, weighted: bool) -> str:
    """Return, in words, the views of all patients that remain valid if the allocation depends on the stratum.

    `weighted` is whether there are views that use the logged probabilities.

    >>> kept_views(adaptive=False, weighted=True), kept_views(adaptive=True, weighted=False)
    ('the stratified effects, the confidence sequences and AIPW', '')
    """
    every = ["the stratified effects"] * (not adaptive) + ["the confidence sequences", "AIPW"] * weighted
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))
