"""The tables of scenarios: their numbers, what is true in each, and who is in those that are none of a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adhere.evaluation.output.rows import Row, rows_of_design
from adhere.evaluation.output.tables import MAX_ARMS, MAX_OPEN
from adhere.evaluation.output.texts import UNKNOWN, short_percent
from adhere.evaluation.scenarios.scenario import Scenario
from adhere.populations import ComplianceTypes
from adhere.report.section import Listing

if TYPE_CHECKING:
    from adhere.evaluation.evaluation import Evaluation


def scenarios_table(evaluation: Evaluation) -> Listing:
    """What is true in each scenario."""
    rows = rows_of_design(evaluation, 0)
    arms, lower = rows[0].design.arms, rows[0].design.lower_is_better
    columns = {
        "null": [row.scenario.null or UNKNOWN for row in rows],
        "baseline": _given(rows, lambda row: row.scenario.baseline, "{:g}".format),
        "effect": [_effect(row.scenario) for row in rows],
        "compliance": _given(rows, lambda row: row.scenario.compliance, short_percent),
        "confounding": _given(rows, lambda row: row.scenario.confounding, "{:g}".format),
        "average null": _given(rows, lambda row: row.scenario.average_null, "±{:g}".format),
    }
    if len(arms) <= MAX_ARMS:
        for number, arm in enumerate(arms):
            means = [row.found.truth.means[number] for row in rows]
            columns[f"if recommended {arm}"] = [f"{1.0 - mean if lower else mean:.3f}" for mean in means]
    columns["best to recommend"] = [_best(row) for row in rows]
    said = {heading: cells for heading, cells in columns.items() if any(cell != UNKNOWN for cell in cells)}
    lines = [list(cells) for cells in zip([row.scenario.name for row in rows], *said.values(), strict=True)]
    caption = f"Scenarios, and the mean outcome{' y' * lower} of those who are recommended each arm"
    return Listing(caption, ["scenario", *said], lines, folded=len(lines) > MAX_OPEN)


def people_table(evaluation: Evaluation) -> Listing:
    """The people of scenarios that are none of a grid, whose numbers tell it."""
    arms, lower = evaluation.designs[0].arms, evaluation.designs[0].lower_is_better
    lines = [
        [
            scenario.name,
            one.name,
            short_percent(one.probability),
            *(f"{arms[taken]}, {one.reward_when_chosen(arm):.4g}" for arm, taken in enumerate(one.takes)),
        ]
        for scenario in evaluation.scenarios
        if scenario.compliance is None and isinstance(scenario.population, ComplianceTypes)
        for one in scenario.population.types
    ]
    header = ["scenario", "people", "share", *(f"if recommended {arm}" for arm in arms)]
    caption = f"Who is in the scenarios that are none of a grid: what they take, and their mean outcome{' y' * lower}"
    return Listing(caption, header, lines, folded=len(lines) > MAX_OPEN)


def _given(rows: Sequence[Row], value: Callable[[Row], float | None], write: Callable[[float], str]) -> list[str]:
    numbers = [value(row) for row in rows]
    return [UNKNOWN if number is None else write(number) for number in numbers]


def _effect(scenario: Scenario) -> str:
    """Of the treatment, or of each arm, as the names of a grid have it."""
    if scenario.effect is not None or scenario.compliance is None:
        return UNKNOWN if scenario.effect is None else f"{scenario.effect:g}"
    return scenario.name.partition(", compliance ")[0].removeprefix("effect ")


def _best(row: Row) -> str:
    best = [arm for arm, is_best in zip(row.design.arms, row.found.truth.is_best, strict=True) if is_best]
    return "all alike" if len(best) == len(row.design.arms) else ", ".join(best)
