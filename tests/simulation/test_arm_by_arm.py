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

from contract.policies_under_test import NESTED, is_compiled, variants

from .engine import arms_of
from .mixed_populations import engine_population, rows_for
from .stream_oracle import arms_of as oracle_arms_of
from .twins import twin_of

N_PATIENTS, N_RUNS, SEED = 300, 3, 11
ARM_COUNTS = (2, 3)
COMPILED = NESTED[::3]  # a hierarchy, a bound and a guard: compiling all of them takes a minute


def assert_same_arms(text: str, n_arms: int, compiled: bool = True) -> None:
    population = engine_population(rows_for(text, n_arms))
    engine = arms_of(text, population, N_PATIENTS, N_RUNS, SEED, compiled=compiled)
    for run, arms in enumerate(engine):
        expected = oracle_arms_of(twin_of(text, n_arms, N_PATIENTS), population, N_PATIENTS, SEED, run)
        np.testing.assert_array_equal(arms, expected, f"{text}, run {run}")


@pytest.mark.parametrize("n_arms", ARM_COUNTS)
def test_every_policy_of_the_battery(subject: str, n_arms: int) -> None:
    for text in variants(subject, n_arms):
        assert_same_arms(text, n_arms, compiled=is_compiled(subject, n_arms))


@pytest.mark.parametrize("n_arms", ARM_COUNTS)
@pytest.mark.parametrize("text", NESTED)
def test_policies_inside_each_other(text: str, n_arms: int) -> None:
    """Some compiled for two arms, the rest as Python: the battery has every part compiled for both."""
    assert_same_arms(text, n_arms, compiled=n_arms == 2 and text in COMPILED)
