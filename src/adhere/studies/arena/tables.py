"""Build the arena's tables, from which its page is drawn: their columns, types and rows.

>>> list(SCHEMAS["frontier"])[:3]
['policy', 'label', 'gain']
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars

from adhere.policies.tables.bayes_optimal import MAX_HORIZON, UNIFORM_OTHER, optimal_surplus
from adhere.studies.arena.cells import MISLEADING, POOLED_STROKE, STROKE, UNCONFOUNDED, Cell, family_row
from adhere.studies.arena.entrants import Entrant
from adhere.studies.arena.measures import (
    ByUnit,
    Interval,
    by_unit,
    growth_of_worst,
    held_out_worst_mean,
    interval,
    worse_than_random,
    worst_mean,
)
from adhere.studies.arena.play import Played

_TEXT, _WHOLE, _NUMBER = polars.String(), polars.Int64(), polars.Float64()
Schema = dict[str, Any]


def _with_interval(*names: str) -> Schema:
    return {name + end: _NUMBER for name in names for end in ("", "_low", "_high")}


_WHO: Schema = {"family": _TEXT, "n_patients": _WHOLE, "policy": _TEXT, "label": _TEXT}
SCHEMAS: dict[str, Schema] = {
    # One row per family, horizon and policy. Intervals are over populations, or over runs if there is only one
    # population.
    "results": {
        "family": _TEXT,
        "n_arms": _WHOLE,
        "n_patients": _WHOLE,
        "policy": _TEXT,
        "label": _TEXT,
        "n_populations": _WHOLE,
        "n_runs": _WHOLE,  # per population
        **_with_interval("share"),  # of the best possible surplus
        **_with_interval("difference"),  # between the share and that of Thompson under Chosen, on the same patients
        "worst_5_percent": _NUMBER,  # mean difference in the worst 5% of populations
        "worst_5_percent_held_out": _NUMBER,  # the same, chosen in half of the runs and measured in the others
        "worst": _NUMBER,  # difference in the worst population
        "populations_worse_than_randomisation": _NUMBER,  # share of populations
        "populations_surely_worse_than_randomisation": _NUMBER,
        **_with_interval("regret_recommendation", "regret_treatment", "regret_compliers"),  # per patient
        **_with_interval("surplus"),  # of a whole trial
        "fraction_of_optimum": _NUMBER,
        "growth_of_worst": _NUMBER,
        "ns_per_decision": _NUMBER,
    },
    # One row per family, horizon, policy and number of patients so far (t): regret compared with the best
    # recommendation.
    "curves": {**_WHO, "t": _WHOLE, **_with_interval("regret")},
    # One row per policy and family in which pooling misleads. Gain is the difference in the unconfounded family. Loss
    # is minus the difference in the other family, so that up and to the left is better.
    "frontier": {
        "policy": _TEXT,
        "label": _TEXT,
        **_with_interval("gain", "loss"),
        "loss_worst_5_percent": _NUMBER,
        "loss_family": _TEXT,
        "n_patients": _WHOLE,
    },
    "families": {
        "family": _TEXT,
        "description": _TEXT,
        "drawn": _TEXT,
        "n_arms": _WHOLE,
        "n_populations": _WHOLE,
        "seed": _WHOLE,  # null for named populations
        "digest": _TEXT,  # of the populations; null for named ones
        "best_surplus": _NUMBER,  # per patient, the mean over populations
    },
    # Policies that do not play in a cell, and why.
    "left_out": {**_WHO, "why": _TEXT},
}


def table(name: str, rows: Iterable[Mapping[str, Any]]) -> polars.DataFrame:
    """Return a table of rows. Each row must have all columns of its schema."""
    schema = SCHEMAS[name]
    return polars.DataFrame([[row[column] for column in schema] for row in rows], schema=schema, orient="row")


_ENDS = ("", "_low", "_high")


def frontier_rows(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row per policy, horizon and misleading family, if the policy also plays the unconfounded family."""
    found = {(row["family"], row["n_patients"], row["policy"]): row for row in results}
    rows = []
    for (family, horizon, policy), gains in found.items():
        for other in MISLEADING:
            loses = found.get((other, horizon, policy))
            if family != UNCONFOUNDED or loses is None:
                continue
            mean, low, high = (loses[f"difference{end}"] for end in _ENDS)
            row = {f"gain{end}": gains[f"difference{end}"] for end in _ENDS}
            row |= {"policy": policy, "label": gains["label"], "n_patients": horizon, "loss_family": other}
            row |= {"loss": -mean, "loss_low": -high, "loss_high": -low}
            rows.append(row | {"loss_worst_5_percent": -loses["worst_5_percent"]})
    return rows


OPTIMUM_FAMILY = UNIFORM_OTHER  # its distribution is the prior of this name
OPTIMAL = "bayes-optimal-aware"
Row = dict[str, Any]
Plays = Mapping[Cell, Mapping[Entrant, Played]]  # the reference comes first


@dataclass(frozen=True)
class LeftOut:
    """A policy that does not play in a cell."""

    cell: Cell
    entrant: Entrant
    why: str


def make_tables(plays: Plays, left_out: Iterable[LeftOut]) -> dict[str, polars.DataFrame]:
    """Return all tables of the schema."""
    results, curves = [], []
    for cell, played in plays.items():
        own, cell_curves = _cell_rows(cell, played)
        results += own
        curves += cell_curves
    results += _pooled_stroke(plays)
    rows = {
        "results": results,
        "curves": curves,
        "frontier": frontier_rows(results),
        "families": [family_row(cell) for cell in {cell.family: cell for cell in plays}.values()],
        "left_out": [_who(one.cell.family, one.cell.n_patients, one.entrant) | {"why": one.why} for one in left_out],
    }
    return {name: table(name, its) for name, its in rows.items()}


def _who(family: str, horizon: int, entrant: Entrant) -> Row:
    return {"family": family, "n_patients": horizon, "policy": entrant.text, "label": entrant.label}


def _cell_rows(cell: Cell, played: Mapping[Entrant, Played]) -> tuple[list[Row], list[Row]]:
    truth = cell.truth
    figures = {entrant: by_unit(one, truth) for entrant, one in played.items()}
    reference = next(iter(figures.values()))
    optimum = _optimum(figures, cell.n_patients) if cell.family == OPTIMUM_FAMILY else None
    results, curves = [], []
    for entrant, own in figures.items():
        one = played[entrant]
        row = _row(cell.family, cell.n_patients, entrant, own, reference, truth.n_populations == 1)
        negative, surely = worse_than_random(one, truth, own.surplus)
        row |= {
            "n_arms": truth.recommendation.shape[1],
            "n_populations": truth.n_populations,
            "n_runs": one.n_runs * (truth.n_units if truth.n_populations == 1 else 1),
            "populations_worse_than_randomisation": negative,
            "populations_surely_worse_than_randomisation": surely,
            "fraction_of_optimum": None if optimum is None else float(own.surplus.mean()) / optimum,
            "ns_per_decision": 1e9 * one.seconds * one.n_threads / (truth.n_units * one.n_runs * cell.n_patients),
        }
        results.append(row)
        who = _who(cell.family, cell.n_patients, entrant)
        for patients, regret in zip(one.grid, own.regret.T, strict=True):
            curves.append(who | {"t": int(patients)} | _ends("regret", interval(regret)))
    return results, curves


def _row(family: str, horizon: int, entrant: Entrant, own: ByUnit, reference: ByUnit, is_single: bool) -> Row:
    """Return a row with the columns that are computed from a policy's figures by unit."""
    difference = own.share - reference.share
    worst = {
        "worst_5_percent": worst_mean(difference),
        "worst_5_percent_held_out": held_out_worst_mean(own.half_shares - reference.half_shares),
        "worst": float(difference.min()),
        "growth_of_worst": growth_of_worst(own.half_regrets, own.grid),
    }
    return {
        **_who(family, horizon, entrant),
        **_ends("share", interval(own.share)),
        **_ends("difference", interval(difference)),
        **_ends("regret_recommendation", interval(own.regret[:, -1] / horizon)),
        **_ends("regret_treatment", interval(own.treatment_regret)),
        **_ends("regret_compliers", interval(own.complier_regret)),
        **_ends("surplus", interval(own.surplus)),
        **(dict.fromkeys(worst) if is_single else worst),
    }


def _ends(name: str, ends: Interval) -> Row:
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def _optimum(figures: Mapping[Entrant, ByUnit], horizon: int) -> float | None:
    """Return the optimal policy's surplus on the same patients or, if it does not play, the computed optimum."""
    for entrant, one in figures.items():
        if entrant.text == OPTIMAL:
            return float(one.surplus.mean())
    return optimal_surplus(horizon, UNIFORM_OTHER) if horizon <= MAX_HORIZON[UNIFORM_OTHER] else None


def _pooled_stroke(plays: Plays) -> list[Row]:
    """Return means over both trials, by group of runs: run r of each trial uses the same random numbers."""
    horizons = dict.fromkeys(cell.n_patients for cell in plays if cell.family in STROKE)
    found = {(cell.family, cell.n_patients): cell for cell in plays}
    pairs = [[found[name, n] for name in STROKE if (name, n) in found] for n in horizons]
    return [row for cells in pairs if len(cells) == len(STROKE) for row in _pooled_at(cells, plays)]


def _pooled_at(cells: Sequence[Cell], plays: Plays) -> list[Row]:
    """Return the pooled rows of both trials' cells at one horizon."""
    rows: list[Row] = []
    reference: ByUnit | None = None
    for entrant in (one for one in plays[cells[0]] if one in plays[cells[1]]):
        own = _mean([by_unit(plays[cell][entrant], cell.truth) for cell in cells])
        reference = reference or own
        row = _row(POOLED_STROKE, cells[0].n_patients, entrant, own, reference, is_single=True)
        n_runs = plays[cells[0]][entrant].n_runs * cells[0].truth.n_units
        unknown = ("n_arms", "populations_surely_worse_than_randomisation", "fraction_of_optimum", "ns_per_decision")
        row |= dict.fromkeys(unknown) | {"n_populations": 2, "n_runs": n_runs}
        rows.append(row | {"populations_worse_than_randomisation": float(own.surplus.mean() < 0)})
    return rows


def _mean(several: Sequence[ByUnit]) -> ByUnit:
    return ByUnit(*(np.mean([getattr(one, field.name) for one in several], axis=0) for field in fields(ByUnit)))
