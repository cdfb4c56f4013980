"""Records in plain text: where they come from, who is missing, who took what, and what each protocol would learn."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from adhere.populations.estimates import Estimated, means_by_protocol, taken_cells
from adhere.populations.population import headline
from adhere.populations.records import LOWER_IS_BETTER, NoArm, Records
from adhere.records.csv_rows import SEPARATORS

PROTOCOL_TITLES = {
    "chosen": "Chosen (intention-to-treat)",
    "actual": "Actual (as-treated)",
    "comply": "Comply (per-protocol)",
}


def describe_records(records: Records, width: int = 80) -> str:
    """A description in plain text, in lines of a width where words can be broken."""
    parts = [_headline(records), _missing(records), _taken(records, width), _means(records), _explained(records)]
    return "\n\n".join("\n".join(_wrapped(part, width)) for part in parts if part)


def grid(rows: Sequence[Sequence[str]], n_words: int | None = None) -> list[str]:
    """Rows in columns: the first hold words, the others numbers; all are words where that is left out."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    words = len(widths) if n_words is None else n_words
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        line = "  ".join(cell.ljust(w) if i < words else cell.rjust(w) for i, (cell, w) in enumerate(cells))
        lines.append(line.rstrip())
    return lines


def _headline(records: Records) -> list[str]:
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
    lines = ["  " + line for line in _right_first(rows)]
    return lines + [f"{n:,} {part} imputed by the trial's rule count as given" for part, n in records.imputed.items()]


def _right_first(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = max(len(row[0]) for row in rows)
    return [f"{row[0]:>{wide}}  {row[1]}" for row in rows]


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
    """Sentences that are too long are broken; rows of a table, which begin or go on with two blanks, are not."""
    found = []
    for line in lines:
        is_row = "  " in line or len(line) <= width
        found += (
            [line] if is_row else textwrap.wrap(line, max(width, 20), break_on_hyphens=False, break_long_words=False)
        )
    return found
