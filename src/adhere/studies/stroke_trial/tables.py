"""The tables of the stroke trial, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

import polars

from adhere.report.numbers import estimate_texts
from adhere.simulation import Estimate, SimulationResult
from adhere.simulation.simulate import POOLED
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.entries import ALL, HEADLINES, SHOWN_ALONG, Entry
from adhere.studies.lineup.tables import along_table, estimate_in, final_table


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies, the headline figures in both sizes, and the surplus along the trial."""
    final = final_table(results["all"], ALL)
    first = final.filter(polars.col("policy").is_in([one.policy for one in HEADLINES]))
    return {
        "final": final,
        "headline": polars.concat([first, final_table(results["again"], HEADLINES)]),
        "along": along_table(results["all"], SHOWN_ALONG),
    }


class Facts:
    """The final figures of all policies in `few` runs, and those of the headline policies in `many` too."""

    def __init__(self, tables: Tables) -> None:
        self.final, self.headline, self.along = tables["final"], tables["headline"], tables["along"]
        self.n_patients, self.few = (int(self.final[name][0]) for name in ("n_patients", "n_runs"))
        self.many = max(self.headline["n_runs"].to_list())

    def surplus(self, one: Entry, population: str = POOLED, measure: str = "surplus", n_runs: int = 0) -> Estimate:
        """A policy's surplus on a trial, or pooled; given `n_runs`, that of a headline policy in so many."""
        where = {"policy": one.policy, "population": population, "measure": measure}
        return estimate_in(self.headline, n_runs=n_runs, **where) if n_runs else estimate_in(self.final, **where)


def text(one: Estimate, digits: int = 1) -> str:
    """A mean with its interval, to as many decimals as the paper prints."""
    return estimate_texts([one], digits=digits)[0]


def mean(one: Estimate) -> str:
    """A mean alone, for a sentence."""
    return estimate_texts([one], intervals=False, digits=1)[0]
