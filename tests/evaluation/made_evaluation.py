"""Evaluations of trials that nobody played: outcomes drawn at random, measured by the real code."""

from __future__ import annotations

import numpy as np

from adhere.design.design import Design
from adhere.design.parts import Evidence, Looks, Stopping
from adhere.design.planned_looks import planned_looks
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.characteristics.measure import measure_rows
from adhere.evaluation.evaluation import Evaluation
from adhere.evaluation.evaluation_plan import EvaluationPlan, measured
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.evaluation.scenarios.scenario import Truth, truth_of
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.looks.judge import ACTIVE, GO_ON, INFERIOR, SUPERIOR
from adhere.simulation.execution.accumulate import Key, Measured, add_result

GRID = {"effect": [0.1, 0.2], "compliance": [1.0, 0.8, 0.6], "confounding": [0.0, 0.2]}


def made_design(
    n_arms: int = 2, name: str = "stroke unit", policy: str = "thompson", by: Evidence = "posterior"
) -> Design:
    """A design of 400 patients and five looks."""
    arms = ["ward", "stroke unit", *(f"stroke unit with nurse {number}" for number in range(3, n_arms + 1))]
    stopping = Stopping(by=by, alpha=0.05) if by == "wealth" else Stopping(by=by, superiority=0.99)
    return Design(name, policy, tuple(arms), n_patients=400, control="ward", looks=Looks(every=80), stopping=stopping)


def made(*designs: Design, scenarios: object = GRID, n_trials: int = 400) -> Evaluation:
    """An evaluation of designs, by trials drawn at random."""
    designs = designs or (made_design(),)
    plan = EvaluationPlan(designs, read_scenarios(scenarios, designs[0]), n_trials, seed=7)
    sums, truths = dict[Key, Measured](), []
    rng = np.random.default_rng(1)
    for number, scenario in enumerate(plan.scenarios):
        found = []
        for design, columns in zip(plan.designs, plan.columns, strict=True):
            truth = truth_of(scenario, None if design.control is None else design.arms.index(design.control))
            outcomes = _outcomes(rng, design, truth, n_trials, columns.grid)
            found.append((outcomes, measure_rows(outcomes, truth, columns)))
            truths.append(truth)
        for place, (outcomes, rows) in enumerate(found):
            result = measured(plan, place, outcomes, rows, found[0][1])
            add_result(sums, [((number, place), result)], plan)
    results = [
        Characteristics(
            plan.designs[design],
            plan.scenarios[scenario],
            truth,
            plan.columns[design],
            tuple(totals.blocks),
            totals.distribution,
            tuple(totals.differences),
        )
        for ((scenario, design), totals), truth in zip(sums.items(), truths, strict=True)
    ]
    return Evaluation(plan.designs, plan.scenarios, n_trials, 7, "0.4.0", tuple(results))


def _outcomes(rng: np.random.Generator, design: Design, truth: Truth, n: int, grid: tuple[int, ...]) -> TrialOutcomes:
    k, n_looks = len(design.arms), planned_looks(design)
    blank = TrialOutcomes.zeros(n, k, len(grid))
    effect = truth.means.max() - truth.means.min()
    stops = rng.random((n, n_looks)) < 0.01 + 2.0 * effect
    at = np.where(stops.any(axis=1), stops.argmax(axis=1), n_looks - 1)
    decision = np.where(stops.any(axis=1), np.where(rng.random(n) < 0.2, INFERIOR, SUPERIOR), GO_ON)
    size = np.minimum(80 * (at + 1) + 30, 400)
    arm = rng.integers(1, k, n)
    status = np.full((n, k), ACTIVE)
    status[np.arange(n), arm] = decision
    status_at = np.where(status == ACTIVE, -1, at[:, None])
    share = rng.dirichlet(np.where(truth.is_best, 6.0, 3.0), n)
    over_time = np.round(share[:, None, :] * np.minimum(size[:, None], np.array(grid))[:, :, None]).astype(np.int64)
    chosen = np.round(share * size[:, None]).astype(np.int64)
    cells = np.zeros((n, k, k + 1), np.int64)
    cells[:, np.arange(k), np.arange(k)] = chosen
    cells[:, :, 0] += 5
    estimate = np.stack([truth.effects + rng.normal(0.0, 0.05, (k, 2)) for _ in range(n)])
    return blank._replace(
        decision=decision,
        superior_arm=np.where(decision == SUPERIOR, arm, -1),
        n_looks=at + 1,
        n_patients=size,
        days=size.astype(float) + 30.0,
        status=status,
        status_at=status_at,
        chosen=chosen,
        taken=chosen,
        reward=chosen @ truth.means,
        baseline=size * truth.means.mean(),
        over_time=over_time,
        n=cells,
        sums=cells * truth.means[None, :, None],
        squares=cells * truth.means[None, :, None],
        estimate=estimate,
        covers=(rng.random((n, k, 2)) < 0.97).astype(float),
    )
