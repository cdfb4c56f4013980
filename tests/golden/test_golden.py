"""Nothing a user computes has changed since 0.1.0: arms not at all, numbers by no more than rounding."""

from __future__ import annotations

from typing import Any

import pytest

from contract.policies_under_test import NEWER_THAN_GOLDENS, SUBJECTS

from .digests import differences, read_golden
from .live_scripts import in_memory, scripts
from .live_trials import POLICIES, by_secret
from .simulations import names, simulated


def assert_as_before(found: dict[str, Any], golden: dict[str, Any]) -> None:
    """Entry by entry, so that a failure names the policy and what of it is different."""
    assert found
    assert list(differences(found, {key: golden[key] for key in found})) == []


def test_simulations(subject: str) -> None:
    if subject in NEWER_THAN_GOLDENS:
        pytest.skip("the goldens are older")
    assert_as_before(simulated(subject), read_golden("simulations"))


def test_live_trials_in_memory(subject: str) -> None:
    if subject in NEWER_THAN_GOLDENS:
        pytest.skip("the goldens are older")
    assert_as_before(in_memory(subject), read_golden("live_scripts"))


@pytest.mark.parametrize("policy", POLICIES)
def test_live_trials_by_a_secret(policy: str) -> None:
    assert_as_before({policy: by_secret(policy)}, read_golden("live_trials"))


def test_goldens_hold_nothing_that_is_not_compared() -> None:
    assert list(read_golden("live_trials")) == list(POLICIES)
    subjects = [subject for subject in SUBJECTS if subject not in NEWER_THAN_GOLDENS]
    assert list(read_golden("simulations")) == [name for subject in subjects for name in names(subject)]
    assert list(read_golden("live_scripts")) == [name for subject in subjects for name, *_ in scripts(subject)]
