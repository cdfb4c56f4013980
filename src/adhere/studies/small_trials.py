"""Figure 3: trials of twelve patients, each with a population of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from adhere.report.section import Section
from adhere.simulation import Estimate, SimulationResult
from adhere.simulation.moments import Z95
from adhere.studies import small_trials_claims as claims
from adhere.studies import small_trials_exhibits as exhibits
from adhere.studies.lineup import ALL, BOUNDED, CHOSEN, LEARNERS, STRATEGIES, entry
from adhere.studies.outcome_tables import estimate_in, final_table
from adhere.studies.study import Experiment, Study, runs

if TYPE_CHECKING:
    import polars

    from adhere.studies.study import Tables

N_PATIENTS, SIZES = 12, (claims.PAPERS_RUNS, 100_000)


def experiments(quick: bool) -> Mapping[str, Experiment]:
    """Every policy under every reading, in two sizes; a learner's together, to compare them with its Chosen.

    Patients depend on the seed, the simulation and the population alone: those of different learners meet the same.
    """
    return {
        f"{learner}-{size}": Experiment(
            [one.policy for one in ALL if one.learner == learner],
            tuple(claims.READINGS),
            N_PATIENTS,
            runs(size, quick),
            reference=entry(learner, CHOSEN).policy,
            grid=1,
        )
        for size in SIZES
        for learner in LEARNERS
    }


def tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies in both sizes, and the gains over Chosen with their averages."""
    import polars

    final = polars.concat([final_table(result, ALL) for result in results.values()])
    sizes = final["n_runs"].unique(maintain_order=True)
    return {"final": final, "gains": polars.concat([_gains(final.filter(n_runs=size)) for size in sizes])}


def _gains(final: polars.DataFrame) -> polars.DataFrame:
    """Surplus minus that of the learner's Chosen, by reading, learner and strategy, and their averages."""
    import polars

    others = [strategy for strategy in STRATEGIES if strategy != CHOSEN]
    averaged = {one: [one] for one in others}
    averaged |= {claims.AVERAGE: others, claims.AVERAGE_BUT_BOUNDED: [one for one in others if one != BOUNDED]}
    rows = []
    for reading in claims.READINGS:
        where = {"population": reading, "measure": "difference"}
        gains = {
            (learner, strategy): estimate_in(final, policy=entry(learner, strategy).policy, **where)
            for learner in LEARNERS
            for strategy in others
        }
        for learner, learners in {**{one: [one] for one in LEARNERS}, claims.AVERAGE: list(LEARNERS)}.items():
            for strategy, strategies in averaged.items():
                gain = average([gains[one, other] for one in learners for other in strategies])
                who = {"population": reading, "learner": learner, "strategy": strategy}
                rows.append({**who, "n_runs": final["n_runs"][0], **vars(gain)})
    return polars.DataFrame(rows)


def average(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of several estimates, with an interval that is wide enough however they are correlated.

    >>> average([Estimate(0.0, 1.0, -1.96, 1.96), Estimate(1.0, 2.0, -2.92, 4.92)]).se
    1.5
    """
    mean = sum(one.mean for one in estimates) / len(estimates)
    se = sum(one.se or 0.0 for one in estimates) / len(estimates)
    return Estimate(mean, se, mean - Z95 * se, mean + Z95 * se)


def tell(tables: Tables) -> Section:
    """Under which readings the remark on Figure 3 holds."""
    gains = claims.Gains(tables)
    return Section(
        STUDY.name,
        STUDY.title,
        asked=claims.asked(gains),
        found=claims.found(gains),
        how_sure=claims.how_sure(gains),
        claims=[claims.claim(gains)],
        drawings=exhibits.drawings(gains),
        listings=exhibits.listings(gains),
    )


STUDY = Study("small-trials", "Small trials (Figure 3)", experiments, tables, tell)
