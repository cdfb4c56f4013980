"""The tables of the stroke trial."""

from __future__ import annotations

from collections.abc import Mapping

import polars

from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.entries import ALL, HEADLINES, SHOWN_ALONG
from adhere.studies.lineup.tables import along_table, final_table


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies, the headline figures in both sizes, and the surplus along the trial."""
    final = final_table(results["all"], ALL)
    first = final.filter(polars.col("policy").is_in([one.policy for one in HEADLINES]))
    return {
        "final": final,
        "headline": polars.concat([first, final_table(results["again"], HEADLINES)]),
        "along": along_table(results["all"], SHOWN_ALONG),
    }
