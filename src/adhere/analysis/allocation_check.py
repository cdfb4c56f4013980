"""Were arms drawn with the probabilities in the log? A bet against it, valid whenever one stops."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AllocationCheck:
    """How often each arm was assigned and was to be expected, and what a bet against the log has won.

    `log_e` is the logarithm of the e-value, the average of those of the arms (`log_e_by_arm`); it is rejected that
    arms were drawn as logged where e ≥ 1/α.
    """

    arms: tuple[str, ...]
    observed: tuple[int, ...]
    expected: tuple[float, ...]
    log_e_by_arm: tuple[float, ...]
    log_e: float
    rejected: bool
    sentence: str
