"""Write the arena's page, one HTML file made only from its tables, and the summary for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars

from adhere.studies.arena.cells import MAIN_HORIZON
from adhere.studies.arena.entrants import REFERENCE
from adhere.studies.arena.facts import Facts
from adhere.studies.arena.families import MIN_BEST_SURPLUS
from adhere.studies.arena.figures import cells, charts
from adhere.studies.framework.words import StudyPage, Tables

TITLE = "The arena: every policy on the same patients"
_THRESHOLDS = {
    "TOLERATED": -0.005,  # of the best possible surplus: smaller losses do not count
    "SLIGHT": -0.01,  # of the best possible surplus, lost where pooling misleads
    "LONG": 50_000,  # patients from which on growth is informative about longer trials
    "MAX_NAMED": 6,  # policies named in a sentence
    "LINEAR": 0.9,  # power of the number of patients from which on growth is called linear
    "MIN_BEST_SURPLUS": MIN_BEST_SURPLUS,
}


def study_page(facts: Facts) -> StudyPage:
    """Return the page. Parts without data in the tables are left out."""
    return StudyPage(__package__, facts, charts(facts), cells(facts), _THRESHOLDS)


def arena_page(tables: Tables, foot: Mapping[str, str], warning: str = "") -> str:
    """Return the HTML page for the tables `results`, `curves`, `frontier` and `families`. `foot` describes the
    run.
    """
    return study_page(Facts(tables)).html(TITLE, foot, warning)


_N_BEST = 5
_NUMBERS = "{:>7}{:>26}{:>10}"
_MIN_NAME = 24
LEGEND = (
    "share: of the best possible surplus; difference: from Thompson under Chosen on the same patients, with its 95%"
    " interval (+ better, - worse); worst 5%: the mean difference in the worst 5% of populations."
)


def summary(results: polars.DataFrame, own: Sequence[str], width: int) -> str:
    """Return a block of text per family, at the main horizon or, if it was not played there, at its longest."""
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
