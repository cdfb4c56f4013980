"""How often a test raised an alarm, and whether it should have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Test(NamedTuple):
    """A test of a hypothesis that is true here, or false; `judged` where it promises few false alarms."""

    name: str
    hypothesis: str
    is_true: bool
    judged: bool


class Alarm(NamedTuple):
    """Whether a test rejected its hypothesis in a trial; None where it could not say."""

    test: Test
    raised: bool | None


@dataclass
class AlarmTally:
    """How many trials a test was made in, and in how many of them it rejected."""

    n: int = 0
    n_raised: int = 0

    def add(self, raised: bool | None, times: int = 1) -> None:
        """Count a test made in so many trials."""
        if raised is not None:
            self.n += times
            self.n_raised += times * raised

    def join(self, other: AlarmTally) -> None:
        """Count what another has counted too."""
        self.n += other.n
        self.n_raised += other.n_raised
