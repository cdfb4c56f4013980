from __future__ import annotations

from typing import cast

import pytest

from .policies_under_test import ARM_COUNTS, SUBJECTS, variants


# Of the scope of a session, so that all tests of one subject run in a row in one process: it is compiled once.
@pytest.fixture(scope="session", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> str:
    return cast(str, request.param)


@pytest.fixture(params=ARM_COUNTS)
def n_arms(request: pytest.FixtureRequest) -> int:
    if "subject" in request.fixturenames and not variants(request.getfixturevalue("subject"), request.param):
        pytest.skip("it does not have so many arms")
    return cast(int, request.param)
