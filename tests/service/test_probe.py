"""Readiness and health: answered from what is known, whatever else is under way."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from adhere.service.probe import StoreProbe
from adhere.store import StoreError, open_store
from service.serving import Service, in_thread, wait_until


@contextmanager
def held_up(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Service, threading.Event]]:
    """A service whose store does not answer threads of this name until the event is set."""
    store = open_store(tmp_path / "trials.db")
    may_go, reading = threading.Event(), store.reading
    may_go.set()

    def waiting() -> Any:
        if threading.current_thread().name.startswith(threads):
            may_go.wait(20)
        return reading()

    monkeypatch.setattr(store, "reading", waiting)
    with in_thread(store) as service:
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200)
        try:
            yield service, may_go
        finally:
            may_go.set()


def test_readiness_and_health_do_not_wait_for_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with held_up("reader", tmp_path, monkeypatch) as (service, may_go):
        may_go.clear()
        found: list[int] = []
        readers = [
            threading.Thread(target=lambda: found.append(service.send("GET", "/trials").status)) for _ in range(6)
        ]
        for reader in readers:
            reader.start()
        time.sleep(0.1)
        begin = time.monotonic()
        assert service.send("GET", "/readyz", role=None).status == 200
        assert service.send("GET", "/healthz", role=None).status == 200
        assert time.monotonic() - begin < 1.0
        assert not found
        may_go.set()
        for reader in readers:
            reader.join()
        assert found == [200] * 6


def test_a_frozen_store_makes_the_service_unready_and_a_thawed_one_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_up("probe", tmp_path, monkeypatch) as (service, may_go):
        assert service.send("GET", "/readyz", role=None).status == 200
        may_go.clear()
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 503)
        assert service.send("GET", "/healthz", role=None).status == 200
        may_go.set()
        wait_until(lambda: service.send("GET", "/readyz", role=None).status == 200)


@pytest.mark.slow
def test_what_the_store_says_is_kept_until_it_answers_again() -> None:
    answers: list[Exception | None] = [StoreError("the disk is gone"), ValueError("odd"), None]
    seen: list[str | None] = []

    def check() -> None:
        seen.append(probe.last_error)
        if answers and (error := answers.pop(0)):
            raise error

    probe = StoreProbe(check)
    probe.start()
    wait_until(lambda: len(seen) > 3)
    probe.stop()
    assert seen[:4] == [None, "the disk is gone", "ValueError: odd", None]
