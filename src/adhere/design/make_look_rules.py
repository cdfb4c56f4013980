"""The rules and thresholds that decide at the looks of a design."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from adhere.design.design import Design
from adhere.design.planned_looks import look_counts, planned_looks
from adhere.design.stopping_checks import THRESHOLDS, numbers_by_look
from adhere.looks import judge
from adhere.looks.group_sequential import critical_values

Floats = NDArray[np.float64]


def look_rules(design: Design) -> judge.Rules:
    """Return the look rules of a design, or `NoRules` if it has none.

    If the z-test or the wealth compares two arms without a control, `rules.control` is the first arm.

    Examples
    --------
    >>> from adhere.design.parts import Looks, Stopping
    >>> stopping = Stopping(by="z-test", boundary="pocock", alpha=0.05)
    >>> design = Design("a", "uniform", ("old", "new"), 300, looks=Looks(every=100), stopping=stopping)
    >>> look_rules(design).superiority.round(3)
    array([2.289, 2.289, 2.289])

    """
    n_arms, stopping = len(design.arms), design.stopping
    control = -1 if design.control is None else design.arms.index(design.control)
    if stopping is None:
        return judge.NoRules(n_arms, control)
    n_looks = planned_looks(design)
    if stopping.by in ("z-test", "wealth") and control < 0:
        control = 0
    if stopping.by == "wealth":
        assert stopping.alpha is not None
        return judge.WealthRules(n_arms, control, math.log(2.0 / stopping.alpha))
    numbers = (numbers_by_look(name, stopping, n_looks) or (np.nan,) * n_looks for name in THRESHOLDS)
    superiority, inferiority, equivalence, futility = (np.array(values, dtype=np.float64) for values in numbers)
    if stopping.by == "belief":
        return judge.BeliefRules(n_arms, control, superiority, inferiority)
    futility[-1:] = np.nan  # there are no later patients to save at the last look
    margin = 0.0 if stopping.margin is None else float(stopping.margin)
    if stopping.by == "posterior":
        kind = judge.PosteriorRules if control < 0 else judge.ControlledPosteriorRules
        return kind(n_arms, control, margin, superiority, inferiority, equivalence, futility)
    if stopping.boundary is not None:
        superiority = boundary_values(design)
    if stopping.inferiority is None:
        inferiority = superiority.copy()
    return judge.ZRules(n_arms, control, margin, superiority, inferiority, equivalence, futility)


def boundary_values(design: Design) -> Floats:
    """Return a boundary's critical values, one for each look. At the last look the information is complete."""
    stopping = design.stopping
    assert stopping is not None
    assert stopping.boundary is not None
    assert stopping.alpha is not None
    counts = look_counts(design)
    return np.array(critical_values(stopping.boundary, stopping.alpha, tuple(n / counts[-1] for n in counts)))


class LookThreshold(msgspec.Struct, frozen=True, omit_defaults=True):
    """The threshold at a look for one status. `of` is the name of the number that is compared with it."""

    of: str
    at_least: float | None = None
    at_most: float | None = None


class LookNames:
    """Names and thresholds for the looks of a design."""

    def __init__(self, design: Design) -> None:
        self._rules = look_rules(design)
        # Names of the numbers that a look compares with its thresholds, in the order of `looks.judge.VALUES`.
        if isinstance(self._rules, judge.ZRules):
            self._names: Sequence[str] = ("z", "z", "difference and its error", "z")
        elif isinstance(self._rules, judge.WealthRules):
            self._names = ("log wealth of the bet on better", "log wealth of the bet on worse", "", "")
        else:
            first = "probability of being " + ("best" if self._rules.control < 0 else "better")
            self._names = (first, first, "probability of being alike", "probability of gaining more than the margin")

    def thresholds(self, look: int) -> dict[str, LookThreshold]:
        """Return the thresholds of a look (counted from 0) by their purpose."""
        rules, of = self._rules, dict(zip(judge.VALUES, self._names, strict=True))
        if isinstance(rules, judge.NoRules):
            return {}
        if isinstance(rules, judge.WealthRules):
            return {name: LookThreshold(of[name], at_least=rules.log_threshold) for name in judge.VALUES[:2]}
        found = {name: float(getattr(rules, name)[look]) for name in judge.VALUES if hasattr(rules, name)}
        if isinstance(rules, judge.ZRules):
            found["inferiority"] *= -1.0
            if not math.isnan(found["equivalence"]):  # then the difference is compared with the margin
                found["equivalence"] = rules.margin
        from_above = {"superiority"} if isinstance(rules, judge.ZRules) else {"superiority", "equivalence"}
        return {
            name: LookThreshold(of[name], **{"at_least" if name in from_above else "at_most": number})
            for name, number in found.items()
            if not math.isnan(number)
        }

    def named(self, values: tuple[float | None, ...]) -> dict[str, float]:
        """Return the numbers of an arm by name. A number that is compared with two thresholds appears once."""
        return {name: value for name, value in zip(self._names, values, strict=True) if value is not None}
