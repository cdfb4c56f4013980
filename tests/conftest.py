"""What tests of several folders use."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from reruns import pytest_terminal_summary as pytest_terminal_summary
from store.postgres_server import fresh_database, shared_server

# Collecting makes millions of objects that stay: looking for garbage among them costs a quarter of it.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the whole reproduction first: it compiles, in processes of its own, what many others then find on disk.

    Started later, two test processes would compile the same policies at once.
    """
    items.sort(key=lambda item: item.path.name != "test_quick_run.py")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL that runs for this test run only."""
    own = tmp_path_factory.getbasetemp()
    with shared_server(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) as url:
        yield url


@pytest.fixture
def database_url(postgres_server: str) -> str:
    """The address of an empty PostgreSQL database."""
    return fresh_database(postgres_server)
