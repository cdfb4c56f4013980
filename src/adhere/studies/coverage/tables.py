"""Build the study's tables: one row per kind of interval or test in each cell."""

from collections.abc import Mapping
from typing import Any

import polars

from adhere.intervals import wilson
from adhere.studies.coverage.batches import Counted
from adhere.studies.coverage.cells import Cell
from adhere.studies.coverage.people import ADAPTIVE, FIXED
from adhere.studies.coverage.tally import covers_enough, misses_seldom

FIXED_DESIGN, ADAPTIVE_DESIGN = "fixed", "adaptive"
_TEXT, _WHOLE, _NUMBER, _FLAG = polars.String, polars.Int64, polars.Float64, polars.Boolean
_SHARES = ("coverage", "coverage_low", "coverage_high", "median_width", "unbounded", "empty", "not_given")
_WHERE = {**dict.fromkeys(("design", "population", "policy"), _TEXT), "n_patients": _WHOLE}
INTERVALS = {
    **_WHERE,
    **dict.fromkeys(("view", "quantity", "method", "promise"), _TEXT),
    **{"judged": _FLAG, "truth": _NUMBER, "n_trials": _WHOLE, "covering": _WHOLE},
    **dict.fromkeys(_SHARES, _NUMBER),
    "verdict": _TEXT,
}
TESTS = {
    **_WHERE,
    **{"test": _TEXT, "hypothesis": _TEXT, "true": _FLAG, "judged": _FLAG, "n_trials": _WHOLE, "alarms": _WHOLE},
    **dict.fromkeys(("rate", "rate_low", "rate_high"), _NUMBER),
    "verdict": _TEXT,
}


def make_tables(counted: Mapping[Cell, Counted]) -> dict[str, polars.DataFrame]:
    """Return the tables `intervals`, `tests` and `populations`."""
    intervals = [row for cell, one in counted.items() for row in _interval_rows(cell, one)]
    tests = [row for cell, one in counted.items() for row in _test_rows(cell, one)]
    return {
        "intervals": polars.DataFrame(intervals, INTERVALS, orient="row"),
        "tests": polars.DataFrame(tests, TESTS, orient="row"),
        "populations": _populations(counted),
    }


def _where(cell: Cell) -> dict[str, Any]:
    named = {"population": cell.people, "policy": cell.policy, "n_patients": cell.n_patients}
    return {"design": FIXED_DESIGN if cell.is_fixed else ADAPTIVE_DESIGN, **named}


def _interval_rows(cell: Cell, counted: Counted) -> list[dict[str, Any]]:
    rows = []
    for interval, tally in counted.intervals.items():
        n, n_all = tally.n, counted.n_trials
        low, high = wilson(tally.n_covering, n) if n else (None, None)
        verdict = covers_enough(tally.n_covering, n) if cell.is_fixed else misses_seldom(n - tally.n_covering, n)
        rows.append({
            **_where(cell), **interval._asdict(), "truth": tally.truth, "n_trials": n_all,
            "covering": tally.n_covering,
            "coverage": tally.n_covering / n if n else None, "coverage_low": low, "coverage_high": high,
            "median_width": tally.median_width, "unbounded": tally.n_unbounded / n if n else None,
            "empty": tally.n_empty / n if n else None, "not_given": 1 - n / n_all if n_all else None,
            "verdict": verdict if interval.judged else "",
        })  # fmt: skip
    return rows


def _test_rows(cell: Cell, counted: Counted) -> list[dict[str, Any]]:
    rows = []
    for test, tally in counted.alarms.items():
        low, high = wilson(tally.n_covering, tally.n) if tally.n else (None, None)
        rows.append({
            **_where(cell), "test": test.name, "hypothesis": test.hypothesis, "true": test.is_true,
            "judged": test.judged and test.is_true, "n_trials": tally.n, "alarms": tally.n_covering,
            "rate": tally.n_covering / tally.n if tally.n else None, "rate_low": low, "rate_high": high,
            "verdict": misses_seldom(tally.n_covering, tally.n) if test.judged and test.is_true else "",
        })  # fmt: skip
    return rows


def _populations(counted: Mapping[Cell, Counted]) -> polars.DataFrame:
    """Return the true values of every population in the tables."""
    rows = []
    for design, everyone in ((FIXED_DESIGN, FIXED), (ADAPTIVE_DESIGN, ADAPTIVE)):
        drawn = {cell.people for cell in counted if cell.is_fixed == (design == FIXED_DESIGN)}
        for who in (one for one in everyone if one.name in drawn):
            rows.append({
                "design": design, "population": who.name, "words": who.words,
                "mean_if_control_chosen": who.chosen[0], "mean_if_treatment_chosen": who.chosen[1],
                "intention_to_treat": who.chosen[1] - who.chosen[0], "compliers_effect": who.complier_effect,
                "average_effect": who.taken[1] - who.taken[0],
                **{f"share_of_{name.replace('-', '_')}": share for name, share in who.shares.items()},
                "mediated": who.is_mediated,
            })  # fmt: skip
    return polars.DataFrame(rows, orient="row")
