"""Text summary of an evaluation for a terminal, within 100 columns, and a table for notebooks."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.output import sentences
from adhere.evaluation.output.grid_figures import claim_of
from adhere.evaluation.output.rows import UNKNOWN, column, conclusion_columns, scenario_columns
from adhere.evaluation.output.side_by_side import COMPARED
from adhere.intervals import Estimate
from adhere.report.numbers import counted
from adhere.report.text_table import paragraph, text_table

_INTERVAL = re.compile(r"\[[^]]*]")
_GLUE = "\N{NO-BREAK SPACE}"
WIDEST, NARROWEST = 100, 60
_MAX_ROWS = 40  # rows of a table
_DIGEST = 12  # characters shown of a digest
_FOOT = (
    "claims: probability of a claim: the type I error under a null, power elsewhere (right direction); wrong: "
    "in the other direction. "
    "patients, days: mean of a trial. worse arm: share of its patients recommended an arm that is not the best. "
    "surplus: expected good outcomes above equal shares, summed over a trial. "
    "superior, inferior, …: what the trial as a whole stops for. "
    "In brackets: Monte Carlo standard error (more trials make it smaller). Intervals are of one scenario each, and "
    "do not allow for its being the largest or smallest of several."
)
_FALSE_CLAIMS = "false: about arms that do not differ, where others do."


def summary(evaluation: EvaluationData, width: int = WIDEST) -> str:
    """Return the summary in lines of at most `width` characters (60 to 100)."""
    width = max(NARROWEST, min(width, WIDEST))
    parts = [paragraph(headline(evaluation), width)]
    parts += [paragraph(f"note: {one}", width) for one in evaluation.notes]
    parts += _one(evaluation, width) if len(evaluation.designs) == 1 else _several(evaluation, width)
    said = [sentences.errors_result(evaluation), sentences.power_result(evaluation)]
    said += [sentences.wrong_claims_result(evaluation), sentences.fairness_result(evaluation)]
    said += [sentences.benefit_result(evaluation), sentences.estimates_result(evaluation)]
    said = [one for one in dict.fromkeys(said) if one]
    parts.append("In words\n" + "\n".join(_item(one, width) for one in said))
    has_both = len(evaluation.designs) == 1 and any(
        row.number("type_one") and row.number("power") for row in evaluation.results
    )
    parts.append(paragraph(f"{_FOOT} {_FALSE_CLAIMS if has_both else ''}", width))
    return sentences.in_its_words(evaluation, "\n\n".join(part for part in parts if part) + "\n")


def headline(evaluation: EvaluationData) -> str:
    """Return the first line: the design with its digest, trials, scenarios, seed and version."""
    how = (
        f"{counted(evaluation.n_trials, 'trial')} in {sentences.every_scenario(evaluation)}, seed {evaluation.seed}; "
        f"adhere {evaluation.version}"
    )
    if len(evaluation.designs) > 1:
        return f"{len(evaluation.designs)} designs side by side; {how}"
    design = evaluation.designs[0]
    return f"{design.name}: {sentences.headline(design)} Design {_short(design.digest)}; {how}"


def _short(digest: str) -> str:
    return digest.rpartition(":")[2][:_DIGEST]


def _one(evaluation: EvaluationData, width: int) -> Iterator[str]:
    rows = evaluation.results
    yield _listed("Claims, sizes and patients", rows, claims_columns(rows), width)
    yield _listed("What trials end with", rows, conclusion_columns(rows), width)


def claims_columns(rows: Sequence[Characteristics]) -> dict[str, list[str]]:
    """Return the columns of the most important characteristics, by heading."""
    in_part = [row.number("type_one") if claim_of(row) == "power" else None for row in rows]
    return {
        "claims": column([_claim(row) for row in rows], percent=True),
        "false": column(in_part, percent=True, errors=False),
        "wrong": column([row.number("wrong_claim") for row in rows], percent=True, errors=False),
        "patients": column([row.number("sample_size") for row in rows]),
        "days": column([row.number("duration") for row in rows], errors=False),
        "worse arm": column([row.number("recommended_inferior") for row in rows], percent=True, errors=False),
        "surplus": column([row.number("surplus") for row in rows]),
    }


def _claim(row: Characteristics) -> Estimate | None:
    name = claim_of(row)
    return row.number(name) if name else None


def _several(evaluation: EvaluationData, width: int) -> Iterator[str]:
    rows, n_designs = evaluation.results, len(evaluation.designs)
    names = [chr(ord("A") + number) if number < 26 else str(number + 1) for number in range(n_designs)]
    yield "\n".join(
        _item(f"{name}  {design.name}: {sentences.headline(design)} Design {_short(design.digest)}", width)
        for name, design in zip(names, evaluation.designs, strict=True)
    )
    for caption, name in (
        ("Claims", None),
        ("Patients of a trial", "sample_size"),
        ("Patients recommended a worse arm", "recommended_inferior"),
    ):
        yield from _compared(caption, name, names, rows, width)


def _compared(
    caption: str, name: str | None, names: Sequence[str], rows: Sequence[Characteristics], width: int
) -> Iterator[str]:
    """Iterate over two tables of a characteristic (or claims): each design, and differences from the first design."""
    percent = name is None or COMPARED[name].is_share
    measured = [(row, name or claim_of(row)) for row in rows]
    numbers = [row.number(one) if one else None for row, one in measured]
    if len({one.mean for one in numbers if one is not None}) < 2:
        return
    own, n_designs = rows[:: len(names)], len(names)
    cells = column(numbers, percent=percent, unit=False)
    yield _listed(
        f"{caption}, in percent" if percent else caption,
        own,
        {name: cells[place::n_designs] for place, name in enumerate(names)},
        width,
    )
    differences = [row.difference(one).estimate if one else None for row, one in measured]
    changed = column(differences, percent=percent, sign=True)
    columns = {f"{name} - {names[0]}": changed[place::n_designs] for place, name in enumerate(names) if place}
    points = ", in percentage points" if percent else ""
    yield _listed(f"{caption}: differences, with the same patients{points}", own, columns, width)


def _listed(caption: str, rows: Sequence[Characteristics], columns: Mapping[str, Sequence[str]], width: int) -> str:
    """Return a table with a row for each scenario, without columns and rows that have no number."""
    place = scenario_columns(rows)
    kept = {heading: cells for heading, cells in columns.items() if any(cell != UNKNOWN for cell in cells)}
    if not kept:
        return ""
    lines = [list(cells) for cells in zip(*place.values(), *kept.values(), strict=True)]
    lines = [line for line in lines if any(cell != UNKNOWN for cell in line[len(place) :])]
    shown = lines[:_MAX_ROWS]
    text = "\n".join([paragraph(caption, width), text_table([[*place, *kept], *shown], width)])
    more = len(lines) - len(shown)
    return text + (f"\n  and {counted(more, 'more scenario')}: --html or --json" if more else "")


def _item(text: str, width: int) -> str:
    """Format a list item, without line breaks inside intervals."""
    glued = _INTERVAL.sub(lambda found: found[0].replace(" ", _GLUE), " ".join(text.split()))
    lines = textwrap.wrap(glued, width - 4, break_on_hyphens=False)
    first, *others = [line.replace(_GLUE, " ") for line in lines]
    return "\n".join([f"  - {first}", *(f"    {line}" for line in others)])


_LONGER = {"false": "false claims", "wrong": "wrong direction"}  # longer headings, if there is room


def notebook_table(evaluation: EvaluationData) -> str:
    """Return HTML with the headline and a row for each scenario and design."""
    rows = evaluation.results
    columns = {
        "scenario": [row.scenario.name for row in rows],
        "design": [row.design.name for row in rows],
        **{_LONGER.get(heading, heading): cells for heading, cells in claims_columns(rows).items()},
    }
    lines = list(zip(*columns.values(), strict=True))
    body = "".join(_row("td", line) for line in lines[:_MAX_ROWS])
    more = f"<p>and {len(lines) - _MAX_ROWS} more: .to_polars()</p>" if len(lines) > _MAX_ROWS else ""
    table = f"<table><thead>{_row('th', tuple(columns))}</thead><tbody>{body}</tbody></table>"
    return sentences.in_its_words(evaluation, f"<div><p>{escape(headline(evaluation))}</p>{table}{more}</div>")


def _row(tag: str, cells: tuple[str, ...]) -> str:
    inside = ""
    for number, cell in enumerate(cells):
        align = "left" if number < 2 else "right"
        inside += f'<{tag} style="text-align: {align}; padding: 0.2em 0.6em">{escape(cell)}</{tag}>'
    return f"<tr>{inside}</tr>"
