"""Which arm the others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adhere.errors import InputError, nearest

_USUAL: Final = ("control", "placebo", "none", "usual care", "standard of care", "sham", "no treatment")


def control_of(arms: Sequence[str], control: str | None = None) -> int:
    """The number of the control: the arm of that name, else one by its usual name, else the first.

    >>> control_of(("aspirin", "Placebo")), control_of(("aspirin", "Placebo"), "aspirin")
    (1, 0)
    """
    small = [arm.lower() for arm in arms]
    if control is None:
        return next((small.index(name) for name in _USUAL if name in small), 0)
    if control in arms:
        return arms.index(control)
    if small.count(control.lower()) != 1:
        raise InputError("control", control, nearest(control, arms))
    return small.index(control.lower())
