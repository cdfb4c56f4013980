"""Policies written as plain Python objects run in the same trials as compiled ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adhere import InputError, PolicyError, simulate
from adhere.populations import as_population


class Recorder:
    """Always the same arm; counts the patients it saw and writes down what it was told."""

    name = "recorder"

    def __init__(self, arm: Any = 0) -> None:
        self.arm = arm
        self.seen = 0

    def choose(self) -> Any:
        return self.arm

    def update(self, chosen: int, actual: int, reward: float) -> None:
        assert (type(chosen), type(actual), type(reward)) == (int, int, float)
        self.seen += 1
        DIARY.append((self.seen, chosen, actual, reward))


DIARY: list[tuple[int, int, int, float]] = []


class Chance:
    """Draws an arm from the generator it is handed."""

    def choose(self, rng: np.random.Generator) -> int:
        return int(rng.integers(2))

    def update(self, chosen: int, actual: int, reward: float) -> None:
        """Learn nothing."""


def test_it_meets_the_same_patients_with_a_fresh_copy_for_each_run() -> None:
    DIARY.clear()
    policy, population = Recorder(1), as_population("stroke-aspirin")
    simulate(policy, population, n_patients=8, n_runs=3, seed=21, n_threads=1)
    assert policy.seen == 0
    expected = []
    for run in range(3):
        patients = population.patients(21, run, 8)
        for t in range(8):
            expected.append((t + 1, 1, int(patients.actual[t, 1]), float(patients.reward[t, 1])))
    assert expected == DIARY


def test_an_arm_that_is_always_chosen_earns_what_it_promises() -> None:
    """Beside compiled policies, with the same baseline of the same patients."""
    population = as_population("rich-and-poor")
    result = simulate([Recorder(0), "uniform"], population, n_patients=50, n_runs=30, seed=3, grid=[10, 50])
    outcome = result["rich-and-poor", "recorder"]
    means = population.mean_given_chosen()
    np.testing.assert_allclose(outcome.trajectory().mean, np.array([10, 50]) * (means[0] - means.mean()))
    assert outcome.surplus.se == pytest.approx(0.0, abs=1e-12)
    assert outcome.allocation["control"].mean == 1.0
    assert outcome.favours_best_arm.mean == 1.0
    assert outcome.experts == {}
    rewards = [population.patients(3, run, 50).reward for run in range(30)]
    assert outcome.reward.mean == pytest.approx(np.mean([reward[:, 0].sum() for reward in rewards]))
    realised = [(reward[:, 0] - reward.mean(axis=1)).sum() for reward in rewards]
    assert outcome.realised_surplus.mean == pytest.approx(np.mean(realised))


def test_a_generator_of_its_own_for_each_run() -> None:
    one, again, other = (simulate(Chance(), "defiers", 200, 40, seed=seed)[0] for seed in (1, 1, 2))
    assert one.allocation == again.allocation != other.allocation
    share = one.allocation["control"]
    assert share.se is not None
    assert 0 < abs(share.mean - 0.5) < 3.7 * share.se
    assert one.policy == "Chance"


def test_threads_do_not_matter_to_it() -> None:
    one, three = (simulate(Chance(), "defiers", 30, 100, seed=4, n_threads=n)[0] for n in (1, 3))
    np.testing.assert_array_equal(one.moments.mean, three.moments.mean)


@pytest.mark.parametrize("arm", [2, -1, None, "treatment", 0.5, True, np.True_, 1.0, np.array([0, 1])])
def test_what_is_not_an_arm_is_refused(arm: object) -> None:
    with pytest.raises(InputError, match=r"^arm chosen by recorder: "):
        simulate(Recorder(arm), "defiers", n_patients=3, n_runs=1)


@pytest.mark.parametrize("arm", [np.int64(1), np.uint8(1)])
def test_numpys_integers_are_arms(arm: object) -> None:
    assert simulate(Recorder(arm), "defiers", n_patients=3, n_runs=1)[0].allocation["treatment"].mean == 1.0


@pytest.mark.parametrize("thing", [object(), 5, None])
def test_what_is_not_a_policy_is_refused(thing: Any) -> None:
    with pytest.raises(InputError, match=r"^policy: .*choose and update"):
        simulate(thing, "defiers", n_patients=3, n_runs=1)


def test_its_own_exceptions_reach_the_caller_with_their_line() -> None:
    class Broken(Recorder):
        def choose(self) -> Any:
            raise ZeroDivisionError("mine")

    with pytest.raises(
        PolicyError, match=r"test_python_policies.py line \d+: ZeroDivisionError: mine \(pat"
    ) as error:
        simulate([Broken(), "uniform"], "defiers", n_patients=3, n_runs=5)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
