"""Check confidence limits of bounds, and the test of the instrumental inequality, in thousands of trials.

A linear program takes milliseconds. If the true probabilities of all cells lie within their limits, the true
population is among those that a program considers: all its limits then contain the truth, and nothing is refuted.
Programs are therefore solved only if some cell's probability is outside its limits, and in a fixed share of trials
for the widths. Limits under a false assumption are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from adhere.analysis.bounding.bounds import Bound, Bounds, bounds
from adhere.analysis.bounding.observed_cells import observed_cells
from adhere.analysis.estimates import ConfidenceSet, Validity
from adhere.analysis.formatting import ASSUMPTIONS
from adhere.analysis.records import Floats, Records
from adhere.studies.coverage.people import ARMS, People
from adhere.studies.coverage.tally import Alarm, Interval, Reported, Test

BOUNDS, INEQUALITY = "bounds", "instrumental inequality"
_HYPOTHESIS = "the recommendation matters only through what is taken"
_LEVEL = 0.95
_EVERY = 25  # programs are solved in one of this many trials in any case


@dataclass
class BoundReports:
    """The reports on trials from one population, one after another."""

    who: People
    adaptive: bool
    _n: int = 0
    _named: list[Reported] = field(default_factory=list)

    def of(self, records: Records) -> Iterator[Reported | Alarm]:
        """Yield the report on the limits of every bound, and on the test of the instrumental inequality."""
        is_for_widths = self._n % _EVERY == 0
        self._n += 1
        solved = None
        if is_for_widths or not self._holds_the_truth(records):
            solved = bounds(records, adaptive=self.adaptive, level=_LEVEL)
            self._named = [_report(one, self.who) for one in solved.bounds if _is_true(one, self.who)]
        for one in self._named:
            limits = one.given
            if not is_for_widths and isinstance(limits, ConfidenceSet):
                # Trials with cells outside their limits are not typical, so their widths do not count.
                limits = solved is None or one.truth in limits
            yield one._replace(given=limits)
        yield _alarm(solved)

    def _holds_the_truth(self, records: Records) -> bool:
        """Return whether the true probability of every cell is within its limits."""
        cells = observed_cells(records)
        limits = cells.limits(_LEVEL, any_time=self.adaptive, binary=records.is_binary)
        true = true_cells(self.who)[[arm for arm in cells.told if arm is not None]]
        low, high = (end[:, : true.shape[1]] for end in (limits.low, limits.high))
        nobody_else = limits.low[:, true.shape[1] :] <= 0.0
        return bool(((low <= true) & (true <= high)).all() and nobody_else.all())


def true_cells(who: People) -> Floats:
    """Return P(taken, outcome | arm recommended), by arm recommended and 2·taken + outcome."""
    weights = [share * _cells(population.compliance(), population.reward_mass()) for share, population in who.groups]
    return np.asarray(np.sum(weights, axis=0))


def _cells(compliance: Floats, mass: Floats) -> Floats:
    return np.stack([compliance - mass, mass], axis=2).reshape(len(ARMS), -1)


def _is_true(bound: Bound, who: People) -> bool:
    return bound.assumption == "none" or who.is_monotone


def _report(bound: Bound, who: People) -> Reported:
    if bound.control is None:
        quantity, true = f"mean of {bound.treatment}", who.taken[ARMS.index(bound.treatment)]
    else:
        quantity, true = "average effect", who.taken[1] - who.taken[0]
    limits = bound.limits
    promise = limits.validity if limits else Validity.FIXED
    view = f"{BOUNDS}, {ASSUMPTIONS[bound.assumption]}"
    return Reported(Interval(view, quantity, limits.method if limits else "", promise.value, True), true, limits)


def _alarm(solved: Bounds | None) -> Alarm:
    return Alarm(Test(INEQUALITY, _HYPOTHESIS, True, True), solved.inequality.refuted if solved else False)
