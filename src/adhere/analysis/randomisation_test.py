"""The randomisation test by replay: is the difference larger than the allocation alone would make it?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RandomisationTest:
    """The test of "no patient's outcome, nor when it is reported, depends on the arm told", for a pair of arms.

    `statistic` is the intention-to-treat difference. Where the test was not run, `reason` says why.
    """

    treatment: str
    control: str
    statistic: float | None
    p_value: float | None
    n_redraws: int
    exact: bool
    reason: str
