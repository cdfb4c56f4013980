from __future__ import annotations

import dataclasses
import re

import pytest

from adhere.simulation import Estimate, Outcome, SimulationResult, simulate
from adhere.simulation.results.result_table import by_population

from .results import POPULATIONS, a_result

LONG = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"


def renamed(result: SimulationResult, **changes: str) -> SimulationResult:
    outcomes = tuple(dataclasses.replace(one, **changes) for one in result.outcomes)  # type: ignore[arg-type]
    return dataclasses.replace(result, outcomes=outcomes)


def test_a_line_for_each_policy_where_there_is_room() -> None:
    result = a_result(3, 2)
    lines = result.summary(160).splitlines()
    assert lines[0].startswith("30 runs of 200 patients, seed 0.")
    start = lines.index(POPULATIONS[1])
    assert re.split(" {2,}", lines[start + 1]) == [
        "policy",
        "surplus",
        "surplus difference",
        "regret",
        "worse than randomisation",
        "surplus q05",
        "allocation",
    ]
    for line, outcome in zip(lines[start + 2 : start + 5], result.outcomes[3:], strict=True):
        assert line.startswith(outcome.policy)
        assert f"low {outcome.allocation['low'].mean:.0%}" in line
        assert f"{outcome.surplus.mean:.2f} [" in line
        cells = re.split(" {2,}", line)
        assert cells[4:6] == [f"{outcome.worse_than_randomisation.mean:.0%}", f"{outcome.quantile(0.05):.1f}"]


def test_a_row_for_each_policy_also_where_there_is_little_room() -> None:
    one, other = a_result(2, 1)
    result = dataclasses.replace(a_result(2, 1), outcomes=(dataclasses.replace(one, policy=LONG), other))
    text = result.summary(80)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert LONG.replace(" ", "") in text.replace("\n", "").replace(" ", "")
    rows = lines[lines.index("rich-and-poor") + 1 :]
    numbered = [line for line in rows if re.match(r"[12] ", line)]
    assert [line[0] for line in numbered] == ["1", "2", "1", "2"]  # of the numbers, and of the allocation
    assert "[" in numbered[0]
    assert "[" in numbered[1]
    assert numbered[2].startswith("1  control")


@pytest.mark.parametrize("width", [200, 140, 100, 80, 60])
def test_every_population_of_one_output_has_the_same_columns(width: int) -> None:
    result = a_result(3, 2)
    outcomes = list(result.outcomes)
    arms = ("nothing", "a long name of an arm", "another long name of an arm")
    outcomes[3:] = [dataclasses.replace(one, arms=arms) for one in outcomes[3:]]
    text = dataclasses.replace(result, outcomes=tuple(outcomes)).summary(width)
    blocks = {name: text.split(f"\n{name}\n")[1].splitlines() for name in POPULATIONS[:2]}
    starts = [next(i for i, line in enumerate(lines) if re.match("1 |uniform", line)) for lines in blocks.values()]
    first, second = (lines[:start] for lines, start in zip(blocks.values(), starts, strict=True))
    assert first == second
    assert max(len(line) for line in text.splitlines()) <= width


def test_the_reference_and_the_signs_of_differences() -> None:
    lines = a_result(3, 1).summary(160).splitlines()
    uniform, greedy = lines[lines.index("rich-and-poor") + 2 :][:2]
    assert "reference" in uniform
    assert "reference" not in greedy
    assert "[+" in greedy or "[-" in greedy


def test_one_policy_has_nothing_to_differ_from() -> None:
    assert "difference" not in a_result(1, 1).summary()


def test_one_run_has_no_intervals() -> None:
    text = a_result(2, 1, n_runs=1).summary()
    assert "1 run of" in text
    assert "[" not in text
    assert "interval" not in text


def test_of_a_hundred_arms_those_recommended_most_are_shown() -> None:
    class OfManyArms(Outcome):
        @property
        def allocation(self) -> dict[str, Estimate]:
            return {f"arm {i}": Estimate(i / 4950, None, None, None) for i in range(100)}

    outcome = OfManyArms(**vars(a_result(1, 1)[0]))
    text = dataclasses.replace(a_result(1, 1), outcomes=(outcome,)).summary(200)
    assert "arm 99 2%, arm 98 2%, " in text
    assert text.count("arm ") == 10 + "always the best arm (control)".count("arm ")
    assert ", 90 more\n" in text


def test_two_populations_of_one_name_stay_apart() -> None:
    result = renamed(a_result(2, 2), population="trial")
    assert [len(group) for group in by_population(result.outcomes)] == [2, 2]
    assert result.summary().splitlines().count("trial") == 2


def test_what_the_best_arm_would_gain_stands_below_each_table() -> None:
    """On rich-and-poor 1/16 for each patient; on populations drawn afresh for each run, the mean over runs."""
    result = simulate(["ucb1", "always(control)"], "rich-and-poor", 200, 40, progress=False)
    assert result[0].best_arm_surplus == pytest.approx(200 / 16)
    assert result[0].best_arm_surplus_trajectory()[-1] == pytest.approx(200 / 16)
    assert result[1].surplus.mean == pytest.approx(200 / 16)
    assert "\nalways the best arm (control): surplus 12.50, regret 0\n" in result.summary()
    assert result._repr_html_().count("always the best arm (control)</td>") == 1
    drawn = simulate(["ucb1", "always(0)", "always(1)"], "uniform-other", 200, 40, progress=False)
    assert len({round(one.best_arm_surplus, 9) for one in drawn}) == 1
    assert all(one.best_arm_surplus > one.surplus.mean for one in drawn)
