"""Nothing a user computes has changed since it was released: arms not at all, numbers by no more than rounding."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

import pytest

from adhere import parse_policy
from adhere.policies.base.registry import registry
from contract.policies_under_test import SUBJECTS, is_compiled

from .analyses import ANALYSES, PAGES, analysed, page
from .analyses import SLOW as SLOW_ANALYSES
from .digests import differences, read_golden
from .evaluations import EVALUATIONS, QUICK, evaluated
from .live_scripts import in_memory, scripts
from .live_trials import POLICIES, by_secret
from .simulations import names, simulated


def assert_as_before(found: dict[str, Any], golden: dict[str, Any]) -> None:
    """Entry by entry, so that a failure names the policy and what of it is different."""
    assert found
    assert list(differences(found, {key: golden[key] for key in found})) == []


def test_simulations(subject: str, n_arms: int) -> None:
    if not is_compiled(subject, n_arms):
        pytest.skip("it is not compiled for so many arms")
    assert_as_before(simulated(subject, n_arms), read_golden("simulations"))


def test_live_trials_in_memory(subject: str, n_arms: int) -> None:
    assert_as_before(in_memory(subject, n_arms), read_golden("live_scripts"))


@pytest.mark.parametrize("policy", POLICIES)
def test_live_trials_by_a_secret(policy: str) -> None:
    assert_as_before({policy: by_secret(policy)}, read_golden("live_trials"))


def marked(names: Iterable[str], slow: Collection[str]) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.slow] if name in slow else []) for name in names]


@pytest.mark.parametrize("name", marked(ANALYSES, SLOW_ANALYSES))
def test_analyses(name: str) -> None:
    assert_as_before({name: analysed(name)}, read_golden("analyses"))


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_pages_of_analyses(name: str) -> None:
    assert_as_before({name: page(name)}, read_golden("pages"))


@pytest.mark.parametrize("name", marked(EVALUATIONS, EVALUATIONS.keys() - set(QUICK)))
def test_evaluations(name: str) -> None:
    assert_as_before({name: evaluated(name)}, read_golden("evaluations"))


@pytest.mark.parametrize("golden", ["simulations", "live_scripts"])
def test_every_registered_policy_has_goldens(golden: str) -> None:
    """Read from the golden files themselves; tests declare policies too, which need none."""
    own = {name for name, cls in registry.items() if cls.__module__.startswith("adhere.")}
    policies = {re.split(r" on [^ ]+$| \(\d+\)$", entry)[0] for entry in read_golden(golden)}
    assert own - {part.name for policy in policies for part in parse_policy(policy).parts()} == set()


def test_goldens_hold_what_is_compared_and_nothing_else() -> None:
    """An entry of a policy that is no longer under test fails here, as does a policy under test without an entry."""
    assert list(read_golden("live_trials")) == list(POLICIES)
    assert list(read_golden("analyses")) == list(ANALYSES)
    assert list(read_golden("pages")) == list(PAGES)
    assert list(read_golden("evaluations")) == list(EVALUATIONS)
    assert sorted(read_golden("simulations")) == sorted(name for subject in SUBJECTS for name in names(subject))
    assert sorted(read_golden("live_scripts")) == sorted(
        name for subject in SUBJECTS for name, *_ in scripts(subject)
    )
