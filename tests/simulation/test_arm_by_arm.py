"""The engine's arms, one by one, against the oracle fed with the same random numbers.

One wrong weight, draw, credit or order of learning changes an arm sooner or later, so this sees faults that a
comparison of distributions cannot.

Deliberate faults, one at a time, that were seen to turn these tests red: importance weights left out of the
hierarchy; base Thompson without weights, or with a prior of 1; √(ln n / n_j) in UCB1; γ that is 1% off; ρ of
Hierarchical EXP3 doubled; ThompsonBounded with a sampler that learns from every round, with the literal reading in
place of the default, or without recycling.
"""

from __future__ import annotations

import numpy as np
import pytest

from contract.policies_under_test import ARM_COUNTS, NESTED, SUBJECTS, TWO_ARMED, is_compiled, variants

from .engine import arms_of
from .mixed_populations import engine_population, rows_for
from .stream_oracle import arms_of as oracle_arms_of
from .twins import twin_of

SEED = 11


def assert_same_arms(text: str, n_arms: int, compiled: bool, n_patients: int = 300, n_runs: int = 3) -> None:
    population = engine_population(rows_for(text, n_arms))
    engine = arms_of(text, population, n_patients, n_runs, SEED, compiled=compiled)
    for run, arms in enumerate(engine):
        expected = oracle_arms_of(twin_of(text, n_arms, n_patients), population, n_patients, SEED, run)
        np.testing.assert_array_equal(arms, expected, f"{text}, run {run}")


def test_every_policy_of_the_battery(subject: str, n_arms: int) -> None:
    for text in variants(subject, n_arms):
        assert_same_arms(text, n_arms, compiled=is_compiled(subject, n_arms))


@pytest.mark.slow
@pytest.mark.parametrize("text", NESTED)
def test_policies_inside_each_other(text: str) -> None:
    assert_same_arms(text, 2, compiled=True)


@pytest.mark.parametrize("n_arms", ARM_COUNTS)
@pytest.mark.parametrize("text", [*SUBJECTS, *NESTED])
def test_every_composition_as_python(text: str, n_arms: int) -> None:
    """Without compiling, where a patient takes a millisecond and more: a short trial of each."""
    if n_arms == 2 or text not in TWO_ARMED:
        assert_same_arms(text, n_arms, compiled=False, n_patients=90, n_runs=1)
