"""Confidence sequences for allocations that depend on the stratum: a sequence for each stratum, then combined."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from adhere.analysis.adaptive.confidence_sequence import (
    ConfidenceSequence,
    RunningSequence,
    final_set,
    why_no_compliers,
    why_not,
)
from adhere.analysis.estimates import View
from adhere.analysis.records import NOT_KNOWN, Bools, Floats, Ints, Records
from adhere.analysis.sentences import say
from adhere.report.numbers import counted


class Part(NamedTuple):
    """Stratum: its share of the patients, their indices among all patients, and their records."""

    share: float
    place: Ints
    records: Records


def each_stratum(records: Records) -> Iterator[Part]:
    """Iterate over the strata; patients without a stratum form one of their own."""
    assert records.stratum is not None
    for number in np.unique(records.stratum):
        own = records.stratum == number
        yield Part(float(own.mean()), np.flatnonzero(own), records.of_stratum(int(number)))


_N_TIMES: Final = 200  # maximum number of times with a set
_METHOD: Final = "betting confidence sequences, strata combined"


class _Path(NamedTuple):
    """Limits on a weighted mean over strata by time, with its estimate.

    `drift_at` is the number of decisions after which every value was refuted, if that happened.
    """

    low: Floats
    high: Floats
    estimate: float | None
    drift_at: int | None
    n_used: int
    n_pending: int


def stratified_sequences(records: Records, level: float = 0.95) -> tuple[ConfidenceSequence, ...]:
    """Compute a sequence for each pair of arms, like `confidence_sequences`, but from bets within strata.

    Bets on all patients together assume that the effect does not depend on the probabilities of the arms. If both
    depend on the stratum, their target is the effect among patients with the most random assignments. Under Thompson
    sampling by stratum, these patients are in the strata without an effect.

    Therefore each of S strata has a sequence of its own, with an error of α/S. At all times together, the effect over
    all strata lies between the weighted means of the lower and upper limits; weights are the shares of the patients.
    For compliers, the effects on the outcome and on the treatment taken are bounded in the same way, with an error of
    α/2S each. The effect on compliers is their ratio.
    """
    if why_not(records):
        return ()
    parts = list(each_stratum(records))
    times = np.unique(np.linspace(min(1, len(records)), len(records), _N_TIMES).round().astype(np.int64))
    found = []
    for treatment, control in records.pairs:
        pair = treatment, control
        whole = _path(parts, pair, times, level, 1)
        no_compliers = why_no_compliers(records, treatment, control)
        note = f"{say('strata_combined')} {no_compliers}".strip()
        found.append(_sequence(records, pair, View.INTENTION_TO_TREAT, whole, times, level, note))
        if not no_compliers:
            reward = _path(parts, pair, times, level, 2)
            taken = _path([_taking(one, treatment) for one in parts], pair, times, level, 2)
            note = f"{say('strata_combined')} {say('under_monotonicity')}"
            ratio = _ratio(reward, taken)
            found.append(_sequence(records, pair, View.COMPLIERS, ratio, times, level, note))
    return tuple(found)


def _path(parts: Sequence[Part], pair: tuple[int, int], times: Ints, level: float, n_paths: int) -> _Path:
    """Return limits on the effect over all strata; `n_paths` paths and all strata have equal shares of the error."""
    each = 1.0 - (1.0 - level) / (n_paths * len(parts))
    low, high, estimate, drifts = np.zeros(len(times)), np.zeros(len(times)), 0.0, []
    n_used = n_pending = 0
    is_known = True
    for part in parts:
        running = RunningSequence(*pair, View.INTENTION_TO_TREAT, each)
        running.update(part.records)
        one = running.sequence(len(times))
        # The stratum's latest set at each time of the trial; before its first set, any effect is possible.
        last = np.searchsorted(one.t, np.searchsorted(part.place, times), side="right") - 1
        low += part.share * np.where(last >= 0, one.low[last], -1.0)
        high += part.share * np.where(last >= 0, one.high[last], 1.0)
        n_used, n_pending = n_used + one.n_used, n_pending + one.n_pending
        if one.drift_at is not None:
            drifts.append(int(part.place[one.drift_at - 1]) + 1)
        is_known = is_known and one.estimate is not None
        estimate += part.share * (one.estimate or 0.0)
    return _Path(low, high, estimate if is_known else None, min(drifts, default=None), n_used, n_pending)


def _taking(part: Part, treatment: int) -> Part:
    """Return the stratum with "took the treatment" as its outcome."""
    given = part.records
    taken = np.where(given.actual == NOT_KNOWN, np.nan, given.actual == treatment)
    return part._replace(records=replace(given, reward=taken, reward_at=given.actual_at, imputed_reward=None))


def _ratio(reward: _Path, taken: _Path) -> _Path:
    """Return limits on an effect divided by a positive share of compliers; -1 to 1 if the share may be 0.

    There is no estimate if the final share may be 0, or if the estimate would be outside -1 to 1.
    """
    is_positive: Bools = taken.low > 0.0
    least = np.where(is_positive, taken.low, 1.0)
    most = np.maximum(least, taken.high)
    low = np.where(is_positive, np.where(reward.low < 0.0, reward.low / least, reward.low / most), -1.0)
    high = np.where(is_positive, np.where(reward.high > 0.0, reward.high / least, reward.high / most), 1.0)
    estimate = None
    if reward.estimate is not None and taken.estimate is not None and len(is_positive) and is_positive[-1]:
        estimate = reward.estimate / taken.estimate if abs(reward.estimate) <= taken.estimate else None
    drifts = [one.drift_at for one in (reward, taken) if one.drift_at is not None]
    n_pending = max(reward.n_pending, taken.n_pending)
    n_used = reward.n_used + reward.n_pending - n_pending
    return _Path(np.maximum(low, -1.0), np.minimum(high, 1.0), estimate, min(drifts, default=None), n_used, n_pending)


def _sequence(
    records: Records, pair: tuple[int, int], view: View, path: _Path, times: Ints, level: float, note: str
) -> ConfidenceSequence:
    kept = times < (math.inf if path.drift_at is None else path.drift_at)
    low, high = path.low[kept], path.high[kept]
    final = final_set(low, high, path.drift_at, _METHOD, level)
    if path.n_pending:
        note += " " + say("at_the_worst_case", patients=counted(path.n_pending, "patient"))
    p_value = 1.0 if 0.0 in final else 1.0 - level
    return ConfidenceSequence(
        view=view,
        treatment=records.arms[pair[0]],
        control=records.arms[pair[1]],
        final=final,
        t=times[kept],
        low=low,
        high=high,
        estimate=path.estimate if path.drift_at is None else None,
        log_wealth_at_zero=math.log(2.0 / p_value),
        p_value=p_value,
        n_used=path.n_used,
        n_pending=path.n_pending,
        drift_at=path.drift_at,
        note=note,
    )
