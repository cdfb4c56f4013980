"""What the terminal shows: for each family the best policies, Thompson under Chosen and a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars

from adhere.studies.arena.cells import MAIN_HORIZON
from adhere.studies.arena.entrants import REFERENCE

_N_BEST = 5
_NUMBERS = "{:>7}{:>26}{:>10}"
_MIN_NAME = 24
LEGEND = (
    "share: of the best possible surplus; then its difference from Thompson under Chosen on the same patients, with"
    " its 95% interval (+ better, - worse), and the mean of that in the worst 5% of populations."
)


def summary(results: polars.DataFrame, own: Sequence[str], width: int) -> str:
    """A block for each family, at the main horizon or, where it is not played there, at its longest."""
    blocks = []
    for family in results["family"].unique(maintain_order=True):
        rows = results.filter(polars.col("family") == family)
        horizons = rows["n_patients"].unique().to_list()
        horizon = MAIN_HORIZON if MAIN_HORIZON in horizons else max(horizons)
        blocks.append(_block(family, rows.filter(polars.col("n_patients") == horizon), own, width))
    return "\n\n".join(blocks)


def _block(family: str, rows: polars.DataFrame, own: Sequence[str], width: int) -> str:
    ranked = rows.sort("share", descending=True).to_dicts()
    shown = [row for rank, row in enumerate(ranked) if rank < _N_BEST or row["policy"] in (REFERENCE, *own)]
    room = max(_MIN_NAME, min(width, 100) - len(_NUMBERS.format("", "", "")))
    first = ranked[0]
    title = f"{family}, {first['n_patients']:,} patients"
    head = f"{title:<{room}}" + _NUMBERS.format("share", "difference", "worst 5%")
    lines = [head, *(_line(row, room) for row in shown)]
    if len(ranked) > len(shown):
        lines.append(f"  … and {len(ranked) - len(shown)} more, in results.csv")
    return "\n".join(lines)


def _line(row: dict[str, Any], room: int) -> str:
    low, high = row["difference_low"], row["difference_high"]
    mark = " " if row["policy"] == REFERENCE or low is None else "+" if low > 0 else "-" if high < 0 else " "
    name = row["label"] if len(row["label"]) <= room - 3 else f"{row['label'][: room - 4]}…"
    difference = "" if row["policy"] == REFERENCE else f"{row['difference']:+.3f}"
    if difference and low is not None:
        difference += f" [{low:+.3f}, {high:+.3f}]"
    worst = row["worst_5_percent"]
    tail = "" if worst is None or row["policy"] == REFERENCE else f"{worst:+.3f}"
    return f"{mark} {name:<{room - 2}}" + _NUMBERS.format(f"{row['share']:.3f}", difference, tail)
