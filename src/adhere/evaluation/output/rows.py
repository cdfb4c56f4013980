"""Numbers of an evaluation as text, and the columns and scenarios to show."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.intervals import Estimate
from adhere.report.section import Listing

UNKNOWN = "–"  # in place of a missing number
MAX_OPEN = 24  # rows of a table that is not folded
ERRORS = "in brackets: Monte Carlo standard error"
_MOST_DIGITS = 4
_MOST_OF_PERCENT = 2
_ROUNDING = 1e-9  # relative errors below this are rounding errors


def is_known(one: Estimate | None) -> bool:
    """Return whether there is a finite estimate."""
    return one is not None and math.isfinite(one.mean)


def column(
    estimates: Sequence[Estimate | None],
    *,
    percent: bool = False,
    sign: bool = False,
    errors: bool = True,
    unit: bool = True,
) -> list[str]:
    """Format the numbers of a column with the same number of decimals, which depends on their errors.

    With `sign`, the numbers are differences, in percentage points for shares. Differences, and numbers without
    `unit`, have no percent sign.

    >>> column([Estimate(0.0483, 0.0021, 0.0441, 0.0524), None], percent=True)
    ['4.8% (0.2)', '–']
    >>> column([Estimate(1749.6, 11.8, 1726.0, 1773.0)])
    ['1,750 (12)']
    >>> column([Estimate(527.33333, 1e-13, 527.3, 527.4)], errors=False)
    ['527']
    >>> column([Estimate(60.0, 0.0, 60.0, 60.0)])
    ['60 (0)']
    >>> column([Estimate(0.50002, 1e-6, 0.5, 0.50004)], percent=True, errors=False)
    ['50.00%']
    >>> column([Estimate(-0.0123, 0.0004, -0.013, -0.011), Estimate(0.05, 0.0008, 0.04, 0.06)], sign=True)
    ['-0.0123 (0.0004)', '+0.0500 (0.0008)']
    """
    factor, ending = 100.0 if percent else 1.0, "%" if percent and unit and not sign else ""
    known = [one for one in estimates if one is not None and math.isfinite(one.mean)]
    digits = _digits(known, factor)
    return [UNKNOWN if one not in known else _text(one, digits, factor, ending, sign, errors) for one in estimates]


def percent(one: Estimate | None, sign: bool = False) -> str:
    """Format a probability with its 95% interval.

    >>> percent(Estimate(0.0483, 0.0021, 0.0441, 0.0524))
    '4.8% [4.4, 5.2]'
    """
    if one is None or not math.isfinite(one.mean):
        return UNKNOWN
    digits, plus = _digits([one], 100.0), "+" if sign else ""
    ends = [] if one.low is None or one.high is None else [100 * one.low, 100 * one.high]
    interval = f" [{', '.join(_number(end, digits, plus) for end in ends)}]" if ends else ""
    return f"{_number(100 * one.mean, digits, plus)}%{interval}"


def short_percent(share: float) -> str:
    """Format an exact share.

    >>> short_percent(0.7), short_percent(0.125)
    ('70%', '12.5%')
    """
    return f"{100 * share:.4g}%"


def _digits(known: Sequence[Estimate], factor: float) -> int:
    """Return the number of decimals that shows one digit of the largest error; at least one for percentages."""
    largest = max((factor * one.se for one in known if one.se and one.se > _ROUNDING * abs(one.mean)), default=0.0)
    if largest <= 0.0:
        is_plain = all(abs(one.mean) >= 100 or abs(one.mean - round(one.mean)) < _ROUNDING for one in known)
        return 1 if factor > 1 else 0 if is_plain else 3
    exponent = math.floor(math.log10(largest))
    return max(1, min(_MOST_OF_PERCENT, -exponent)) if factor > 1 else max(0, min(_MOST_DIGITS, -exponent))


def _text(one: Estimate | None, digits: int, factor: float, unit: str, sign: bool, errors: bool) -> str:
    assert one is not None
    text = f"{_number(factor * one.mean, digits, '+' if sign else '')}{unit}"
    return text if one.se is None or not errors else f"{text} ({_number(factor * one.se, digits, '')})"


def _number(value: float, digits: int, sign: str) -> str:
    return f"{round(value, digits) + 0.0:{sign},.{digits}f}"  # + 0.0 turns -0.0 into 0.0


STATUSES = ("superior", "inferior", "equivalent", "futile")
INCONCLUSIVE = "inconclusive"
One = TypeVar("One")


def conclusion_columns(rows: Sequence[Characteristics]) -> dict[str, list[str]]:
    """Return columns of the shares of trials by conclusion, without statuses that never occur."""
    columns = {}
    for status in (*STATUSES, INCONCLUSIVE):
        numbers = [row.number(status) for row in rows]
        if status == INCONCLUSIVE or any(one is not None and one.mean > 0 for one in numbers):
            columns[status] = column(numbers, percent=True)
    return columns


def some_of(scenarios: Sequence[One], most: int) -> list[One]:
    """Return at most `most` elements, spread evenly from the first to the last.

    >>> some_of([0, 1, 2, 3, 4, 5, 6], 3)
    [0, 3, 6]
    """
    if len(scenarios) <= most:
        return list(scenarios)
    return [scenarios[round(place * (len(scenarios) - 1) / (most - 1))] for place in range(most)]


def listing(
    evaluation: EvaluationData, rows: Sequence[Characteristics], caption: str, columns: Mapping[str, Sequence[str]]
) -> Listing:
    """Return a table without empty columns. It begins with the scenario and the design, if there are several."""
    said = {heading: cells for heading, cells in columns.items() if any(cell != UNKNOWN for cell in cells)}
    first: dict[str, list[str]] = {"scenario": [row.scenario.name for row in rows]}
    if len(evaluation.designs) > 1:
        first["design"] = [row.design.name for row in rows]
    every = {**first, **said}
    lines = [list(cells) for cells in zip(*every.values(), strict=True)] if rows and said else []
    return Listing(caption, list(every), lines, folded=len(lines) > MAX_OPEN)


def scenario_columns(rows: Sequence[Characteristics]) -> dict[str, list[str]]:
    """Return columns that identify scenarios: names, or grid coordinates if all belong to a grid."""
    scenarios = [row.scenario for row in rows]
    kinds = [f"{one.null} null" if one.null else one.name.partition(", compliance ")[0] for one in scenarios]
    shares = ["" if one.compliance is None else short_percent(one.compliance) for one in scenarios]
    shifts = ["" if one.confounding is None else f"{one.confounding:g}" for one in scenarios]
    baselines = ["" if one.baseline is None else f"{one.baseline:g}" for one in scenarios]
    if not all(shares) or len(set(zip(kinds, shares, shifts, baselines, strict=True))) < len(rows):
        return {"scenario": [one.name for one in scenarios]}
    places = {"comply": shares, "confounding": shifts, "baseline": baselines}
    return {"scenario": kinds, **{name: cells for name, cells in places.items() if len(set(cells)) > 1}}
