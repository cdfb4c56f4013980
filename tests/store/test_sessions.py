"""Sessions and one-time links in every store: they end in time, and in every process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from adhere.access.sessions import Sessions
from adhere.access.tokens import Tokens
from adhere.store import open_store
from adhere.store.records import Token

from .places import Place


@pytest.fixture
def clock() -> list[float]:
    return [1_700_000_000.0]


@pytest.fixture
def two(place: Place, clock: list[float]) -> Iterator[tuple[Sessions, Sessions, Token]]:
    """The sessions of one store in two processes, as it were, and an admin."""
    store = place.open()
    tokens = Tokens(store, clock=lambda: clock[0])
    assert tokens.make_first()
    first, second = (Sessions(store, tokens, hours=1, clock=lambda: clock[0]) for _ in range(2))
    yield first, second, tokens.all()[0]
    store.close()


def test_sessions_and_links_end_in_time_and_in_every_process(
    two: tuple[Sessions, Sessions, Token], clock: list[float]
) -> None:
    first, second, admin = two
    secret, link = first.open(admin), first.make_link(admin.id, 10)[0]
    assert first.find(secret) == admin
    assert second.find(secret) is None
    second.refresh()
    assert second.find(secret) == admin
    assert second.take_link(link) == admin
    assert first.take_link(link) is None
    late = first.make_link(admin.id, 10)[0]
    clock[0] += 601
    assert first.take_link(late) is None
    clock[0] += 3600
    assert first.find(secret) is None
    other = first.open(admin)
    second.refresh()
    second.close(other)
    first.refresh()
    assert first.find(other) is None


def test_secrets_are_not_in_the_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a.db")
    tokens = Tokens(store)
    assert tokens.make_first()
    sessions = Sessions(store, tokens, hours=1)
    said = [sessions.open(tokens.all()[0]), sessions.make_link(1, 5)[0]]
    store.close()
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not any(secret.encode() in kept for secret in said)
