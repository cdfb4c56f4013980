"""Reproduce Figure 2 and Example 1: all policies on rich and poor patients, and on defiers."""

import math
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from adhere.errors import joined
from adhere.report.headline_chart import HeadlineRow, headline_dots
from adhere.report.numbers import estimate_texts
from adhere.report.section import verdict_on
from adhere.simulation import Estimate, SimulationResult
from adhere.studies import lineup
from adhere.studies.framework.study import Experiment, Study, Tables
from adhere.studies.framework.words import Cells, Charts, ends, percent, section_of, share
from adhere.studies.lineup import (
    ACTUAL,
    ALL,
    BOUNDED,
    CHOSEN,
    COMPLY,
    HIERARCHICAL,
    LEARNERS,
    MAIN,
    PAPERS_GAMMA,
    THOMPSON,
    Entry,
    along_chart,
    along_table,
    entry,
    estimate_in,
    every_policy_cells,
    every_policy_chart,
    final_table,
)

RICH_AND_POOR, DEFIERS = "rich-and-poor", "defiers"
TITLES = {RICH_AND_POOR: "rich and poor", DEFIERS: "defiers"}
RIVALS = (CHOSEN, HIERARCHICAL, BOUNDED)  # the strategies that Figure 2 shows above Actual and Comply
HALF = 0.5  # of the rivals' surplus: the paper gives no size
NEARLY_ALL, LITTLE = 0.9, 0.1  # of the largest possible loss, compared with always choosing the best arm
# Every policy on both populations, at the size of Figure 2.
EXPERIMENTS = {
    "all": Experiment(
        [one.policy for one in ALL],
        (RICH_AND_POOR, DEFIERS),
        n_patients=10_000,
        n_runs=1000,
        reference=entry(THOMPSON, CHOSEN).policy,
    )
}


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return the final figures of all policies, and the surplus of the main policies along the trial."""
    return {"final": final_table(results["all"], ALL), "along": along_table(results["all"], MAIN)}


class Facts:
    """The final figures, by population and policy."""

    def __init__(self, tables: Tables) -> None:
        final = self.final = tables["final"]
        self.along = tables["along"]
        self.n_policies = final["policy"].n_unique()
        self.n_patients, self.n_runs = (int(final[name][0]) for name in ("n_patients", "n_runs"))

    def of(self, population: str, one: Entry, measure: str = "surplus") -> Estimate:
        """Return a measure of a policy after the last patient."""
        return estimate_in(self.final, population=population, policy=one.policy, measure=measure)

    def best(self, population: str) -> float:
        """Return the surplus of always choosing the best arm. With two arms, the worst arm's surplus is its
        negative.
        """
        one = ALL[0]
        return self.of(population, one).mean + self.of(population, one, "regret").mean

    def share_lost(self, population: str, one: Entry) -> Estimate:
        """Return regret as a share of the largest possible loss."""
        regret, most = self.of(population, one, "regret"), 2 * self.best(population)
        return Estimate(*(None if value is None else value / most for value in vars(regret).values()))  # type: ignore[arg-type]

    def from_to(self, strategy: str, gamma: float = PAPERS_GAMMA) -> str:
        """Return the range of a strategy's final surplus on rich and poor, over learners or variants with this γ."""
        own = [one for one in ALL if one.strategy == strategy]
        its = [one for one in own if (one in MAIN if gamma == PAPERS_GAMMA else one.gamma == gamma)]
        means = [self.of(RICH_AND_POOR, one).mean for one in its]
        return f"{min(means):,.0f} to {max(means):,.0f}"

    def much_worse(self, strategy: str) -> tuple[list[str], list[str]]:
        """Return the learners with which a strategy is much worse than its rivals, and every comparison as text."""
        surplus = [self.of(RICH_AND_POOR, entry(learner, strategy)) for learner in LEARNERS]
        much, said = [], []
        for learner, one, text in zip(LEARNERS, surplus, estimate_texts(surplus), strict=True):
            rivals = [self.of(RICH_AND_POOR, entry(learner, rival)) for rival in RIVALS]
            lowest = min(rival.mean for rival in rivals)
            said.append(f"{learner} {text} against {lowest:,.0f} or more")
            if is_below(one, rivals) and one.mean < HALF * lowest and lowest > 0:
                much.append(learner)
        return much, said

    @staticmethod
    def verdict(learners: Collection[str]) -> str:
        """Return the verdict on a claim that is true for the given learners."""
        return verdict_on([learner in learners for learner in LEARNERS])

    def lost(self, strategy: str) -> dict[str, Estimate]:
        """Return the share lost on defiers, by learner."""
        return {learner: self.share_lost(DEFIERS, entry(learner, strategy)) for learner in LEARNERS}

    def lost_texts(self, strategy: str) -> str:
        """Return the share lost on defiers, by learner, as text."""
        return joined(f"{percent(one)} ({learner})" for learner, one in self.lost(strategy).items())

    def lost_range(self, strategy: str) -> str:
        """Return the smallest and the largest share lost on defiers, as text."""
        means = [one.mean for one in self.lost(strategy).values()]
        least, most = (share(value) for value in (min(means), max(means)))
        return least if least == most else f"{least} to {most}"

    def nearly_all_lost(self) -> list[str]:
        """Return the learners that lose nearly everything on defiers under Actual."""
        return [learner for learner, one in self.lost(ACTUAL).items() if ends(one)[0] > NEARLY_ALL]

    def little_lost(self) -> list[str]:
        """Return the learners that lose little on defiers under Chosen and ThompsonBounded."""
        lost = [self.lost(strategy) for strategy in (CHOSEN, BOUNDED)]
        return [learner for learner in LEARNERS if all(ends(its[learner])[1] < LITTLE for its in lost)]

    def below_chosen(self) -> list[str]:
        """Return the learners for which the hierarchy ends below the learner alone, on rich and poor."""
        pairs = {one: [self.of(RICH_AND_POOR, entry(one, its)) for its in (HIERARCHICAL, CHOSEN)] for one in LEARNERS}
        return [learner for learner, (mine, chosen) in pairs.items() if is_below(mine, [chosen])]

    def variants_out_of_order(self) -> list[str]:
        """Return the learners for which some variants, of any γ, violate Figure 2's order."""
        fails = []
        for learner in LEARNERS:
            mine = [one for one in ALL if one.learner == learner]
            rivals = [self.of(RICH_AND_POOR, one) for one in mine if one.strategy in RIVALS]
            others = [self.of(RICH_AND_POOR, one) for one in mine if one.strategy not in RIVALS]
            if not all(is_below(one, rivals) for one in others):
                fails.append(learner)
        return fails

    def widest_spreads(self) -> list[str]:
        """Return the spread of single runs under Comply, for the two learners with the largest spread, as text."""
        errors = {learner: self.of(RICH_AND_POOR, entry(learner, COMPLY)).se or 0.0 for learner in LEARNERS}
        widest = sorted(LEARNERS, key=lambda learner: -errors[learner])[:2]
        return [f"{errors[learner] * math.sqrt(self.n_runs):,.0f} with {learner}" for learner in widest]


def is_below(one: Estimate, others: Iterable[Estimate]) -> bool:
    """Return whether an interval ends before each of the other intervals begins."""
    return all(ends(one)[1] < ends(other)[0] for other in others)


def charts(facts: Facts) -> Charts:
    """Return all figures of the study, and the figure for the top of the report."""
    note = f"Means of {facts.n_runs:,} runs of {facts.n_patients:,} patients; 95% intervals."
    final_label = f"surplus (rewards) after {facts.n_patients:,} patients"
    along = {
        f"synthetic-{population}": partial(along_chart, facts.along, population, "surplus (rewards)", note)
        for population in TITLES
    }
    shown = {
        f"{THOMPSON} under {CHOSEN}": entry(THOMPSON, CHOSEN),
        f"{BOUNDED} on {THOMPSON}": entry(THOMPSON, BOUNDED),
        f"{HIERARCHICAL} on {THOMPSON}": entry(THOMPSON, HIERARCHICAL),
        f"{THOMPSON} under {ACTUAL}": entry(THOMPSON, ACTUAL),
    }
    rows = [
        HeadlineRow(label, facts.of(RICH_AND_POOR, one), warn=one.strategy == ACTUAL) for label, one in shown.items()
    ]
    return along | {
        "synthetic-final": lambda: every_policy_chart(facts.final, TITLES, final_label, note),
        "headline-rich-and-poor": lambda: headline_dots(
            "Rich and poor", rows, f"surplus rewards after {facts.n_patients:,} patients"
        ),
    }


def cells(facts: Facts) -> Cells:
    """Return tables of the final figures of every policy."""
    return every_policy_cells(facts.final, TITLES, "minus Thompson")


STUDY = Study(
    "synthetic",
    "Rich and poor (Figure 2) and defiers (Example 1)",
    EXPERIMENTS,
    make_tables,
    section_of(__name__, Facts, charts, cells, names=vars(lineup)),
)
