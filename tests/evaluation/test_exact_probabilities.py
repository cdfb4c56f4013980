"""A policy that does not say its probabilities: no any-time valid estimates, as in the analysis of a live trial."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from adhere import InputError, import_policies, load_design
from adhere.evaluation.characteristics.quantities import quantities
from adhere.evaluation.evaluate import notes_on
from adhere.evaluation.evaluation_plan import EvaluationPlan, EvaluationRunner
from adhere.evaluation.kernels.bets import Bets, NoBets
from adhere.evaluation.kernels.trial_runner import TrialRunner
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.policies import as_policy

from .made_characteristics import made_characteristics, made_design, trials_of

import_policies(Path(__file__).parents[2] / "docs" / "examples" / "softmax.py")
PLAIN: dict[str, Any] = {"name": "t", "arms": ["a", "b"], "n_patients": 40, "looks": {"every": 20}}
REASON = "softmax has no `probabilities`, so that they would be estimated by drawing"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"policy": "thompson"}, ""),
        ({"policy": "softmax"}, REASON),
        ({"policy": "burn-in(softmax, patients=4)"}, REASON),
        ({"policy": "softmax", "update": "at looks"}, ""),  # arms are drawn by the very numbers
    ],
)
def test_estimates_that_no_analysis_would_give_are_left_out_with_the_reason(
    fields: dict[str, Any], reason: str
) -> None:
    design = load_design(PLAIN | fields)
    scenarios = read_scenarios({"effect": 0.2}, design)
    runner = EvaluationRunner(plan := EvaluationPlan((design,), scenarios, 10, 0))
    (trials,) = runner.runners[0]
    assert isinstance(trials, TrialRunner)
    assert isinstance(trials.workspace(1, np.zeros)[1], NoBets if reason else Bets)
    found = list(quantities(design, runner.truths[-1][0], plan.columns[0]))
    assert {one.reason for one in found if one.method == "any-time valid" and one.name == "bias"} == {reason}
    assert {one.reason for one in found if one.method == "naive" and one.name == "bias"} == {""}


def test_wealth_needs_exact_probabilities() -> None:
    assert as_policy("softmax").estimates_probabilities
    stopping = {"by": "wealth", "alpha": 0.05}
    with pytest.raises(InputError, match=r"^stopping\.by: 'wealth' needs the exact probability .*; softmax has no"):
        load_design(PLAIN | {"policy": "softmax", "stopping": stopping})
    load_design(PLAIN | {"policy": "softmax", "stopping": stopping, "update": "at looks"})


def test_that_estimates_are_left_out_is_noted() -> None:
    design = msgspec.structs.replace(made_design(), policy="softmax")
    (scenario, *_) = read_scenarios({"effect": 0.2}, design)
    found = made_characteristics(design, scenario, trials_of(design, 20, seed=1))
    said = f"a: any-time valid estimates are left out: {REASON}"
    assert said in notes_on([found])
    alone = replace(found, design=msgspec.structs.replace(design, estimands=()))
    assert said not in notes_on([alone])  # nobody asked for them
