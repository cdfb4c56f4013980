"""Numbers of one column, written with as many decimals as they deserve."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adhere.intervals import Estimate


def estimate_texts(
    estimates: Sequence[Estimate], sign: str = "", intervals: bool = True, digits: int | None = None
) -> list[str]:
    """A column of means with their intervals, all to the same decimals; `sign` is '+' to show it always.

    >>> estimate_texts([Estimate(1.234, 0.1, 1.038, 1.43), Estimate(-11.234, 0.2, -11.626, -10.842)])
    ['1.23 [1.04, 1.43]', '-11.23 [-11.63, -10.84]']
    """
    digits = digits_of(estimates) if digits is None else digits
    texts = []
    for one in estimates:
        text = _number(one.mean, digits, sign)
        if intervals and one.low is not None and one.high is not None:
            text += f" [{_number(one.low, digits, sign)}, {_number(one.high, digits, sign)}]"
        texts.append(text)
    return texts


def counted(number: int, thing: str) -> str:
    """How many there are of something whose plural ends in s.

    >>> counted(1, "record"), counted(1200, "record")
    ('1 record', '1,200 records')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def rounded_numbers(text: str) -> str:
    """A policy's text with numbers as people read them; what computed them has all their digits.

    >>> rounded_numbers("exp3(gamma=0.04379612181067773)/actual")
    'exp3(gamma=0.0438)/actual'
    """
    return re.sub(r"\d+\.\d{5,}(e-?\d+)?", lambda match: f"{float(match[0]):.3g}", text)


def estimate_in_row(row: Mapping[str, Any], name: str) -> Estimate:
    """The estimate that a row of a table holds in the columns `name`, `name_low` and `name_high`."""
    return Estimate(row[name], None, row[f"{name}_low"], row[f"{name}_high"])


def columns_of(one: Estimate, name: str) -> dict[str, float | None]:
    """An estimate as columns of a table, to be read again by `estimate_in_row`."""
    return {name: one.mean, f"{name}_low": one.low, f"{name}_high": one.high}


def digits_of(estimates: Sequence[Estimate]) -> int:
    """Two figures of the widest interval's half, but no more than four figures in all."""
    before_point = max(1, 1 + _exponent(max(abs(one.mean) for one in estimates)))
    widest = max((one.high - one.mean for one in estimates if one.high is not None), default=0.0)
    return max(0, min(1 - _exponent(widest), 4 - before_point))


def _exponent(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0 else -1


def _number(value: float, digits: int, sign: str) -> str:
    return f"{round(value, digits) + 0.0:{sign},.{digits}f}"  # + 0.0 turns -0.0 into 0.0
