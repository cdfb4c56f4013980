from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from adhere.store import Store

from .places import Place


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Somewhere to keep trials, empty."""
    with Place(_where(request, tmp_path)) as place:
        yield place


@pytest.fixture
def store(place: Place) -> Store:
    return place.open()


@pytest.fixture(params=["sqlite", "postgres"])
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Somewhere to keep trials beyond the end of a process, empty."""
    with Place(_where(request, tmp_path)) as place:
        yield place


def _where(request: pytest.FixtureRequest, folder: Path) -> str | Path | None:
    if request.param == "memory":
        return None
    if request.param == "sqlite":
        return folder / "trials.db"
    return cast(str, request.getfixturevalue("database_url"))  # only then is a server started
