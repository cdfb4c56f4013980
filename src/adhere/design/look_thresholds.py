"""What each look of a design compares with which thresholds, in words."""

from __future__ import annotations

import msgspec

from adhere.design.design import Design
from adhere.design.look_rules import look_rules
from adhere.looks.judge import VALUES, NoRules, Rules, WealthRules, ZRules

BEST, BETTER, ALIKE = "probability of being best", "probability of being better", "probability of being alike"
GAIN, Z, DIFFERENCE = "probability of gaining more than the margin", "z", "difference and its error"
LOG_BETTER, LOG_WORSE = "log wealth of the bet on better", "log wealth of the bet on worse"


class LookThreshold(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a number at a look must be for a status: `of` is the number's name."""

    of: str
    at_least: float | None = None
    at_most: float | None = None


def measures(rules: Rules) -> tuple[str, ...]:
    """The names of the numbers that a look compares with its four thresholds, in the order of `looks.VALUES`."""
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
        """Those of a look, counted from 0."""
        return thresholds_of(self._rules, look)

    def named(self, values: tuple[float | None, ...]) -> dict[str, float]:
        """The numbers of an arm by their names; one that is compared with two thresholds is there once."""
        return {name: value for name, value in zip(self._measures, values, strict=True) if value is not None}
