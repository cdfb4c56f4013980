"""Figure 1 and the numbers of the text: surplus lives on the International Stroke Trial, aspirin and heparin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.simulation import SimulationResult
from adhere.studies import stroke_trial_claims as claims
from adhere.studies import stroke_trial_exhibits as exhibits
from adhere.studies.lineup import ALL, CHOSEN, HEADLINES, SHOWN_ALONG, THOMPSON, entry
from adhere.studies.outcome_tables import along_table, final_table
from adhere.studies.study import Experiment, Study, runs

if TYPE_CHECKING:
    from adhere.studies.study import Tables

TRIALS = ("stroke-aspirin", "stroke-heparin")
N_PATIENTS, N_RUNS, N_RUNS_AGAIN = 10_000, 2000, 20_000


def experiments(quick: bool) -> Mapping[str, Experiment]:
    """Every policy at the paper's size, and the headline policies in ten times as many runs."""
    thompson = entry(THOMPSON, CHOSEN).policy
    return {
        "all": Experiment(
            [one.policy for one in ALL], TRIALS, N_PATIENTS, runs(N_RUNS, quick), reference=thompson, pooled=True
        ),
        "again": Experiment(
            [one.policy for one in HEADLINES],
            TRIALS,
            N_PATIENTS,
            runs(N_RUNS_AGAIN, quick),
            reference=thompson,
            grid=1,
            pooled=True,
        ),
    }


def tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies, the headline figures in both sizes, and the surplus along the trial."""
    import polars

    final = final_table(results["all"], ALL)
    first = final.filter(polars.col("policy").is_in([one.policy for one in HEADLINES]))
    return {
        "final": final,
        "headline": polars.concat([first, final_table(results["again"], HEADLINES)]),
        "along": along_table(results["all"], SHOWN_ALONG),
    }


def tell(tables: Tables) -> Section:
    """What Figure 1 and the text around it claim, and what we find."""
    from adhere.populations.stroke import SOURCE

    return Section(
        STUDY.name,
        STUDY.title,
        asked=claims.asked(tables),
        found=claims.found(tables),
        how_sure=claims.how_sure(tables),
        claims=claims.claims(tables),
        drawings=exhibits.drawings(tables),
        listings=exhibits.listings(tables),
        credits=SOURCE,
    )


STUDY = Study("stroke-trial", "The stroke trial (Figure 1)", experiments, tables, tell)
