"""`simulate(..., keep_runs=True)`: what each run came to, the same whoever runs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from adhere import InputError, SimulationResult, simulate
from adhere.intervals import wilson
from adhere.memory import available_memory

from .executors import LastFirst

POLICIES, POPULATIONS = ["thompson", "uniform"], ["defiers", "rich-and-poor"]
N_RUNS = 9000  # several blocks, sent several at a time


def kept(n_runs: int = N_RUNS, **options: object) -> SimulationResult:
    arguments: Any = {"seed": 4, "grid": 5, "keep_runs": True, **options}
    return simulate(POLICIES, POPULATIONS, 1000, n_runs, **arguments)


@pytest.fixture(scope="module")
def result() -> SimulationResult:
    return kept(pooled=True)


def test_a_row_for_each_run(result: SimulationResult) -> None:
    table = result.runs.to_polars()
    shares = ["allocation_control", "allocation_treatment"]
    assert table.columns == [
        "population", "policy", "run", "surplus", "realised_surplus", "reward", "regret", *shares
    ]  # fmt: skip
    assert len(result.runs) == table.height == len(result) * N_RUNS
    for outcome in result:
        own = table.filter(population=outcome.population, policy=outcome.policy)
        assert own["run"].to_list() == list(range(N_RUNS))
        for measure in ("surplus", "realised_surplus", "reward", "regret"):
            assert own[measure].mean() == pytest.approx(getattr(outcome, measure).mean)
        assert outcome.quantile(0.05) == pytest.approx(np.quantile(own["surplus"], 0.05), rel=0.01)
        below = int((own["surplus"] < 0).sum())
        assert outcome.worse_than_randomisation.mean * N_RUNS == pytest.approx(below, abs=1e-6)
        for arm in outcome.arms:
            assert own[f"allocation_{arm}"].mean() == pytest.approx(outcome.allocation[arm].mean)
    assert table.filter(population="pooled")["allocation_control"].null_count() == 2 * N_RUNS
    lines = repr(result.runs).splitlines()
    assert len(lines) <= 10
    assert f"{len(table):,} rows" in lines[0]


def test_a_surplus_of_nothing_is_0_in_every_run_and_a_share_from_0_to_1() -> None:
    """Sums of floats leave some 1e-16 of it, on either side, which nobody should count as a loss."""
    result = simulate(POLICIES, ["homogeneous", "stroke-aspirin"], 10, 500, seed=4, keep_runs=True, pooled=True)
    table = result.runs.to_polars()
    for outcome in result:
        own = table.filter(population=outcome.population, policy=outcome.policy)
        surplus = own["surplus"].to_numpy()
        assert (surplus == 0.0).mean() > 0.01
        for measure in (surplus, own["realised_surplus"].to_numpy()):
            assert not ((measure != 0.0) & (abs(measure) < 1e-9)).any()
        assert (surplus < 0).mean() == pytest.approx(outcome.worse_than_randomisation.mean, abs=1e-9)
        assert outcome.sketch.lowest == surplus.min()
        for share in (outcome.worse_than_randomisation, outcome.favours_best_arm):
            assert share.low is not None
            assert share.high is not None
            assert (share.low, share.high) == pytest.approx(wilson(share.mean * 500, 500))
            assert 0.0 <= share.low < share.high <= 1.0
    few = simulate("thompson", "defiers", 2, 4, seed=4)[0].allocation["treatment"]
    assert few.se is not None
    assert few.mean + 2 * few.se > 1.0
    assert few.high == 1.0


@pytest.mark.slow
def test_the_same_on_an_executor_and_on_threads(result: SimulationResult) -> None:
    with LastFirst() as executor:
        assert kept(pooled=True, executor=executor) == result
    fewer = kept(30)
    assert fewer != result
    assert fewer.runs != result.runs


def test_runs_are_saved_too(result: SimulationResult, tmp_path: Path) -> None:
    result.save(tmp_path)
    assert SimulationResult.load(tmp_path) == result
    assert polars.read_parquet(tmp_path / "runs.parquet").height == len(result.runs)
    few = simulate("thompson", "defiers", 20, 3)
    few.save(tmp_path)
    assert SimulationResult.load(tmp_path) == few
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json", "result.parquet"]


def test_a_pandas_table_of_runs() -> None:
    few = kept(30)
    ours, theirs = few.runs.to_pandas(), few.runs.to_polars()
    assert list(ours.columns) == theirs.columns
    assert ours["policy"].tolist() == theirs["policy"].to_list()
    assert ours["surplus"].tolist() == theirs["surplus"].to_list()
    assert ours["policy"].memory_usage() < 8 * len(ours) + 500  # numbers of the names, not the names


class Heard:
    def __init__(self) -> None:
        self.said: list[str] = []

    def announce(self, message: str) -> None:
        self.said.append(message)

    def advance_to(self, n_patients: int) -> None:
        self.said.append("working")


def test_the_memory_is_said_before_the_start(caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()
    caplog.set_level("INFO", "adhere")
    few = kept(30, progress=heard)
    assert re.fullmatch(r"keeping every run takes 5\.8 kB of memory, a table of them as much again", heard.said[0])
    assert few.runs.n_bytes == 4 * 6 * 30 * 8
    assert heard.said[0] in caplog.messages  # for scripts, which show no progress


def test_more_than_there_is_memory_for_is_refused_at_once() -> None:
    assert 1 << 24 < (available_memory() or 0) < 1 << 50
    with pytest.raises(InputError, match=r"^keep_runs: .* runs take 52\.8 TB of memory, and .* are available"):
        simulate("thompson", "defiers", 10, 2**40, keep_runs=True)


def test_runs_that_were_not_kept() -> None:
    with pytest.raises(InputError, match=r"^the runs were not kept: simulate\(…, keep_runs=True\)$"):
        _ = simulate("thompson", "defiers", 10, 2).runs


def test_two_policies_are_compared_on_the_same_patients() -> None:
    def compared(**options: Any) -> SimulationResult:
        policies = ["thompson", "uniform", "epsilon-greedy"]
        return simulate(policies, POPULATIONS, 100, 500, seed=4, progress=False, **options)

    plain, kept, other = compared(), compared(keep_runs=True), compared(reference="uniform")
    better = plain.compare("uniform", "thompson", population="defiers")
    assert better == plain["defiers", "uniform"].difference()
    worse = plain.compare("thompson", 1, population=0)
    assert -worse == better
    found = kept.compare("epsilon-greedy", "uniform", population="rich-and-poor", measure="regret")
    expected = other["rich-and-poor", "epsilon-greedy"].difference("regret")
    assert list(vars(found).values()) == pytest.approx(list(vars(expected).values()))
    for arguments, said in (
        (("thompson", "uniform"), "population: choose one of defiers, rich-and-poor"),
        (("thompson", "unifrm", "defiers"), "policy: got 'unifrm', expected one of thompson, uniform"),
        (("uniform", "uniform", "defiers"), "other: got 'uniform', expected another policy than the first"),
        (("uniform", "epsilon-greedy", "defiers"), "simulate with keep_runs=True"),
        (("thompson", "uniform", "defiers", "sorrow"), "measure: got 'sorrow', expected one of surplus"),
    ):
        names = dict(zip(("policy", "other", "population", "measure"), arguments, strict=False))
        with pytest.raises(InputError, match=said):
            plain.compare(**names)
    with pytest.raises(InputError, match="measure: got 'sorrow', expected one of surplus"):
        kept.compare("uniform", "epsilon-greedy", population="defiers", measure="sorrow")
    assert (-simulate("uniform", "defiers", 10, 1)[0].surplus).se is None
