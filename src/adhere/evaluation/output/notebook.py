"""An evaluation for a notebook: what was evaluated, and a small table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from adhere.evaluation.output.rows import rows_of
from adhere.evaluation.output.sentences import in_its_words
from adhere.evaluation.output.summary import claims_columns, headline

if TYPE_CHECKING:
    from adhere.evaluation.evaluation import Evaluation

_MAX_ROWS = 40
_LONGER = {"false": "false claims", "wrong": "wrong direction"}  # headings, where there is room


def notebook_table(evaluation: Evaluation) -> str:
    """The headline, and a row for each scenario and design."""
    rows = rows_of(evaluation)
    columns = {
        "scenario": [row.scenario.name for row in rows],
        "design": [row.label for row in rows],
        **{_LONGER.get(heading, heading): cells for heading, cells in claims_columns(rows).items()},
    }
    lines = list(zip(*columns.values(), strict=True))
    body = "".join(_row("td", line) for line in lines[:_MAX_ROWS])
    more = f"<p>and {len(lines) - _MAX_ROWS} more: .to_polars()</p>" if len(lines) > _MAX_ROWS else ""
    table = f"<table><thead>{_row('th', tuple(columns))}</thead><tbody>{body}</tbody></table>"
    return in_its_words(evaluation, f"<div><p>{escape(headline(evaluation))}</p>{table}{more}</div>")


def _row(tag: str, cells: tuple[str, ...]) -> str:
    inside = ""
    for number, cell in enumerate(cells):
        align = "left" if number < 2 else "right"
        inside += f'<{tag} style="text-align: {align}; padding: 0.2em 0.6em">{escape(cell)}</{tag}>'
    return f"<tr>{inside}</tr>"
