"""Reproduce Figure 3: trials of twelve patients, each with its own population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars

from adhere.intervals import Z95
from adhere.report.dots import dots
from adhere.report.numbers import estimate_texts
from adhere.simulation import Estimate, SimulationResult
from adhere.studies import lineup
from adhere.studies.framework.study import Experiment, Study, Tables
from adhere.studies.framework.words import Cells, Charts, ends, section_of
from adhere.studies.lineup import (
    ALL,
    BOUNDED,
    CHOSEN,
    LEARNERS,
    STRATEGIES,
    entry,
    estimate_in,
    every_policy_cells,
    every_policy_chart,
    final_table,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The arm that a non-complying patient takes, by population. Each population is a reading of the paper.
READINGS = {"uniform-other": "the other arm", "uniform-any": "either arm", "uniform-corrective": "the better arm"}
TITLES = {reading: title.removeprefix("the ") for reading, title in READINGS.items()}
PAPERS_RUNS = 1000

# Every policy in every population, in two sizes. A learner's policies run together, to compare them with its Chosen.
# Patients depend only on the seed, the simulation and the population: different learners meet the same patients.
EXPERIMENTS = {
    f"{learner}-{size}": Experiment(
        [one.policy for one in ALL if one.learner == learner],
        tuple(READINGS),
        n_patients=12,
        n_runs=size,
        reference=entry(learner, CHOSEN).policy,
        grid=1,
    )
    for size in (PAPERS_RUNS, 100_000)
    for learner in LEARNERS
}
AVERAGE, AVERAGE_BUT_BOUNDED = "average", f"average without {BOUNDED}"


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return the final figures of all policies in both sizes, and the gains over Chosen with their averages."""
    final = polars.concat([final_table(result, ALL) for result in results.values()])
    sizes = final["n_runs"].unique(maintain_order=True)
    return {"final": final, "gains": polars.concat([_gains(final.filter(n_runs=size)) for size in sizes])}


def _gains(final: polars.DataFrame) -> polars.DataFrame:
    """Return the surplus minus that of the learner's Chosen, by population, learner and strategy, with averages."""
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
    """Return the mean of several estimates, with an interval that is valid for any correlation between them.

    >>> average([Estimate(0.0, 1.0, -1.96, 1.96), Estimate(1.0, 2.0, -2.92, 4.92)]).se
    1.5
    """
    mean = sum(one.mean for one in estimates) / len(estimates)
    se = sum(one.se or 0.0 for one in estimates) / len(estimates)
    return Estimate(mean, se, mean - Z95 * se, mean + Z95 * se)


class Facts:
    """The final figures and the gains over Chosen, by default in the larger size."""

    def __init__(self, tables: Tables) -> None:
        self.final, self._gains = tables["final"], tables["gains"]
        self.sizes = sorted(set(self.final["n_runs"].to_list()))
        self.size = self.sizes[-1]
        self.n_patients = int(self.final["n_patients"][0])
        self.in_size = self._gains.filter(n_runs=self.size)

    def of(self, reading: str, learner: str = AVERAGE, strategy: str = AVERAGE, size: int | None = None) -> Estimate:
        """Return a gain over Chosen with the same learner, or an average of several gains."""
        where = {"population": reading, "learner": learner, "strategy": strategy}
        return estimate_in(self._gains, n_runs=size or self.size, **where)

    def best(self, reading: str) -> tuple[str, Estimate]:
        """Return the policy with the highest surplus, and the surplus."""
        its = self.final.filter(n_runs=self.size, population=reading, measure="surplus")
        row = its.sort("mean", descending=True, maintain_order=True).row(0, named=True)
        return f"{row['learner']} under {row['label']}", estimate_in(its, policy=row["policy"])

    def holding(self, strategy: str = AVERAGE, size: int | None = None) -> dict[str, bool]:
        """Return for each population whether the gain, averaged over learners, is significantly above zero."""
        gains = {title: self.of(reading, strategy=strategy, size=size) for reading, title in READINGS.items()}
        return {title: ends(gain)[0] > 0 for title, gain in gains.items()}

    def average_texts(self, size: int | None = None, intervals: bool = True) -> list[str]:
        """Return the gain in each population, averaged over strategies and learners, as text."""
        return estimate_texts([self.of(reading, size=size) for reading in READINGS], "+", intervals)

    def farthest_apart(self) -> tuple[str, list[tuple[float, str]]]:
        """Return the population in which the learners' gains differ most, and these gains, lowest first."""
        ranked = {
            reading: sorted((self.of(reading, learner).mean, learner) for learner in LEARNERS) for reading in READINGS
        }
        return max(ranked.items(), key=lambda one: one[1][-1][0] - one[1][0][0])

    def best_by_name(self) -> dict[str, list[str]]:
        """Return every policy that has the highest surplus in a population, with these populations."""
        where: dict[str, list[str]] = {}
        for reading, title in READINGS.items():
            name, surplus = self.best(reading)
            where.setdefault(name, []).append(f"{title} (surplus {surplus.mean:.2f})")
        return where


def charts(facts: Facts) -> Charts:
    """Return all figures of the study."""
    note = (
        f"Means of {facts.size:,} simulations; 95% intervals. "
        "Panels: the arm that a patient who does not comply takes."
    )
    unit = f"rewards per trial of {facts.n_patients} patients"
    surplus = facts.final.filter(n_runs=facts.size)
    return {
        "small-trials-gains": lambda: _gains_chart(facts, f"gain over Chosen ({unit})", note),
        "small-trials-final": lambda: every_policy_chart(surplus, TITLES, f"surplus ({unit})", note),
    }


def _gains_chart(facts: Facts, x_label: str, note: str) -> Figure:
    table = facts.in_size.filter(polars.col("strategy") != AVERAGE_BUT_BOUNDED).with_columns(
        row=polars.col("strategy").replace({AVERAGE: "average of the four"}),
        style=polars.col("learner").replace({AVERAGE: "average of the learners"}),
        panel=polars.col("population").replace_strict(TITLES),
    )
    return dots(
        table,
        x_label=x_label,
        same_axis=TITLES.values(),
        zero="Chosen of the same learner",
        note=note,
    )


def cells(facts: Facts) -> Cells:
    """Return tables of the gains over Chosen, and of the final figures of every policy."""
    pairs = facts.in_size.select("learner", "strategy").unique(maintain_order=True).rows()
    columns = [estimate_texts([facts.of(reading, *pair) for pair in pairs], sign="+") for reading in READINGS]
    rows = [(*pair, *its) for pair, its in zip(pairs, zip(*columns, strict=True), strict=True)]
    gains = ("learner", "strategy", *TITLES.values()), rows
    return {"gains": gains, **every_policy_cells(facts.final.filter(n_runs=facts.size), TITLES, "minus Chosen")}


STUDY = Study(
    "small-trials",
    "Small trials (Figure 3)",
    EXPERIMENTS,
    make_tables,
    section_of(__name__, Facts, charts, cells, names=vars(lineup)),
)
