"""Trials of a design, played by the compiled kernel."""

from __future__ import annotations

import numpy as np

from adhere import ComplianceType, ComplianceTypes, Population
from adhere.design.design import Design
from adhere.evaluation.kernels.trial_runner import TrialRunner
from adhere.evaluation.outcomes import Floats, TrialOutcomes


def compliers(*means: float) -> ComplianceTypes:
    """Everybody takes what is recommended."""
    arms = tuple(f"arm-{number}" for number in range(len(means)))
    return ComplianceTypes(
        "compliers", arms, [ComplianceType("as told", 1.0, takes=tuple(range(len(means))), reward=means)]
    )


def play(
    design: Design, population: Population, n_trials: int, seed: int = 0, grid: tuple[int, ...] = (),
    true_effects: Floats | None = None,
) -> TrialOutcomes:  # fmt: skip
    """Some trials."""
    assert design.n_patients is not None
    runner = TrialRunner(design, population, np.array(grid or [design.n_patients]), true_effects)
    runner.prepare(lambda message: None)
    counts = np.zeros((2, 1), np.int64)
    return runner.start(seed, range(n_trials), population.tables(seed, 0, n_trials), *counts)()
