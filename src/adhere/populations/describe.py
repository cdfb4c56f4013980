"""A population in plain text: its arms, who takes what, and what each protocol would learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adhere.populations.catalogue import PopulationLike, as_population, records_of
from adhere.populations.compliance_types import ComplianceTypes
from adhere.populations.counts import Counts
from adhere.populations.describe_records import PROTOCOL_TITLES, describe_records, grid
from adhere.populations.population import Floats, Population, headline
from adhere.populations.priors import RandomPrior
from adhere.populations.records import Records


def describe(
    given: PopulationLike,
    width: int = 80,
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    lower_is_better: bool | None = None,
    **columns: str | None,
) -> str:
    """A population in plain text, as `adhere populations` shows it.

    For a table or counts there are estimates with intervals between patients, otherwise expectations under uniform
    allocation.

    Parameters
    ----------
    given
        A population, its name, a file or a frame, as `as_population` takes them.
    width
        The length of a line.
    arms, control, lower_is_better
        All arms of a table in their order, the one that comes first, and whether its lower outcomes are better.
    columns
        The columns of a table (`chosen`, `actual`, `reward`, `count`) and the `name` of its population, as
        `as_population` takes them.

    """
    records = records_of(given, arms=arms, control=control, lower_is_better=lower_is_better, **columns)
    if records is not None:
        records.population()  # which says why it cannot be one
        return describe_records(records, width)
    population = as_population(given, arms=arms, control=control, lower_is_better=lower_is_better, **columns)
    if isinstance(population, Counts):
        parts = [describe_records(Records.of(population), width)]
        return "\n\n".join(parts + ([f"data: {population.source}"] if population.source else []))
    arms = population.arms
    chosen = [f"chosen {arm}" for arm in arms]
    per_arm = [
        ["", *arms],
        [f"E[R | chosen], {PROTOCOL_TITLES['chosen']}", *_numbers(population.mean_given_chosen())],
        [f"E[R | actual], {PROTOCOL_TITLES['actual']}", *_numbers(population.mean_given_actual())],
    ]
    parts = [
        _headline(population),
        _grid([["P(actual | chosen)", *arms], *_rows(chosen, population.compliance())]),
        _grid(per_arm),
        _grid([["E[R | chosen, actual]", *arms], *_rows(chosen, population.mean_given_both())])
        + f"\nthe diagonal is what {PROTOCOL_TITLES['comply']} learns; all arms equally often chosen",
    ]
    if isinstance(population, ComplianceTypes):
        parts += [_types(population), protocol_table_text(population)]
    if population.source:
        parts.append(f"data: {population.source}")
    return "\n\n".join(parts)


def protocol_table_text(types: ComplianceTypes) -> str:
    """The table of which rewards r(compliance type, arm taken) each protocol credits to which arm."""
    table = types.protocol_table()
    rows = [["arm credited", *(PROTOCOL_TITLES[protocol] for protocol in table)]]
    for arm in types.arms:
        for number, one in enumerate(types.types):
            cells = [
                ", ".join(
                    f"r({reach.compliance_type}, {reach.taken})"
                    for reach in by_arm[arm]
                    if reach.compliance_type == one.name
                )
                for by_arm in table.values()
            ]
            rows.append(["" if number else arm, *cells])
    return _grid(rows)


def _headline(population: Population) -> str:
    lines = [headline(population.name, population.arms, population.reward_values)]
    if isinstance(population, RandomPrior):
        lines.append("a fresh population for each run; all figures are averages over the prior")
    return "\n".join(lines)


def _types(types: ComplianceTypes) -> str:
    rows = [["compliance type", "probability", *(f"{arm}: takes, mean reward" for arm in types.arms)]]
    for one in types.types:
        answers = [f"{types.arms[taken]}, {one.reward_when_chosen(arm):.4g}" for arm, taken in enumerate(one.takes)]
        rows.append([one.name, f"{one.probability:.4g}", *answers])
    return _grid(rows)


def _rows(labels: Sequence[str], table: Floats) -> list[list[str]]:
    return [[label, *_numbers(row)] for label, row in zip(labels, table, strict=True)]


def _numbers(values: Floats) -> list[str]:
    return ["nobody" if np.isnan(value) else f"{value:.4f}" for value in values]


def _grid(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(grid(rows))
