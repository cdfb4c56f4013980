"""What is compiled, and how often."""

from __future__ import annotations

from pathlib import Path

import pytest

import adhere
from adhere import Trial, simulate
from adhere.compilation import Kernel
from adhere.populations import PopulationLike, stroke_heparin, uniform_other
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from adhere.simulation.kernels.patient_loop import run_block
from adhere.trial.policy import engine, policy_steps, steps
from contract.policies_under_test import variants
from contract.populations_under_test import mixed

from .processes import write_fixed


def n_compiled(kernel: Kernel) -> int:
    return sum(len(dispatcher.overloads) for dispatcher in kernel._dispatchers.values())


def test_protocols_parameters_and_populations_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel(run_block, static=True)
    monkeypatch.setattr(CompiledRunner, "loop", kernel)
    for n_arms in (2, 3):
        simulate(variants("thompson", n_arms), mixed(n_arms), 20, 2, progress=False)
    populations: list[PopulationLike] = ["defiers", "rich-and-poor", stroke_heparin(), uniform_other()]
    simulate("thompson/actual", populations, 20, 40, progress=False)
    assert n_compiled(kernel) == 2  # one for each number of arms
    simulate(["exp3", "exp3(gamma=0.2)/comply"], ["defiers", mixed(2)], 20, 2, progress=False)
    assert n_compiled(kernel) == 3


def test_a_live_trial_compiles_each_step_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = {"CHOOSE_ARM": Kernel(steps.choose_arm), "LEARN_UPDATES": Kernel(steps.learn_updates)}
    for name, kernel in kernels.items():
        for module in (engine, policy_steps):
            monkeypatch.setattr(module, name, kernel, raising=False)
    for n_arms in (2, 3, 5):
        arms = mixed(n_arms).arms
        for text in variants("thompson", n_arms):
            live = Trial(text, arms)
            for reward in (0, 1, 0.5):
                live.report(live.recommend().id, reward=reward)
                live.report(live.recommend().id, actual=arms[1], reward=reward)
    assert [n_compiled(kernel) for kernel in kernels.values()] == [1, 1]


def test_a_policy_may_make_arrays(tmp_path: Path) -> None:
    file = tmp_path / "allocating.py"
    write_fixed(file, arm="int((np.zeros(rule.n_arms) + 1.0).sum()) - 1", imports="import numpy as np")
    adhere.import_policies(file)
    result = simulate("fixed", mixed(3), 30, 4, progress=False)[0]
    assert result.allocation["arm c"].mean == 1.0
    recommendation = Trial("fixed", ("a", "b")).recommend()
    assert recommendation.arm == "b"
    assert recommendation.probabilities == pytest.approx({"a": 0.0, "b": 1.0}, abs=1e-3)  # an estimate
    assert recommendation.estimated
