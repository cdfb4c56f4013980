"""Gain of an adaptive allocation over equal probabilities for all arms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.estimates import ConfidenceSet, Quantity, Validity
from adhere.analysis.records import Floats, Ints, Records

_METHOD = "betting confidence sequences"


@dataclass(frozen=True, eq=False)
class Surplus:
    """Expected sum of outcomes gained so far; after `t[m]` decisions it is between `low[m]` and `high[m]`."""

    total: Quantity
    t: Ints
    low: Floats
    high: Floats


def surplus_level(level: float, n_arms: int) -> float:
    """Return the level that each arm's sequence needs so that the surplus has this level (Bonferroni).

    >>> surplus_level(0.95, 2), round(surplus_level(0.95, 3), 3)
    (0.95, 0.975)
    """
    return 1.0 - (1.0 - level) / (n_arms - 1)


def surplus(records: Records, sequences: Sequence[ConfidenceSequence], level: float = 0.95) -> Surplus:
    """Estimate the expected gain of the logged probabilities over equal probabilities.

    Let π_t(a) be the logged probability of arm a at decision t, θ_a the intention-to-treat effect of arm a against
    control (constant over time, as the sequences assume), and k the number of arms. Then

        S = Σ_a c_a·θ_a,    c_a = Σ_t (π_t(a) - 1/k).

    The c_a are known, so the sequences of the θ_a give limits on S. If each sequence has `surplus_level`, the limits
    hold at all times with probability `level`. Decisions without exact probabilities count as if arms were
    drawn with equal probabilities.

    Parameters
    ----------
    records
        Records of the trial, with probabilities.
    sequences
        Intention-to-treat sequences of every arm against control, each at `surplus_level`.
    level
        Confidence level of the result.

    >>> chosen, odds = np.array([0, 1] * 200), np.tile([0.25, 0.75], (400, 1))
    >>> records = Records("a", "b", ("old", "new"), chosen, chosen, chosen * 1.0, probabilities=odds)
    >>> from adhere.analysis.adaptive.confidence_sequence import confidence_sequences
    >>> gained = surplus(records, confidence_sequences(records)[:1])
    >>> round(gained.total.value), gained.total.sets[0].high
    (100, 100.0)

    """
    gone = next((one for one in sequences if one.drift_at is not None), None)
    if gone is not None:
        reason = f"The effect of {gone.treatment} changed over time, so that what was gained cannot be estimated."
        return Surplus(Quantity(None, reason=reason), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    assert records.probabilities is not None
    more = np.where(records.is_exact[:, None], records.probabilities - 1.0 / records.n_arms, 0.0).cumsum(axis=0)
    times = sequences[0].t
    low, high, total = np.zeros(len(times)), np.zeros(len(times)), 0.0
    for one in sequences:
        share = more[times - 1, records.arms.index(one.treatment)]
        ends = share * one.low, share * one.high
        low += np.minimum(*ends)
        high += np.maximum(*ends)
        total += float(share[-1]) * (one.estimate or 0.0)
    limits = ConfidenceSet(float(low[-1]), float(high[-1]), _METHOD, Validity.ANY_TIME, level=level)
    if any(one.estimate is None for one in sequences):
        return Surplus(Quantity(None, (limits,), reason="No effect can be estimated yet."), times, low, high)
    return Surplus(Quantity(total, (limits,), len(records)), times, low, high)
