"""The randomisation test by replay of an adaptive trial."""

from __future__ import annotations

from collections.abc import Iterator

from adhere.analysis.adaptive.randomisation_test import LoggedAllocation, randomisation_tests
from adhere.studies.coverage.alarms import Alarm, Test
from adhere.studies.coverage.fixed_reports import ALPHA, NO_EFFECT
from adhere.studies.coverage.people import People


def redrawn_reports(logged: LoggedAllocation, who: People, n_redraws: int, seed: int) -> Iterator[Alarm]:
    """Whether the test rejects that no outcome depends on the arm recommended."""
    (found,) = randomisation_tests(logged, n_redraws=n_redraws, seed=seed)
    test = Test("randomisation test by replay", NO_EFFECT, who.truth.is_null, True)
    yield Alarm(test, None if found.p_value is None else found.p_value <= ALPHA)
