"""Numbers in steps so coarse that every device computes the same one."""

from __future__ import annotations

import math
from typing import Final

from adhere.compilation import inline

_STEPS: Final = 2.0**20  # in 1


@inline
def in_steps(number: float) -> float:
    """A number that came from logarithms, which on a GPU may differ in their last bit, to the nearest 2⁻²⁰."""
    return math.floor(number * _STEPS + 0.5) / _STEPS
