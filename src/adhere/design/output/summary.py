"""An evaluation for a terminal: tables and sentences within 100 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from adhere.design.output import sentences
from adhere.design.output.grid_figures import CLAIMS, claim_of
from adhere.design.output.rows import INCONCLUSIVE, STATUSES, Row, rows_of, rows_of_design
from adhere.design.output.side_by_side import COMPARED
from adhere.design.output.texts import UNKNOWN, column
from adhere.report.numbers import counted
from adhere.report.text_table import text_table
from adhere.report.wrapping import paragraph

if TYPE_CHECKING:
    from adhere.design.evaluation import Evaluation
    from adhere.intervals import Estimate

_INTERVAL = re.compile(r"\[[^]]*]")
_GLUE = "\N{NO-BREAK SPACE}"
WIDEST, NARROWEST = 100, 60
_MAX_ROWS = 40  # lines of a table
_DIGEST = 12  # letters shown of it
_FOOT = (
    "claims: probability of a claim: the type I error under a null, power elsewhere (right direction). "
    "patients, days: mean of a trial. worse arm: share of its patients recommended an arm that is not the best. "
    "surplus: expected good outcomes above equal shares, summed over a trial. "
    "In brackets: Monte Carlo standard error (more trials make it smaller)."
)
_FALSE_CLAIMS = "false claims: about arms that do not differ, where others do."


def summary(evaluation: Evaluation, width: int = WIDEST) -> str:
    """Everything that matters, in lines of at most `width` letters, nor more than 100."""
    width = max(NARROWEST, min(width, WIDEST))
    parts = [paragraph(headline(evaluation), width)]
    parts += [paragraph(f"note: {one}", width) for one in evaluation.notes]
    parts += _one(evaluation, width) if len(evaluation.designs) == 1 else _several(evaluation, width)
    said = [sentences.errors_result(evaluation), sentences.power_result(evaluation)]
    said += [sentences.benefit_result(evaluation), sentences.estimates_result(evaluation)]
    parts.append("In words\n" + "\n".join(_item(one, width) for one in said))
    has_both = any(row.number("type_one") and row.number("power") for row in rows_of(evaluation))
    parts.append(paragraph(f"{_FOOT} {_FALSE_CLAIMS if has_both else ''}", width))
    return "\n\n".join(parts) + "\n"


def headline(evaluation: Evaluation) -> str:
    """What was evaluated: the design with its digest, trials, scenarios, seed, version."""
    how = (
        f"{counted(evaluation.n_trials, 'trial')} in each of {counted(len(evaluation.scenarios), 'scenario')}, seed "
        f"{evaluation.seed}; adhere {evaluation.version}"
    )
    if len(evaluation.designs) > 1:
        return f"{len(evaluation.designs)} designs side by side; {how}"
    design = evaluation.designs[0]
    return f"{design.name}: {sentences.headline(design)} Design {_short(design.digest)}; {how}"


def _short(digest: str) -> str:
    return digest.rpartition(":")[2][:_DIGEST]


def _one(evaluation: Evaluation, width: int) -> Iterator[str]:
    rows = rows_of_design(evaluation, 0)
    yield _listed("Claims, sizes and patients", claims_columns(rows), width)
    columns = {"scenario": [row.scenario.name for row in rows]}
    for status in (*STATUSES, INCONCLUSIVE):
        numbers = [row.number(status) for row in rows]
        if status == INCONCLUSIVE or any(one is not None and one.mean > 0 for one in numbers):
            columns[status] = column(numbers, percent=True)
    yield _listed("What trials end with", columns, width)


def claims_columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What matters most, by its headings."""
    in_part = [row.number("type_one") if claim_of(row) == "power" else None for row in rows]
    return {
        "scenario": [row.scenario.name for row in rows],
        "claims": column([_claim(row) for row in rows], percent=True),
        "false claims": column(in_part, percent=True),
        "patients": column([row.number("sample_size") for row in rows]),
        "days": column([row.number("duration") for row in rows], errors=False),
        "worse arm": column([row.number("recommended_inferior") for row in rows], percent=True, errors=False),
        "surplus": column([row.number("surplus") for row in rows]),
    }


def _claim(row: Row) -> Estimate | None:
    name = claim_of(row)
    return row.number(name) if name else None


def _several(evaluation: Evaluation, width: int) -> Iterator[str]:
    labels = [design.name for design in evaluation.designs]
    rows = rows_of(evaluation)
    names = [f"{chr(ord('A') + number)}" if number < 26 else str(number + 1) for number in range(len(labels))]
    said = [
        f"{name}  {label}: {sentences.headline(design)} Design {_short(design.digest)}"
        for name, label, design in zip(names, labels, evaluation.designs, strict=True)
    ]
    yield "\n".join(_item(one, width) for one in said)
    scenarios = [row.scenario.name for row in rows[:: len(labels)]]
    for heading, number, is_share in (
        ("Claims: type I error under a null, power elsewhere", _claim, True),
        ("Patients, mean of a trial", lambda row: row.number("sample_size"), False),
        ("Patients recommended a worse arm", lambda row: row.number("recommended_inferior"), True),
    ):
        cells = column([number(row) for row in rows], percent=is_share)
        if any(cell != UNKNOWN for cell in cells):
            by_design = {name: cells[place :: len(labels)] for place, name in enumerate(names)}
            yield _listed(heading, {"scenario": scenarios, **by_design}, width)
    yield from _differences(rows, names, scenarios, width)


def _differences(rows: Sequence[Row], names: Sequence[str], scenarios: Sequence[str], width: int) -> Iterator[str]:
    for place, name in enumerate(names[1:], start=1):
        own = rows[place :: len(names)]
        claims = [row.found.difference(claim).estimate if (claim := claim_of(row)) else None for row in own]
        columns = {"scenario": list(scenarios), "claims (points)": column(claims, percent=True, sign=True)}
        for measure, what in COMPARED.items():
            if what.panel and measure not in CLAIMS:
                numbers = [row.found.difference(measure).estimate for row in own]
                heading = f"{what.heading} (points)" if what.is_share else what.heading
                columns[heading] = column(numbers, percent=what.is_share, sign=True)
        yield _listed(f"{name} minus {names[0]}, with the same patients", columns, width)


def _listed(caption: str, columns: dict[str, list[str]], width: int) -> str:
    kept = {
        heading: cells
        for heading, cells in columns.items()
        if heading == "scenario" or any(cell != UNKNOWN for cell in cells)
    }
    lines = [list(cells) for cells in zip(*kept.values(), strict=True)]
    lines = [line for line in lines if any(cell != UNKNOWN for cell in line[1:])]
    shown = lines[:_MAX_ROWS]
    text = "\n".join([paragraph(caption, width), text_table([list(kept), *shown], width)])
    more = len(lines) - len(shown)
    return text + (f"\n  and {counted(more, 'more scenario')}: --html or --json" if more else "")


def _item(text: str, width: int) -> str:
    """A sentence of a list; its intervals are not broken."""
    glued = _INTERVAL.sub(lambda found: found[0].replace(" ", _GLUE), " ".join(text.split()))
    lines = textwrap.wrap(glued, width - 4, break_on_hyphens=False)
    first, *others = [line.replace(_GLUE, " ") for line in lines]
    return "\n".join([f"  - {first}", *(f"    {line}" for line in others)])
