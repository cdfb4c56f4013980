"""Characteristics of trials made by hand, of designs that nobody ran."""

from __future__ import annotations

import random

import numpy as np

from adhere.design.design import Design
from adhere.design.parts import Stopping
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.characteristics.measure import Distributions, measure_rows
from adhere.evaluation.evaluation import Evaluation
from adhere.evaluation.outcomes import Columns
from adhere.evaluation.scenarios.scenario import Scenario, truth_of
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.simulation.measures.moments import Moments
from evaluation.made_trials import MadeTrial, as_outcomes, made_trial

GRID, N_LOOKS, MAX_PATIENTS = (2, 5, 11, 30), 4, 30


def made_design(name: str = "a", arms: tuple[str, ...] = ("old", "new"), control: str | None = "old") -> Design:
    """A design that decides by the posterior."""
    rule = Stopping("posterior", superiority=0.99)
    return Design(name, "thompson", arms, MAX_PATIENTS, control=control, stopping=rule)


def trials_of(design: Design, n_trials: int, seed: int) -> list[MadeTrial]:
    """Trials of a design at random."""
    draw, k = random.Random(seed), len(design.arms)
    control = None if design.control is None else design.arms.index(design.control)
    return [made_trial(draw, k, control, N_LOOKS, MAX_PATIENTS) for _ in range(n_trials)]


def made_characteristics(
    design: Design,
    scenario: Scenario,
    trials: list[MadeTrial],
    reference: list[MadeTrial] | None = None,
    block_size: int = 16,
) -> Characteristics:
    """What `evaluate` would make of these trials; `reference` are the same trials of another design."""
    k = len(design.arms)
    columns = Columns(k, GRID, N_LOOKS)
    truth = truth_of(scenario, None if design.control is None else design.arms.index(design.control))
    means = scenario.population.tables(0, 0, len(trials)).means
    outcomes = as_outcomes(trials, k, GRID)
    rows = measure_rows(outcomes, truth, columns, means)
    differences: list[Moments] = []
    if reference is not None:
        others = measure_rows(as_outcomes(reference, k, GRID), truth, columns, means)
        shared = slice(columns.n_shared)
        differences = Moments.of_blocks(rows[:, shared] - others[:, shared], block_size)
    return Characteristics(
        design,
        scenario,
        truth,
        columns,
        tuple(Moments.of_blocks(rows, block_size)),
        Distributions.of(outcomes, rows, columns, MAX_PATIENTS),
        tuple(differences),
    )


def made_evaluation(n_trials: int = 40) -> Evaluation:
    """Two designs in the scenarios of a small grid."""
    designs = made_design("first"), made_design("second")
    scenarios = read_scenarios({"effect": 0.1, "compliance": 0.7, "confounding": 0.2}, designs[0])
    results = []
    for place, scenario in enumerate(scenarios):
        first, second = (trials_of(design, n_trials, 2 * place + n) for n, design in enumerate(designs))
        results += [made_characteristics(designs[0], scenario, first)]
        results += [made_characteristics(designs[1], scenario, second, first)]
    return Evaluation(designs, scenarios, n_trials, 2**60 + 1, "0.1", tuple(results))


def without_nan(values: object) -> bool:
    """Whether plain data have no NaN anywhere."""
    if isinstance(values, dict):
        return all(map(without_nan, values.values()))
    if isinstance(values, list):
        return all(map(without_nan, values))
    return not (isinstance(values, float) and np.isnan(values))
