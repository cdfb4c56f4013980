"""The rules by which the looks of a design decide, as `judge` wants them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adhere.design.design import Design
from adhere.design.parts import Stopping, Threshold
from adhere.design.planned_looks import look_counts, look_days, planned_looks
from adhere.errors import InputError
from adhere.looks import judges as judges  # which implements `judge` for these rules
from adhere.looks.group_sequential import critical_values
from adhere.looks.judge import (
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
