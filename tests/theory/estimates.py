"""Small helpers: how sure is a difference?"""

from __future__ import annotations

import math

from adhere.simulation import Estimate


def z_of(estimate: Estimate, expected: float = 0.0, expected_se: float = 0.0) -> float:
    """How many standard errors an estimate lies above what is expected."""
    assert estimate.se is not None
    return (estimate.mean - expected) / math.hypot(estimate.se, expected_se)
