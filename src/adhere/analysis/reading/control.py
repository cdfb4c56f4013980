"""Which arm the others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adhere.errors import InputError, nearest
from adhere.frames import arm_text

_USUAL: Final = ("control", "placebo", "none", "usual care", "standard of care", "sham", "no treatment")


def control_of(arms: Sequence[str], control: str | float | None = None) -> int:
    """The number of the control: the arm of that name, else one by its usual name, else the first.

    >>> control_of(("aspirin", "Placebo")), control_of(("aspirin", "Placebo"), "aspirin")
    (1, 0)
    """
    small = [arm.lower() for arm in arms]
    if control is None:
        return next((small.index(name) for name in _USUAL if name in small), 0)
    if not isinstance(control, (str, int, float)):
        raise InputError("control", control, "the name of an arm")
    name = control if isinstance(control, str) and control in arms else arm_text(control)
    if name in arms:
        return arms.index(name)
    if small.count(name.lower()) != 1:
        raise InputError("control", control, nearest(name, arms))
    return small.index(name.lower())
