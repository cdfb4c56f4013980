"""Loops begin every run with a memo of zeros, whatever its memory held: on processors, in designs and on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adhere
from adhere import Population, parse_policy
from adhere.compilation.policy_failures import as_python
from adhere.design.design import Design
from adhere.evaluation.kernels import trial as design_kernel
from adhere.evaluation.kernels.trial_runner import TrialRunner
from adhere.simulation.kernels import patient_loop as simulation_kernel
from adhere.simulation.kernels.compiled_runner import CompiledRunner

from .populations_under_test import graded_rewards, mixed

N_PATIENTS, N_RUNS, SEED = 30, 2, 6
GARBAGE = (float("nan"), -1e300, 0.75)
READS_TOO_EARLY = Path(__file__).parent / "reads_too_early.py"
Runs = Callable[[range], list[bytes]]


def fill_memory_with(garbage: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memory that belongs to one call begin with something."""

    def local(kind: Any, value: Any) -> Any:
        return lambda length, otherwise: np.full(length, value, kind)

    for module in (simulation_kernel, design_kernel):
        monkeypatch.setattr(module, "local_floats", local(np.float64, garbage))
        monkeypatch.setattr(module, "local_integers", local(np.int64, -(2**40)))
        monkeypatch.setattr(module, "local_words", local(np.uint64, 2**63 + 12345))


def runs_of_a_simulation(policy: str, population: Population, is_compiled: bool) -> Runs:
    runner = CompiledRunner(parse_policy(policy), population, N_PATIENTS, np.arange(1, N_PATIENTS + 1))
    if is_compiled:
        runner.prepare(lambda message: None)
    else:
        runner.load_tables(lambda message: None)
        runner.kernel = simulation_kernel.run_block
    return partial(_played, runner, population)


def runs_of_a_design(policy: str, population: Population, is_compiled: bool) -> Runs:
    values = population.reward_values
    design = Design("d", policy, population.arms, N_PATIENTS, reward_values=values)
    runner = TrialRunner(design, population, np.array([N_PATIENTS]), None)
    if is_compiled:
        runner.prepare(lambda message: None)
    else:
        runner.load_tables(lambda message: None)
        runner.kernel = design_kernel.play_trials
    return partial(_played, runner, population)


def _played(runner: Any, population: Population, runs: range) -> list[bytes]:
    tables = population.tables(SEED, runs.start, len(runs))
    found = runner.start(SEED, runs, tables, *np.zeros((2, 1), np.int64))()
    return [b"".join(np.ascontiguousarray(one[run]).tobytes() for one in found) for run in range(len(runs))]


def one_by_one(play: Runs) -> list[bytes]:
    """Each run in memory of its own."""
    return [outcome for run in range(N_RUNS) for outcome in play(range(run, run + 1))]


@pytest.mark.parametrize("loop", [runs_of_a_simulation, runs_of_a_design])
def test_garbage_changes_no_run_of_any_policy(
    subject: str, n_arms: int, loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = loop(subject, mixed(n_arms, graded_rewards(subject)), is_compiled=False)
    with as_python(adhere):
        expected = play(range(N_RUNS))
        for garbage in GARBAGE:
            fill_memory_with(garbage, monkeypatch)
            assert one_by_one(play) == expected, garbage


@pytest.mark.parametrize("loop", [runs_of_a_simulation, runs_of_a_design])
def test_a_policy_that_reads_before_it_writes_finds_zeros(loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled, where the second run meets what the first one left behind, and as Python with garbage.

    `simulation/test_gpu` plays the same policy on a GPU.
    """
    module = adhere.import_policies(READS_TOO_EARLY)
    compiled = loop("reads-too-early", mixed(2), is_compiled=True)
    expected = compiled(range(N_RUNS))
    assert one_by_one(compiled) == expected
    play = loop("reads-too-early", mixed(2), is_compiled=False)
    with as_python(module):
        for garbage in GARBAGE:
            fill_memory_with(garbage, monkeypatch)
            assert one_by_one(play) == expected, garbage
