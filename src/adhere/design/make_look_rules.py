"""Rules and thresholds by which the looks of a design decide."""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from adhere.design.design import Design
from adhere.design.parts import Stopping, Threshold
from adhere.design.planned_looks import look_counts, look_days, planned_looks
from adhere.errors import InputError
from adhere.looks.group_sequential import critical_values
from adhere.looks.judge import (
    VALUES,
    BeliefRules,
    ControlledPosteriorRules,
    NoRules,
    PosteriorRules,
    Rules,
    WealthRules,
    ZRules,
)

Floats = NDArray[np.float64]


def look_rules(design: Design) -> Rules:
    """The rules of a design; `NoRules` where it has none.

    Where the z-test or the wealth compares two arms without a control, `rules.control` is the first arm.

    Examples
    --------
    >>> from adhere.design.parts import Looks
    >>> stopping = Stopping(by="z-test", boundary="pocock", alpha=0.05)
    >>> design = Design("a", "uniform", ("old", "new"), 300, looks=Looks(every=100), stopping=stopping)
    >>> look_rules(design).superiority.round(3)
    array([2.289, 2.289, 2.289])

    """
    n_arms, stopping = len(design.arms), design.stopping
    control = -1 if design.control is None else design.arms.index(design.control)
    if stopping is None:
        return NoRules(n_arms, control)
    n_looks = planned_looks(design)
    if stopping.by in ("z-test", "wealth") and control < 0:
        if n_arms > 2:
            raise InputError("control", None, f"the arm that the others are compared with by the {stopping.by}")
        control = 0
    superiority = _by_look("superiority", stopping.superiority, n_looks)
    margin = 0.0 if stopping.margin is None else float(stopping.margin)
    if stopping.by == "wealth":
        return WealthRules(n_arms, control, math.log(2.0 / _level(stopping)))
    if stopping.by == "belief":
        return BeliefRules(n_arms, control, superiority, _inferiority(stopping, superiority))
    equivalence = _by_look("equivalence", stopping.equivalence, n_looks)
    futility = _by_look("futility", stopping.futility, n_looks)
    futility[-1:] = np.nan  # the last look has nothing to save
    if stopping.by == "posterior":
        inferiority = _inferiority(stopping, superiority)
        kind = PosteriorRules if control < 0 else ControlledPosteriorRules
        return kind(n_arms, control, margin, superiority, inferiority, equivalence, futility)
    if stopping.boundary is not None:
        superiority = boundary_values(design)
    inferiority = superiority.copy() if stopping.inferiority is None else _inferiority(stopping, superiority)
    return ZRules(n_arms, control, margin, superiority, inferiority, equivalence, futility)


def _by_look(name: str, threshold: Threshold | None, n_looks: int) -> Floats:
    if isinstance(threshold, tuple) and len(threshold) != n_looks:
        raise InputError(f"stopping.{name}", threshold, f"one number, or one for each of the {n_looks} looks")
    return np.array(np.broadcast_to(np.nan if threshold is None else threshold, n_looks), dtype=np.float64)


def _inferiority(stopping: Stopping, superiority: Floats) -> Floats:
    if isinstance(stopping.inferiority, str):  # "1 - superiority", the only text there is
        return 1.0 - superiority
    return _by_look("inferiority", stopping.inferiority, len(superiority))


def _level(stopping: Stopping) -> float:
    if stopping.alpha is None:
        raise InputError("stopping.alpha", None, "the level of the test, such as 0.05")
    return stopping.alpha


def boundary_values(design: Design) -> Floats:
    """The critical values of a design's boundary, one for each look; the last has all of the information."""
    stopping = design.stopping
    assert stopping is not None
    assert stopping.boundary is not None
    if look_days(design):
        raise InputError("looks.days", list(look_days(design)), "looks by number of patients, which a boundary needs")
    counts = look_counts(design)
    return np.array(critical_values(stopping.boundary, _level(stopping), tuple(n / counts[-1] for n in counts)))


BEST, BETTER, ALIKE = "probability of being best", "probability of being better", "probability of being alike"
GAIN, Z, DIFFERENCE = "probability of gaining more than the margin", "z", "difference and its error"
LOG_BETTER, LOG_WORSE = "log wealth of the bet on better", "log wealth of the bet on worse"


class LookThreshold(msgspec.Struct, frozen=True, omit_defaults=True):
    """Threshold of a number at a look for a status: `of` is the number's name."""

    of: str
    at_least: float | None = None
    at_most: float | None = None


def measures(rules: Rules) -> tuple[str, ...]:
    """The names of the numbers that a look compares with its thresholds, in the order of `looks.judge.VALUES`."""
    if isinstance(rules, ZRules):
        return Z, Z, DIFFERENCE, Z
    if isinstance(rules, WealthRules):
        return LOG_BETTER, LOG_WORSE, "", ""
    first = BEST if rules.control < 0 else BETTER
    return first, first, ALIKE, GAIN


def thresholds_of(rules: Rules, look: int) -> dict[str, LookThreshold]:
    """The thresholds of a look, counted from 0, by what they are for."""
    of = dict(zip(VALUES, measures(rules), strict=True))
    if isinstance(rules, NoRules):
        return {}
    if isinstance(rules, WealthRules):
        return {name: LookThreshold(of[name], at_least=rules.log_threshold) for name in VALUES[:2]}
    found = {name: float(getattr(rules, name)[look]) for name in VALUES if hasattr(rules, name)}
    if isinstance(rules, ZRules):
        found["inferiority"] *= -1.0
        if found["equivalence"] == found["equivalence"]:  # not NaN: then the difference is compared with the margin
            found["equivalence"] = rules.margin
    from_above = {"superiority"} if isinstance(rules, ZRules) else {"superiority", "equivalence"}
    return {
        name: LookThreshold(of[name], **{"at_least" if name in from_above else "at_most": number})
        for name, number in found.items()
        if number == number
    }


class LookNames:
    """Names and thresholds for the looks of a design."""

    def __init__(self, design: Design) -> None:
        self._rules = look_rules(design)
        self._measures = measures(self._rules)

    def thresholds(self, look: int) -> dict[str, LookThreshold]:
        """Return the thresholds of a look, counted from 0."""
        return thresholds_of(self._rules, look)

    def named(self, values: tuple[float | None, ...]) -> dict[str, float]:
        """The numbers of an arm by their names; one that is compared with two thresholds is there once."""
        return {name: value for name, value in zip(self._measures, values, strict=True) if value is not None}
