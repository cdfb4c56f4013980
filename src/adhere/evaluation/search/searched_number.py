"""Which number of a design a calibration searches for, and in which range."""

from __future__ import annotations

from adhere.checks import is_number
from adhere.design.design import Design
from adhere.errors import InputError
from adhere.evaluation.search.named_number import number_of
from adhere.evaluation.search.search import PLAIN, PROBIT, Range

_CRITICAL_VALUE = Range(0.5, 8.0, PLAIN, 4, strict="high")
_RANGES = {
    "stopping.superiority": Range(0.51, 0.99999, PROBIT, 5, strict="high"),
    "stopping.inferiority": Range(0.00001, 0.49, PROBIT, 5, strict="low"),
    "stopping.equivalence": Range(0.51, 0.99999, PROBIT, 5),
    "stopping.futility": Range(0.00001, 0.49, PROBIT, 5),
    "stopping.alpha": Range(0.00001, 0.5, PROBIT, 5, strict="low"),
    "stopping.margin": Range(0.001, 0.5, PLAIN, 4),
}
_CRITICAL = ("stopping.superiority", "stopping.inferiority")


def usual_number(design: Design) -> str:
    """The number that decides how often a design claims something: what a calibration searches for by default."""
    if design.stopping is None:
        sentence = "stopping: the design has none, so it never claims a difference; there is nothing to calibrate"
        raise InputError("stopping", None, "what looks decide by", sentence)
    has_level = design.stopping.boundary is not None or design.stopping.by == "wealth"
    return "stopping.alpha" if has_level else "stopping.superiority"


def range_to_search(design: Design, number: str, between: tuple[float, float] | None) -> Range:
    """Where to search for a number of a design; `between` narrows it, and is needed for numbers of no known range."""
    number_of(design, number)  # which refuses names of no number
    is_critical = design.stopping is not None and design.stopping.by == "z-test" and number in _CRITICAL
    usual = _CRITICAL_VALUE if is_critical else _RANGES.get(number)
    if between is None:
        if usual is None:
            sentence = f"{number}: between which two numbers to search? Give between (--between LOW HIGH)"
            raise InputError("between", None, "the two ends of the range to search", sentence)
        return usual
    is_pair = isinstance(between, (tuple, list)) and len(between) == 2 and all(map(is_number, between))
    if not is_pair or not between[0] < between[1]:
        raise InputError("between", between, "two numbers, the lower one first")
    low, high = map(float, between)
    if usual is None:
        return Range(low, high, PLAIN, 4)
    if low < usual.low or high > usual.high:
        raise InputError("between", between, f"numbers from {usual.low:g} to {usual.high:g} for {number}")
    return Range(low, high, usual.scale, usual.decimals, usual.strict)
