"""Naive estimates hold where they should: trials of a fixed size, randomised 1:1, whatever compliance is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adhere.evaluation.characteristics import naive_estimates
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.evaluation.scenarios.scenario import truth_of
from adhere.evaluation.scenarios.scenario_grid import ScenarioGrid

N_TRIALS, PER_ARM = 4000, 200


@pytest.mark.parametrize(("effect", "null"), [(0.0, "sharp"), (0.0, "average"), (0.15, None)])
def test_intervals_of_trials_with_a_fixed_allocation_hold(effect: float, null: str | None) -> None:
    grid = ScenarioGrid(effect=(0.15,), compliance=(0.5,), confounding=(0.3,))
    (scenario,) = [one for one in grid.scenarios(("old", "new")) if (one.null, one.effect) == (null, effect)]
    truth, population, rng = truth_of(scenario), scenario.population, np.random.default_rng(7)
    outcomes = TrialOutcomes.zeros(N_TRIALS, 2, 1)
    good, taken = population.reward_mass(), population.compliance()
    for chosen in (0, 1):
        cells = np.concatenate([good[chosen], taken[chosen] - good[chosen]])
        drawn = rng.multinomial(PER_ARM, cells, size=N_TRIALS)
        outcomes.n[:, chosen, :2] = drawn[:, :2] + drawn[:, 2:]
        outcomes.sums[:, chosen, :2] = outcomes.squares[:, chosen, :2] = drawn[:, :2]
    itt = naive_estimates.intention_to_treat(outcomes, 0, truth.effects[:, 0])
    wald = naive_estimates.compliers(outcomes, 0, truth.effects[:, 1])
    error = math.sqrt(sum(mean * (1 - mean) for mean in truth.means) / PER_ARM)
    assert itt.estimate[:, 1].mean() == pytest.approx(0.5 * effect, abs=4 * error / math.sqrt(N_TRIALS))
    assert itt.estimate[:, 1].std() == pytest.approx(error, rel=0.05)
    assert np.median(wald.estimate[:, 1]) == pytest.approx(effect, abs=0.01)
    for found in (itt, wald):
        assert found.has_interval[:, 1].all()
        assert found.covers[:, 1].mean() == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / N_TRIALS))
