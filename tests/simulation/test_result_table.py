from __future__ import annotations

import dataclasses

import pytest

from adhere.simulation import SimulationResult
from adhere.simulation.result_table import by_population, result_table

from .results import POPULATIONS, a_result

LONG = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"


def renamed(result: SimulationResult, **changes: str) -> SimulationResult:
    outcomes = tuple(dataclasses.replace(one, **changes) for one in result.outcomes)  # type: ignore[arg-type]
    return dataclasses.replace(result, outcomes=outcomes)


def test_a_line_for_each_policy_where_there_is_room() -> None:
    result = a_result(3, 2)
    lines = result_table(result, width=120).splitlines()
    assert lines[0].startswith("30 runs of 200 patients, seed 0.")
    start = lines.index(POPULATIONS[1])
    assert lines[start + 1].split() == ["policy", "surplus", "difference", "regret", "allocation"]
    for line, outcome in zip(lines[start + 2 : start + 5], result.outcomes[3:], strict=True):
        assert line.startswith(outcome.policy)
        assert f"low {outcome.allocation['low'].mean:.0%}" in line
        assert f"{outcome.surplus.mean:.2f} [" in line


@pytest.mark.parametrize("width", [80, 60])
def test_policies_get_lines_of_their_own_where_there_is_none(width: int) -> None:
    result = renamed(a_result(2, 1), policy=LONG)
    text = result_table(result, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert LONG.replace(" ", "") in text.replace("\n", "").replace(" ", "")


def test_the_reference_and_the_signs_of_differences() -> None:
    lines = result_table(a_result(3, 1), width=120).splitlines()
    assert "reference" in lines[-3]
    assert "reference" not in lines[-2]
    assert "[+" in lines[-2] or "[-" in lines[-2]


def test_one_policy_has_nothing_to_differ_from() -> None:
    assert "difference" not in result_table(a_result(1, 1))


def test_one_run_has_no_intervals() -> None:
    text = result_table(a_result(2, 1, n_runs=1))
    assert "1 run of" in text
    assert "[" not in text
    assert "interval" not in text


def test_two_populations_of_one_name_stay_apart() -> None:
    result = renamed(a_result(2, 2), population="trial")
    assert [len(group) for group in by_population(result)] == [2, 2]
    assert result_table(result).splitlines().count("trial") == 2
