"""The tables of rich and poor patients and of defiers."""

from __future__ import annotations

from collections.abc import Mapping

from adhere.simulation import SimulationResult
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.entries import ALL, MAIN
from adhere.studies.lineup.tables import along_table, final_table


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies, and the surplus along the trial of the main ones."""
    return {"final": final_table(results["all"], ALL), "along": along_table(results["all"], MAIN)}
