"""A draw lands in the cell that NumPy's search finds, at every boundary and on either side of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from adhere import simulate
from adhere.populations import ComplianceType, ComplianceTypes, PatientTables
from adhere.randomness import Floats, steps_to
from adhere.simulation.kernels.patients import FEW_CELLS, fill_guide, find_among_few, find_among_many, guide_for

ALL_STEPS = 2**53


def tables(weights: Floats) -> PatientTables:
    """Cells of these weights [run, draw, cell]; what is taken and gained does not matter."""
    no_arms = np.zeros((weights.shape[1], weights.shape[2]))
    return PatientTables.from_weights(weights, no_arms.astype(np.int64), no_arms, no_arms[None, :, 0])


def odd_weights(n_cells: int) -> dict[str, Floats]:
    random = np.random.default_rng(n_cells)
    return {
        "equal": np.ones(n_cells),
        "very unequal": random.random(n_cells) ** 12,
        "with empty cells": random.random(n_cells) * (random.random(n_cells) < 0.5) + (np.arange(n_cells) == 1),
        "one full cell": (np.arange(n_cells) == n_cells // 2).astype(float),
        "crowded at the end": 0.5 ** np.minimum(np.arange(n_cells), 70),
        "crowded at the start": 0.5 ** np.minimum(np.arange(n_cells)[::-1], 70),
    }


@pytest.mark.parametrize("n_cells", [2, 3, FEW_CELLS, FEW_CELLS + 1, 64, 200])
def test_it_is_the_cell_that_numpy_finds(n_cells: int) -> None:
    for name, weights in odd_weights(n_cells).items():
        bounds = steps_to(tables(weights[None, None]).cumulative)[0]
        guide = guide_for(bounds)
        fill_guide(bounds, guide)
        parts = np.arange(guide.shape[1]) * (ALL_STEPS // max(1, guide.shape[1]))
        near = np.concatenate([bounds[0], parts, [0, ALL_STEPS - 1]])
        steps = np.unique(np.concatenate([near - 1, near, near + 1]))
        steps = steps[(steps >= 0) & (steps < ALL_STEPS)]
        cells = np.zeros(steps.size, np.uint32)
        if bounds.shape[1] > FEW_CELLS:
            find_among_many(bounds[0], guide[0], steps.size, steps, cells)
        else:
            assert guide.size == 0
            find_among_few(bounds[0], steps.size, steps, cells)
        np.testing.assert_array_equal(cells, np.searchsorted(bounds[0], steps, side="right"), name)


@dataclass(frozen=True)
class AnewEachRun(ComplianceTypes):
    """Bounds among many cells that every run has for itself."""

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        runs = range(first_run, first_run + n_runs)
        weights = np.stack([np.random.default_rng(run).random((2, 40)) ** 6 for run in runs])
        cells = np.tile(np.arange(40), (2, 1))
        reward = (cells % 3 == 0).astype(np.float64)
        return PatientTables.from_weights(weights, cells % 2, reward, weights @ reward[0] / weights.sum(axis=2))


def test_every_run_has_its_own_bounds() -> None:
    population = AnewEachRun("anew", ("no", "yes"), [ComplianceType("complier", 1.0, (0, 1), (0.4, 0.6))])
    runs = simulate("thompson", population, 600, 5, seed=3, keep_runs=True, progress=False).runs.to_polars()
    baselines = runs["reward"] - runs["realised_surplus"]
    expected = [population.patients(3, run, 600).reward.mean(axis=1).sum() for run in range(5)]
    np.testing.assert_allclose(baselines, expected, rtol=1e-12)
