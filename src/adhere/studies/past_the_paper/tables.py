"""The tables of the policies past the paper, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars

from adhere.policies import optimal_surplus
from adhere.simulation import Estimate, Outcome, SimulationResult
from adhere.simulation.results.surplus_plot import trajectory_rows
from adhere.simulation.simulate import POOLED
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.tables import estimate_in
from adhere.studies.past_the_paper.entries import ANY_HORIZON, SMALL, Entry
from adhere.studies.past_the_paper.experiments import OPTIMUM_READING


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Final figures of both figures, the stroke trial's along the trial, and fractions of the optimum."""
    small = _final(results["small"], SMALL)
    return {
        "stroke": _final(results["stroke"], ANY_HORIZON),
        "along": _along(results["stroke"], ANY_HORIZON),
        "small": small,
        "fractions": _fractions(small),
    }


def _final(result: SimulationResult, entries: Sequence[Entry]) -> polars.DataFrame:
    """One row for each population, policy and measure; `difference` is surplus minus Thompson's under Chosen."""
    rows = []
    for outcome in result.outcomes:
        who = _who(outcome, entries, result)
        rows.append({**who, "measure": "surplus", **vars(outcome.surplus)})
        rows.append({**who, "measure": "difference", **vars(outcome.difference())})
    return polars.DataFrame(rows, infer_schema_length=None)


def _along(result: SimulationResult, entries: Sequence[Entry]) -> polars.DataFrame:
    rows = [
        {**_who(outcome, entries, result), **row} for outcome in result.outcomes for row in trajectory_rows(outcome)
    ]
    return polars.DataFrame(rows, infer_schema_length=None)


def _who(outcome: Outcome, entries: Sequence[Entry], result: SimulationResult) -> dict[str, Any]:
    place = [one.policy for one in result.outcomes if one.population == outcome.population].index(outcome.policy)
    sizes = {name: getattr(result.config, name) for name in ("n_patients", "n_runs", "seed")}
    return {"population": outcome.population, **entries[place]._asdict(), **sizes}


def _fractions(small: polars.DataFrame) -> polars.DataFrame:
    """Surplus on the reading whose optimum is known, divided by that optimum."""
    optimum = optimal_surplus(int(small["n_patients"][0]), OPTIMUM_READING)
    own = small.filter(population=OPTIMUM_READING, measure="surplus").drop("measure")
    numbers = [polars.col(name) / optimum for name in ("mean", "se", "low", "high")]
    return own.with_columns(*numbers, optimum=polars.lit(optimum))


class Facts:
    """The final figures, by policy."""

    def __init__(self, tables: Tables) -> None:
        self.stroke, self.along, self.small, self.fractions = (
            tables[name] for name in ("stroke", "along", "small", "fractions")
        )
        self.n_patients, self.n_runs = (int(self.stroke[name][0]) for name in ("n_patients", "n_runs"))
        self.n_small, self.n_simulations = (int(self.small[name][0]) for name in ("n_patients", "n_runs"))
        self.optimum = float(self.fractions["optimum"][0])

    def lives(self, one: Entry, population: str = POOLED, measure: str = "surplus") -> Estimate:
        """Surplus lives on a stroke trial, or pooled."""
        return estimate_in(self.stroke, label=one.label, population=population, measure=measure)

    def rewards(self, one: Entry, reading: str, measure: str = "surplus") -> Estimate:
        """Surplus in a small trial."""
        return estimate_in(self.small, label=one.label, population=reading, measure=measure)

    def fraction(self, one: Entry) -> Estimate:
        """Surplus in a small trial as a fraction of the optimum."""
        return estimate_in(self.fractions, label=one.label)
