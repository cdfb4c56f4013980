"""Nothing a user computes has changed since 0.1.0, to the bit."""

from __future__ import annotations

from typing import Any

import pytest

from contract.policies_under_test import NEWER_THAN_GOLDENS, SUBJECTS

from .digests import read_golden
from .live_scripts import in_memory
from .simulations import simulated
from .stored_trials import POLICIES, in_store


def assert_as_before(found: dict[str, Any], golden: dict[str, Any]) -> None:
    """Entry by entry, so that a failure names the policy and what of it is different."""
    assert found
    for key, entry in found.items():
        for what, value in entry.items():
            assert value == golden[key][what], f"{key}: {what}"


def test_simulations(subject: str) -> None:
    if subject in NEWER_THAN_GOLDENS:
        pytest.skip("the goldens are older")
    assert_as_before(simulated(subject), read_golden("simulations"))


def test_live_trials_in_memory(subject: str) -> None:
    if subject in NEWER_THAN_GOLDENS:
        pytest.skip("the goldens are older")
    assert_as_before(in_memory(subject), read_golden("live_scripts"))


@pytest.mark.parametrize("policy", POLICIES)
def test_live_trials_in_a_store(policy: str) -> None:
    assert_as_before({policy: in_store(policy)}, read_golden("stored_trials"))


def test_goldens_hold_nothing_that_is_not_compared() -> None:
    assert len(read_golden("stored_trials")) == len(POLICIES)
    for name in ("simulations", "live_scripts"):
        texts = list(read_golden(name))
        assert all(
            any(text.startswith(subject) for text in texts)
            for subject in SUBJECTS
            if subject not in NEWER_THAN_GOLDENS
        )
