"""Checks of numbers, names and text from users; an error names the field, the value and what was expected."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeGuard

import numpy as np

from adhere.errors import InputError

MAX_COUNT = 2**53  # a float64 represents every whole number up to this one exactly
MAX_NAME_LENGTH = 200
MAX_TEXT_LENGTH = 2000
_SUM_TOLERANCE = 1e-9


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number; True and False are not."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a value is of an integer type; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_unit_number(field: str, value: object) -> float:
    """Check and return a number from 0 to 1: a probability or a share.

    >>> check_unit_number("probability", 1)
    1.0
    """
    # The comparison also refuses NaN, since comparisons with NaN are false.
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(field, value, "a number from 0 to 1")
    return float(value) + 0.0  # turns -0.0 into 0.0


def check_reward(field: str, value: object) -> float:
    """Check and return a reward or mean reward: a number from 0 to 1, or True (1) or False (0).

    >>> check_reward("reward", True)
    1.0
    """
    return check_unit_number(field, float(value) if isinstance(value, (bool, np.bool_)) else value)


def check_integer(field: str, value: object, at_least: int, at_most: int) -> int:
    """Check and return an integer in a range.

    >>> check_integer("n_runs", 10, 1, 1000)
    10
    """
    if not is_integer(value) or not at_least <= value <= at_most:
        raise InputError(field, value, f"a whole number from {at_least:,} to {at_most:,}")
    return int(value)


def check_count(field: str, value: object, at_least: int = 0) -> int:
    """Check and return a number of patients, runs or records, which a table may contain as a float.

    >>> check_count("count", 12.0)
    12
    """
    if not is_number(value) or not at_least <= value <= MAX_COUNT or value != math.floor(value):
        raise InputError(field, value, f"a whole number from {at_least} to 2**53")
    return math.floor(value)


def check_sums_to_one(field: str, values: Sequence[float]) -> None:
    """Check that probabilities sum to 1, up to rounding in the ninth decimal."""
    total = math.fsum(values)
    if abs(total - 1) > _SUM_TOLERANCE:
        raise InputError(field, list(values), f"probabilities that sum to one, not to {total:.10g}")


def check_unique(field: str, names: Iterable[str]) -> None:
    """Check that no name occurs twice."""
    for name, times in Counter(names).most_common(1):
        if times > 1:
            raise InputError(field, name, f"each name once, not {times} times")


def check_arms(arms: Sequence[str]) -> tuple[str, ...]:
    """Check and return the names of at least two arms, all different.

    >>> check_arms(["none", "aspirin"])
    ('none', 'aspirin')
    """
    names = (arms,) if isinstance(arms, str) else tuple(arms)
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError("arms", name, "names in printable text, none of them empty")
    if len(names) < 2:
        raise InputError("arms", names, "at least two arms")
    check_unique("arms", names)
    return names


def check_text(field: str, value: object, max_length: int = MAX_NAME_LENGTH) -> str:
    """Check text that can be printed, stored anywhere and found again; return it in Unicode's composed form.

    >>> check_text("subject", "S-001")
    'S-001'
    """
    # Most texts are plain ASCII. This function runs six times for each recommendation and its report.
    if (
        isinstance(value, str)
        and 0 < len(value) <= max_length
        and value.isascii()
        and value.isprintable()
        and value[0] != " " != value[-1]
    ):
        return value
    if not isinstance(value, str):
        raise InputError(field, value, "text")
    if not value or value != value.strip():
        raise InputError(field, value, "text that is not empty and has no spaces at its ends")
    if len(value) > max_length:
        raise InputError(field, value, f"at most {max_length} characters (got {len(value)})")
    for letter in value:
        # Control characters, surrogates, private and unassigned code points cannot be told apart by eye.
        if unicodedata.category(letter).startswith("C"):
            raise InputError(field, value, f"visible characters, not U+{ord(letter):04X}")
    return unicodedata.normalize("NFC", value)
