"""What every population checks in the values it is given; each check names the field that failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from adhere.errors import InputError

Allocation = Sequence[float] | NDArray[np.float64] | None

SUM_TOLERANCE = 1e-9
MOST_PATIENTS = 2**53  # the largest count that a float64 holds exactly


def unit_number(field: str, value: object) -> float:
    """A number from 0 to 1: a reward, a mean reward or a probability.

    >>> unit_number("reward", 1)
    1.0
    """
    # The comparison also turns away NaN, which is neither above nor below anything.
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(field, value, "a number from 0 to 1")
    return float(value)


def whole_number(field: str, value: object, least: int = 0) -> int:
    """A whole number of patients, runs or records.

    >>> whole_number("count", 12.0)
    12
    """
    if not _is_number(value) or not least <= value <= MOST_PATIENTS or value != math.floor(value):
        raise InputError(field, value, f"a whole number from {least} to 2**53")
    return math.floor(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def arm_names(arms: Sequence[str]) -> tuple[str, ...]:
    """The names of at least two arms, all different.

    >>> arm_names(["none", "aspirin"])
    ('none', 'aspirin')
    """
    names = (arms,) if isinstance(arms, str) else tuple(arms)
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError("arms", name, "names in printable text, none of them empty")
    if len(names) < 2:
        raise InputError("arms", names, "at least two arms")
    different("arms", names)
    return names


def different(field: str, names: Sequence[str]) -> None:
    """Say which name comes twice, where each may come once."""
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(field, name, f"each name once, not {times} times")


def sums_to_one(field: str, values: Sequence[float]) -> None:
    """Probabilities must sum to one, up to rounding in the ninth decimal."""
    total = math.fsum(values)
    if abs(total - 1) > SUM_TOLERANCE:
        raise InputError(field, list(values), f"probabilities that sum to one, not to {total:.10g}")


def allocation_over(n_arms: int, allocation: Allocation) -> NDArray[np.float64]:
    """The probability with which each arm is chosen; uniform when none is given."""
    if allocation is None:
        return np.full(n_arms, 1 / n_arms)
    if not hasattr(allocation, "__len__") or len(allocation) != n_arms:
        raise InputError("allocation", allocation, f"{n_arms} probabilities, one per arm")
    shares = [unit_number(f"allocation of arm {arm}", share) for arm, share in enumerate(allocation)]
    sums_to_one("allocation", shares)
    return np.array(shares)
