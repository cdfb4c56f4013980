"""The tables of trials of twelve patients, final figures and gains over Chosen, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars

from adhere.intervals import Z95
from adhere.simulation import Estimate, SimulationResult
from adhere.studies.framework.study import Tables
from adhere.studies.lineup.entries import ALL, BOUNDED, CHOSEN, LEARNERS, STRATEGIES, entry
from adhere.studies.lineup.tables import estimate_in, final_table
from adhere.studies.small_trials.experiments import READINGS

AVERAGE, AVERAGE_BUT_BOUNDED = "average", f"average without {BOUNDED}"


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """The final figures of all policies in both sizes, and the gains over Chosen with their averages."""
    final = polars.concat([final_table(result, ALL) for result in results.values()])
    sizes = final["n_runs"].unique(maintain_order=True)
    return {"final": final, "gains": polars.concat([_gains(final.filter(n_runs=size)) for size in sizes])}


def _gains(final: polars.DataFrame) -> polars.DataFrame:
    """Surplus minus that of the learner's Chosen, by reading, learner and strategy, and their averages."""
    others = [strategy for strategy in STRATEGIES if strategy != CHOSEN]
    averaged = {one: [one] for one in others}
    averaged |= {AVERAGE: others, AVERAGE_BUT_BOUNDED: [one for one in others if one != BOUNDED]}
    rows = []
    for reading in READINGS:
        where = {"population": reading, "measure": "difference"}
        gains = {
            (learner, strategy): estimate_in(final, policy=entry(learner, strategy).policy, **where)
            for learner in LEARNERS
            for strategy in others
        }
        for learner, learners in {**{one: [one] for one in LEARNERS}, AVERAGE: list(LEARNERS)}.items():
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


class Facts:
    """The final figures and the gains over Chosen, in the larger size unless another is asked for."""

    def __init__(self, tables: Tables) -> None:
        self.final, self._gains = tables["final"], tables["gains"]
        self.sizes = sorted(set(self.final["n_runs"].to_list()))
        self.size = self.sizes[-1]
        self.n_patients = int(self.final["n_patients"][0])
        self.in_size = self._gains.filter(n_runs=self.size)

    def of(self, reading: str, learner: str = AVERAGE, strategy: str = AVERAGE, size: int | None = None) -> Estimate:
        """A gain over Chosen of the same learner, or an average of several."""
        where = {"population": reading, "learner": learner, "strategy": strategy}
        return estimate_in(self._gains, n_runs=size or self.size, **where)

    def best(self, reading: str) -> tuple[str, Estimate]:
        """The policy with the highest surplus."""
        its = self.final.filter(n_runs=self.size, population=reading, measure="surplus")
        row = its.sort("mean", descending=True, maintain_order=True).row(0, named=True)
        return f"{row['learner']} under {row['label']}", estimate_in(its, policy=row["policy"])
