from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.serving import Service, in_file


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests that do not stop or starve it."""
    with in_file(tmp_path_factory.mktemp("service") / "trials.db") as running:
        yield running
