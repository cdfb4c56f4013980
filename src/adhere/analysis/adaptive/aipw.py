"""Adaptively weighted AIPW estimates (augmented inverse probability weighting) at one look, fixed in advance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.adaptive.confidence_sequence import why_no_compliers
from adhere.analysis.adaptive.scores import batch_ends, known_places
from adhere.analysis.estimates import ConfidenceSet, OfPair, Quantity, Validity, View
from adhere.analysis.fixed_sample.intervals import fieller
from adhere.analysis.records import NOT_KNOWN, Bools, Floats, Ints, Records
from adhere.analysis.sentences import say
from adhere.intervals import normal_quantile

_METHOD: Final = "adaptively weighted AIPW"
_SMALLEST: Final = 1e-100  # probabilities whose inverse can be squared
_FEWEST: Final = 2  # outcomes that each arm needs for an estimate
_FEW: Final = 30  # patients times the smallest probability; below this, 95% sets covered 75% to 92% of the time


@dataclass(frozen=True)
class AipwEstimate(OfPair):
    """Effect estimated from an adaptive allocation, with an interval that is valid in large samples.

    With `by_stratum`, the effect is the average of the effects in the strata, weighted by their numbers of patients.
    """

    difference: Quantity
    note: str
    by_stratum: bool = False


class _Compared(NamedTuple):
    """Decisions with complete reports, coded for the comparison of two arms i and j."""

    entry: Ints
    arm: Ints  # 1 for i, 0 for j, -1 for any other
    probabilities: Floats  # columns: arm j, arm i
    reward: Floats
    taken: Floats  # 1 if arm i was taken
    seen: Ints
    known_at: Ints
    after: Ints  # index of the first decision after the batch that this decision belongs to
    stratum: Ints  # all 0 if strata are not averaged
    patients: Floats  # number of patients by stratum, including patients without a report
    lacks_reports: bool
    is_pooled: bool = False  # strata were pooled because one of them has too few outcomes


def aipw(records: Records, level: float = 0.95, *, by_stratum: bool = False) -> tuple[AipwEstimate, ...]:
    """Estimate the effects of each pair of arms by intention-to-treat and, where defined, for compliers.

    Return an empty tuple if the records have no probabilities.

    For decision t and arm a, the score is Γ_t(a) = m_t(a) + 1{Z_t=a}·(Y_t - m_t(a))/π_t(a). Here m_t(a) is the mean
    of the outcomes of arm a known at t (before the batch of t, if the order within a batch is unknown), shrunk
    towards ½ by one pseudo-observation.

    The effect is the mean of Γ_t(i) - Γ_t(j), weighted by h_t = √(π_t(i)·π_t(j)/(π_t(i) + π_t(j))). The standard
    deviation of a score is about 1/h_t, so these weights keep a few scores from dominating the variance. For
    compliers the same estimate is also made with D (whether arm i was taken) in place of Y. The ratio of the two
    estimates has Fieller's confidence set.

    With `by_stratum`, the estimate is made within each stratum, and strata are weighted by their numbers of patients.
    Otherwise, if the probabilities depend on the stratum, h_t would give more weight to evenly split strata. Each
    stratum needs two outcomes of each arm; if any stratum has fewer, all strata are pooled.

    A confidence set is marked approximate if the number of patients of the pair (or of one of its strata) times the
    smallest probability of an arm is below 30. Then rare draws dominate the estimate, and its distribution is not
    normal.

    References
    ----------
    Hadad, Hirshberg, Zhan, Wager and Athey (2021), Proceedings of the National Academy of Sciences 118(15).

    """
    if records.probabilities is None or bool(np.any(records.patients != 1)):
        return ()
    estimates = []
    for treatment, control in records.pairs:
        has_compliers = not why_no_compliers(records, treatment, control)
        for view in [View.INTENTION_TO_TREAT] + [View.COMPLIERS] * has_compliers:
            compared = _compared(records, treatment, control, view)
            if by_stratum and records.stratum is not None:
                compared = _with_strata(compared, records.stratum)
            names = records.arms[treatment], records.arms[control]
            difference, note = _difference(compared, view, level, names), _note(records, compared, view)
            estimates.append(AipwEstimate(view, *names, difference, note, bool(compared.stratum.any())))
    return tuple(estimates)


def _compared(records: Records, treatment: int, control: int, view: View) -> _Compared:
    assert records.probabilities is not None
    of_pair = records.is_one_of(treatment, control)
    lacks = of_pair & (np.isnan(records.reward) | ((records.actual == NOT_KNOWN) & (view is View.COMPLIERS)))
    kept = np.flatnonzero(~lacks & ~np.isnan(records.probabilities).any(axis=1))
    seen, known_at = known_places(records, kept, view)
    after = np.arange(1, len(kept) + 1) if records.batch is None else batch_ends(records.batch[kept])
    return _Compared(
        entry=kept,
        arm=np.where(of_pair, records.chosen == treatment, -1)[kept].astype(np.int64),
        probabilities=records.probabilities[kept][:, [control, treatment]],
        reward=records.reward[kept],
        taken=(records.actual[kept] == treatment).astype(np.float64),
        seen=seen,
        known_at=known_at,
        after=after,
        stratum=np.zeros(len(kept), dtype=np.int64),
        patients=np.array([float(len(records))]),
        lacks_reports=bool(lacks.any()),
    )


def _with_strata(compared: _Compared, stratum: Ints) -> _Compared:
    """Add strata if each has enough outcomes of both arms from patients who could have been assigned either arm."""
    strata, own = np.unique(stratum[compared.entry], return_inverse=True)
    by_chance = compared.probabilities.min(axis=1) > 0.0
    counts = [np.bincount(own[(compared.arm == arm) & by_chance], minlength=len(strata)) for arm in (0, 1)]
    if np.min(counts, initial=_FEWEST) < _FEWEST:
        return compared._replace(is_pooled=len(strata) > 1)
    patients = np.array([float(np.sum(stratum == one)) for one in strata])
    return compared._replace(stratum=own.astype(np.int64), patients=patients)


def _difference(compared: _Compared, view: View, level: float, names: tuple[str, str]) -> Quantity:
    counts = [int(np.sum((compared.arm == arm) & (compared.probabilities.min(axis=1) > 0.0))) for arm in (1, 0)]
    n = sum(counts)
    for name, count in zip(names, counts, strict=True):
        if count < _FEWEST:
            reason = f"Too few patients with an outcome ({count}) were assigned {name!r} by chance."
            return Quantity(None, (), n, reason)
    first, second = compared.probabilities.T
    possible = (first > 0.0) & (second > 0.0)  # otherwise the weight is 0
    smallest = float(compared.probabilities[possible].min())
    if smallest < _SMALLEST:
        return Quantity(None, (), n, f"A probability was {smallest:.0e}: the patient drawn with it would decide all.")
    weights = np.sqrt(np.divide(first * second, first + second, out=np.zeros(len(first)), where=possible))
    is_approximate = _is_rare(compared) or compared.is_pooled or compared.lacks_reports
    validity = Validity.APPROXIMATE if is_approximate else Validity.ADAPTIVE
    outcome = _Weighted.of(weights, _scores(compared, compared.reward, possible), compared)
    if view is View.INTENTION_TO_TREAT:
        half = normal_quantile(level) * math.sqrt(outcome.covariance(outcome))
        limits = ConfidenceSet(outcome.mean - half, outcome.mean + half, _METHOD, validity, level=level)
        return Quantity(outcome.mean, (limits,), n)
    taking = _Weighted.of(weights, _scores(compared, compared.taken, possible), compared)
    covariances = outcome.covariance(outcome), taking.covariance(taking), outcome.covariance(taking)
    method = f"Fieller on {_METHOD}"
    limits = fieller(outcome.mean, taking.mean, *covariances, level, method=method, validity=validity)
    if taking.mean == 0.0:
        return Quantity(None, (limits,), n, "The arm chosen did not change what was taken: no compliers were seen.")
    return Quantity(outcome.mean / taking.mean, (limits,), n)


def _is_rare(compared: _Compared) -> bool:
    """Return whether patients of the pair times the smallest probability of an arm are below 30 in any stratum."""
    smallest = compared.probabilities.min(axis=1)
    for one in np.unique(compared.stratum):
        own = (compared.stratum == one) & (compared.arm >= 0) & (smallest > 0.0)
        if own.sum() * float(np.min(smallest[own], initial=1.0)) < _FEW:
            return True
    return False


class _Weighted(NamedTuple):
    """Weighted mean of scores, and deviations from it; strata are weighted by their shares of the patients."""

    mean: float
    off: Floats  # weighted deviation of each decision's score from the mean of its stratum
    by_stratum: Floats  # deviations of the stratum means from the overall mean
    shares: Floats
    n_patients: float

    @staticmethod
    def of(weights: Floats, scores: Floats, compared: _Compared) -> _Weighted:
        stratum, n_strata, n = compared.stratum, len(compared.patients), float(compared.patients.sum())
        shares = compared.patients / n
        weights = weights * (shares / np.bincount(stratum, weights, n_strata))[stratum]
        means = np.array([weights[stratum == one] @ scores[stratum == one] for one in range(n_strata)]) / shares
        mean = float(shares @ means)
        return _Weighted(mean, weights * (scores - means[stratum]), means - mean, shares, n)

    def covariance(self, other: _Weighted) -> float:
        """Return the covariance of two means: within strata, plus the part from the random shares of strata."""
        between = float(self.shares @ (self.by_stratum * other.by_stratum)) / self.n_patients
        return float(self.off @ other.off) + between


def _scores(compared: _Compared, outcome: Floats, possible: Bools) -> Floats:
    """Compute Γ(i) - Γ(j) for every decision; it is 0 where one of the arms could not have been drawn.

    The means m_t are taken over all strata: the mean of one stratum has fewer patients, and adaptive draws bias it
    more. If reports are missing, the means are taken within the decision's stratum, because losses that differ
    between strata would otherwise bias them.
    """
    scores = np.zeros(len(outcome))
    seen = np.maximum.accumulate(compared.seen)
    group = compared.stratum if compared.lacks_reports else np.zeros_like(compared.stratum)
    for places in np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1]):
        for arm, sign in ((1, 1.0), (0, -1.0)):
            drawn = compared.arm[places] == arm
            own = places[drawn]
            first_step = np.maximum(compared.after[own], np.searchsorted(seen, compared.known_at[own]))
            order = np.argsort(first_step, kind="stable")
            n_known = np.searchsorted(first_step[order], places, side="right")
            totals = np.concatenate([[0.0], np.cumsum(outcome[own[order]])])
            mean = (0.5 + totals[n_known]) / (1.0 + n_known)
            scores[places] += sign * mean
            chance = np.where(possible[own], compared.probabilities[own, arm], 1.0)
            scores[own] += sign * (outcome[own] - mean[drawn]) / chance
    return np.where(possible, scores, 0.0)


def _note(records: Records, compared: _Compared, view: View) -> str:
    sentences = [say("aipw_holds")]
    if _is_rare(compared):
        where = ", in a stratum" if compared.stratum.any() else ""
        sentences.append(say("aipw_too_few", few=_FEW, where=where))
    n_lacking = len(records) - len(compared.arm)
    if n_lacking:
        patients = "patient lacks" if n_lacking == 1 else "patients lack"
        alike = "arm and stratum" if compared.stratum.any() else "arm"
        sentences.append(say("aipw_left_out", n=n_lacking, patients=patients, alike=alike))
    if records.estimated is not None and records.estimated.any():
        sentences.append(say("aipw_estimated"))
    if compared.is_pooled:
        sentences.append(say("aipw_pooled"))
    if compared.stratum.any():
        sentences.append(say("aipw_by_stratum"))
    if view is View.COMPLIERS:
        sentences.append(say("under_monotonicity"))
    return " ".join(sentences)
