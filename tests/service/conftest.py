from __future__ import annotations

from collections.abc import Iterator

import pytest

from adhere.service.settings import ServiceSettings
from service.serving import Service, in_file


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests that do not stop or starve it; every route is asked without a token, too."""
    settings = ServiceSettings(failure_rate=1e6, failure_burst=1e6, tap_delay=0)
    with in_file(tmp_path_factory.mktemp("service") / "trials.db", settings) as running:
        yield running
