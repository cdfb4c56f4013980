"""Confidence sequences for effects under adaptive allocation: sets that hold whenever one stops."""

from __future__ import annotations

from dataclasses import dataclass

from adhere.analysis.confidence_set import ConfidenceSet
from adhere.analysis.records import Floats, Ints
from adhere.analysis.view import View


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    """The effects that the records do not refute, after every number of decisions.

    After `times[m]` decisions they lie from `low[m]` to `high[m]`; `final` is the set at the end. Where no constant
    effect is left, `final` is empty, `drift_at` is the number of decisions after which it was so, and `times` end
    before. `log_wealth_at_zero` is the logarithm of the largest wealth so far of the two bets against "no effect",
    `p_value` = min(1, 2 / wealth) the p-value that follows, valid whenever one stops. `n_used` counts the decisions
    with a known outcome, `n_pending` those that entered at their worst case.
    """

    view: View
    treatment: str
    control: str
    final: ConfidenceSet
    times: Ints
    low: Floats
    high: Floats
    estimate: float | None
    log_wealth_at_zero: float
    p_value: float
    n_used: int
    n_pending: int
    drift_at: int | None
    note: str
