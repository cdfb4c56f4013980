"""What a trial accepts: names, rewards, numbers; each refusal says the field, the value and what was expected."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from adhere.errors import InputError

LONGEST_NAME = 200
LONGEST_TEXT = 2000
MOST_ARMS = 100


def checked_arms(arms: object) -> tuple[str, ...]:
    """The names of at least two arms, all different."""
    if isinstance(arms, str) or not isinstance(arms, Sequence) or not 2 <= len(arms) <= MOST_ARMS:
        raise InputError("arms", arms, f"the names of at least two arms, at most {MOST_ARMS}")
    for arm in arms:
        if not isinstance(arm, str) or not arm.strip() or list(arms).count(arm) > 1:
            raise InputError("arms", arm, "different names in text, none of them empty")
    names = tuple(checked_text("arms", arm) for arm in arms)
    if len(set(names)) < len(names):
        raise InputError("arms", ", ".join(names), "names that look different")
    return names


def checked_text(field: str, value: object, longest: int = LONGEST_NAME) -> str:
    """Text that can be printed, stored anywhere and found again, in Unicode's composed form.

    >>> checked_text("subject", "S-001")
    'S-001'
    """
    if not isinstance(value, str):
        raise InputError(field, value, "text")
    if not value or value != value.strip():
        raise InputError(field, value, "text that is not empty and has no spaces at its ends")
    if len(value) > longest:
        raise InputError(field, value, f"at most {longest} letters (these are {len(value)})")
    if value.isascii() and value.isprintable():
        return value
    for letter in value:
        # Control characters, surrogates, private and unassigned code points: none of them can be told apart by eye.
        if unicodedata.category(letter).startswith("C"):
            raise InputError(field, ascii(value), f"letters that can be seen, not U+{ord(letter):04X}")
    return unicodedata.normalize("NFC", value)


def checked_reward(value: object) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError("reward", value, "a number from 0 to 1")
    if not 0.0 <= value <= 1.0:
        raise InputError("reward", value, "a number from 0 to 1")
    return float(value) + 0.0  # no minus before a zero


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, and no yes or no."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
