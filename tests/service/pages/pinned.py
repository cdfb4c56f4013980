"""The same clock and the same secrets again and again: two services then differ only by what they do."""

from __future__ import annotations

import hashlib
import inspect
import os
import random
import sys
from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from adhere.trial.secret import recommendation_ids

_START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


class Pinned:
    """The machine's randomness and time as functions of the number of the request, which `tick` moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._request = self._drawn = 0
        monkeypatch.setattr(random, "_urandom", self._bytes)
        monkeypatch.setattr(os, "urandom", self._bytes)
        for name, value in {"_AT_ONCE": 0, "_pool": b"", "_used": 0}.items():  # nothing that was fetched before
            monkeypatch.setattr(recommendation_ids, name, value)
        clock = type("Clock", (datetime,), {"now": staticmethod(self.now)})
        for name, module in list(sys.modules.items()):
            if name.startswith("adhere.") and "datetime.now(" in inspect.getsource(module):
                monkeypatch.setattr(module, "datetime", clock)

    def restart(self) -> None:
        self._request = self._drawn = 0

    def tick(self) -> None:
        self._request, self._drawn = self._request + 1, 0

    def now(self, zone: tzinfo | None = None) -> datetime:
        return (_START + timedelta(minutes=self._request)).astimezone(zone)

    def _bytes(self, size: int) -> bytes:
        self._drawn += 1
        return hashlib.shake_128(f"{self._request} {self._drawn}".encode()).digest(size)
