"""Figure 2 and Example 1: all policies on rich and poor patients, and on defiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.simulation import SimulationResult
from adhere.studies import synthetic_claims as claims
from adhere.studies import synthetic_exhibits as exhibits
from adhere.studies.lineup import ALL, CHOSEN, MAIN, THOMPSON, entry
from adhere.studies.outcome_tables import along_table, final_table
from adhere.studies.study import Experiment, Study, runs

if TYPE_CHECKING:
    from adhere.studies.study import Tables

POPULATIONS = (claims.RICH_AND_POOR, claims.DEFIERS)
N_PATIENTS, N_RUNS = 10_000, 1000


def experiments(quick: bool) -> Mapping[str, Experiment]:
    """Every policy on both populations, at the size of Figure 2."""
    policies = [one.policy for one in ALL]
    reference = entry(THOMPSON, CHOSEN).policy
    return {"all": Experiment(policies, POPULATIONS, N_PATIENTS, runs(N_RUNS, quick), reference=reference)}


def tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies, and the surplus along the trial of the main ones."""
    return {"final": final_table(results["all"], ALL), "along": along_table(results["all"], MAIN)}


def tell(tables: Tables) -> Section:
    """What Figure 2 and Example 1 claim, and what we find."""
    figures = claims.Figures(tables["final"])
    return Section(
        STUDY.name,
        STUDY.title,
        asked=claims.asked(figures),
        found=claims.found(figures),
        how_sure=claims.how_sure(figures),
        claims=claims.claims(figures),
        drawings=exhibits.drawings(tables),
        listings=exhibits.listings(tables["final"]),
    )


STUDY = Study("synthetic", "Rich and poor (Figure 2) and defiers (Example 1)", experiments, tables, tell)
