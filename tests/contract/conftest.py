from __future__ import annotations

from typing import cast

import pytest

from slow import slow

from .policies_under_test import ARM_COUNTS, SLOW, SUBJECTS, variants


# Of the scope of a session, so that all tests of one subject run in a row in one process: it is compiled once.
@pytest.fixture(scope="session", params=[slow(subject) if subject in SLOW else subject for subject in SUBJECTS])
def subject(request: pytest.FixtureRequest) -> str:
    return cast(str, request.param)


@pytest.fixture(params=[slow(n_arms) if n_arms > 2 else n_arms for n_arms in ARM_COUNTS])
def n_arms(request: pytest.FixtureRequest) -> int:
    if "subject" in request.fixturenames and not variants(request.getfixturevalue("subject"), request.param):
        pytest.skip("it does not have so many arms")
    return cast(int, request.param)
