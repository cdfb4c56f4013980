"""Which adhere a process runs."""

from __future__ import annotations

import pytest

from adhere.simulation.execution import identity


def test_sources_edited_since_the_start_are_not_those_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_LOADED", 1e12)
    as_loaded = identity.identity()
    monkeypatch.setattr(identity, "_LOADED", 0.0)
    said = identity.differences(identity.identity(), as_loaded)
    assert said.startswith("adhere's sources ")
    assert "edited after its start" in said
