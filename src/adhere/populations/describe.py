"""Descriptions of populations in plain text: their arms, who takes what, and what each protocol would learn."""

import textwrap
from collections.abc import Sequence

import numpy as np

from adhere.populations.catalogue import PopulationLike, as_population, records_of
from adhere.populations.compliance_types import ComplianceTypes
from adhere.populations.counts import Counts
from adhere.populations.population import Floats, headline
from adhere.populations.priors import RandomPrior
from adhere.populations.records import LOWER_IS_BETTER, Estimated, NoArm, Records, means_by_protocol, taken_cells
from adhere.records.csv_rows import SEPARATORS

PROTOCOL_TITLES = {
    "chosen": "Chosen (intention-to-treat)",
    "actual": "Actual (as-treated)",
    "comply": "Comply (per-protocol)",
}


def describe_records(records: Records, width: int = 80) -> str:
    """Return a description of records in plain text, with sentences wrapped to a width."""
    parts = [
        _records_headline(records),
        _missing(records),
        _taken(records, width),
        _means(records),
        _explained(records),
    ]
    return "\n\n".join("\n".join(_wrapped(part, width)) for part in parts if part)


def grid(rows: Sequence[Sequence[str]], n_words: int | None = None) -> list[str]:
    """Format rows as columns of text: the first `n_words` (by default all) are aligned left, the others right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    words = len(widths) if n_words is None else n_words
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = "  ".join(cell.ljust(w) if i < words else cell.rjust(w) for i, (cell, w) in enumerate(cells))
        lines.append(line.rstrip())
    return lines


def _records_headline(records: Records) -> list[str]:
    rewards = sorted({record.reward for record in records.patients if record.reward is not None})
    lines = [headline(records.name, records.arms, rewards)]
    if records.columns:
        said = ", ".join(f"{role} = {title}" for role, title in records.columns.items())
        mark = records.separator
        separated = f", separated by {SEPARATORS[mark]}" if mark not in ("", ",") else ""
        lines += [f"read from {records.source}{separated}", f"columns: {said}"]
    if records.lower_is_better:
        lines.append(LOWER_IS_BETTER)
    if records.arm_order:
        lines.append(records.arm_order)
    return lines


def _missing(records: Records) -> list[str]:
    left_out = records.left_out()
    lost = f" ({records.lost:,} lost to follow-up)" if records.lost else ""
    total = records.total()
    rows = [[f"{total:,}", records.unit if total != 1 else records.unit.removesuffix("s")]]
    for reason, count in left_out.items():
        rows.append([f"{count:,}", f"{reason}, left out" + (lost if reason == "without an outcome" else "")])
    if left_out:
        rows.append([f"{total - sum(left_out.values()):,}", "used"])
    widest = max(len(number) for number, _ in rows)
    lines = [f"  {number:>{widest}}  {what}" for number, what in rows]
    return lines + [f"{n:,} {part} imputed by the trial's rule count as given" for part, n in records.imputed.items()]


def _taken(records: Records, width: int, digits: int = 4) -> list[str]:
    cells = taken_cells(records)
    gaps = any(cell.n != cell.mean.n for cell in cells)
    rows = [["chosen", "actual", "n", *(["outcomes"] if gaps else []), "P(actual | chosen)", "E[R | chosen, actual]"]]
    for cell in cells:
        taken = cell.taken.value if isinstance(cell.taken, NoArm) else cell.taken
        outcomes = [f"{cell.mean.n:,}"] if gaps else []
        rows.append(
            [cell.chosen, taken, f"{cell.n:,}", *outcomes, _text(cell.share, digits), _text(cell.mean, digits)]
        )
    lines = grid(rows, n_words=2)
    too_wide = max(map(len, lines)) > width and digits > 3
    return _taken(records, width, digits - 1) if too_wide else lines


def _means(records: Records) -> list[str]:
    rows = [["protocol", "arm", "n", "mean reward"]]
    for protocol, means in means_by_protocol(records).items():
        for number, (arm, mean) in enumerate(means.items()):
            rows.append(["" if number else PROTOCOL_TITLES[protocol], arm, f"{mean.n:,}", _text(mean)])
    return grid(rows, n_words=2)


def _explained(records: Records) -> list[str]:
    rewards = {record.reward for record in records.patients} - {None}
    means = "" if rewards <= {0.0, 1.0} else ", Student's t for means of other rewards than 0 and 1"
    said = [f"In brackets: 95% confidence intervals from sampling patients (Wilson's{means})."]
    if records.left_out():
        used = records.total() - sum(records.left_out().values())
        said.append("Each estimate counts everybody who has what it needs.")
        means_used = zip(records.arms, records.population().mean_given_chosen(), strict=True)
        listed = ", ".join(f"{arm} {mean:.4f}" for arm, mean in means_used)
        said.append(f"A simulation draws from the {used:,} {records.unit} used; their means under Chosen: {listed}.")
    return [" ".join(said)]


def _text(estimate: Estimated, digits: int = 4) -> str:
    if estimate.value is None:
        return "-"
    value, low, high = (f"{number:.{digits}f}" for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} [{low}, {high}]"


def _wrapped(lines: Sequence[str], width: int) -> list[str]:
    """Wrap sentences that are too long; leave rows of a table, which contain two consecutive blanks, as they are."""
    found = []
    for line in lines:
        is_row = "  " in line or len(line) <= width
        found += (
            [line] if is_row else textwrap.wrap(line, max(width, 20), break_on_hyphens=False, break_long_words=False)
        )
    return found


def describe(
    given: PopulationLike,
    width: int = 80,
    *,
    arms: Sequence[object] | None = None,
    control: str | float | None = None,
    lower_is_better: bool | None = None,
    **columns: str | None,
) -> str:
    """Describe a population in plain text, like `adhere populations`.

    A table or counts have estimates with intervals between patients. Other populations have expectations under
    uniform allocation.

    Parameters
    ----------
    given : Population, str, path or frame
        Population, its name, a file or a frame, as in `as_population`.
    width : int, default 80
        Length of a line.
    arms : sequence, optional
        All arms of a table in their order.
    control : str or float, optional
        Arm of a table that comes first.
    lower_is_better : bool, optional
        Whether a lower outcome of a table is better.
    **columns : str
        Columns of a table (`chosen`, `actual`, `reward`, `count`) and the `name` of its population, as in
        `as_population`.

    Returns
    -------
    str
        Description in several lines.

    See Also
    --------
    as_population : Make a population.

    Examples
    --------
    >>> from adhere import describe
    >>> print(describe("defiers").splitlines()[0])
    defiers: 2 arms (control, treatment), rewards 0, 1

    """
    records = records_of(given, arms=arms, control=control, lower_is_better=lower_is_better, **columns)
    if records is not None:
        records.population()  # raises the reason if the records make no population
        return describe_records(records, width)
    population = as_population(given, arms=arms, control=control, lower_is_better=lower_is_better, **columns)
    if isinstance(population, Counts):
        parts = [describe_records(Records.of(population), width)]
        return "\n\n".join(parts + ([f"data: {population.source}"] if population.source else []))
    is_prior = isinstance(population, RandomPrior)
    prior = "\na fresh population for each run; all figures are averages over the prior" if is_prior else ""
    arms = population.arms
    chosen = [f"chosen {arm}" for arm in arms]
    per_arm = [
        ["", *arms],
        [f"E[R | chosen], {PROTOCOL_TITLES['chosen']}", *_numbers(population.mean_given_chosen())],
        [f"E[R | actual], {PROTOCOL_TITLES['actual']}", *_numbers(population.mean_given_actual())],
    ]
    parts = [
        headline(population.name, population.arms, population.reward_values) + prior,
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
    """Return a table of the rewards r(compliance type, arm taken) that each protocol credits to each arm."""
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
