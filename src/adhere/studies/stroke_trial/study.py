"""Reproduce Figure 1 and the text's numbers: surplus lives in the International Stroke Trial, aspirin and heparin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars

from adhere.errors import joined
from adhere.intervals import Z95
from adhere.populations.stroke import SOURCE
from adhere.report.dots import Reference, dots
from adhere.report.headline_chart import HeadlineRow, headline_dots
from adhere.report.numbers import Interval, estimate_texts
from adhere.report.section import AGREES, DIFFERS, IN_PART
from adhere.simulation import Estimate, SimulationResult
from adhere.simulation.simulate import POOLED
from adhere.studies import lineup
from adhere.studies.framework.study import Experiment, Study, Tables
from adhere.studies.framework.words import Cells, Charts, ends, estimate_text, section_of
from adhere.studies.lineup import (
    ALL,
    BOUNDED,
    CHOSEN,
    EXP3,
    GREEDY,
    HEADLINES,
    HIERARCHICAL,
    LEARNERS,
    LITERAL,
    PLAIN,
    RECYCLING,
    SHOWN_ALONG,
    STRATEGIES,
    THOMPSON,
    Entry,
    along_chart,
    along_table,
    entry,
    estimate_in,
    final_surplus,
    final_table,
    is_above,
    policy_cells,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASPIRIN, HEPARIN = TRIALS = ("stroke-aspirin", "stroke-heparin")
TITLES = {ASPIRIN: "aspirin", HEPARIN: "heparin", POOLED: "mean of both"}
# Every policy at the paper's size, and the headline policies in ten times as many runs.
_ALL = Experiment([one.policy for one in ALL], TRIALS, 10_000, 2000, entry(THOMPSON, CHOSEN).policy, pooled=True)
EXPERIMENTS = {
    "all": _ALL,
    "again": replace(_ALL, policies=[one.policy for one in HEADLINES], n_runs=20_000, grid=1),
}
_READINGS = (LITERAL, PLAIN, RECYCLING)  # starting with the literal reading of the paper
_PAPER = "the paper's figure (dashed) and its 95% interval"


class Published(Interval):
    """A mean and its 95% interval, as printed in the paper."""

    @property
    def se(self) -> float:
        """The standard error implied by the interval's width."""
        return (self.high - self.low) / (2 * Z95)

    def agrees_with(self, ours: Estimate) -> bool:
        """Return whether the two means agree at the 5% level.

        >>> Published(7.9, 7.2, 8.7).agrees_with(Estimate(7.2, 0.2, 6.8, 7.6))
        True
        """
        return abs(self.mean - ours.mean) <= Z95 * math.hypot(self.se, ours.se or 0.0)

    def holds(self, ours: Estimate) -> bool:
        """Return whether our mean lies inside the printed interval."""
        return self.low <= ours.mean <= self.high

    def verdict(self, ours: Estimate) -> str:
        """Return the verdict on whether our mean agrees with the printed mean."""
        return AGREES if self.agrees_with(ours) else DIFFERS

    def verdict_and_place(self, ours: Estimate) -> str:
        """Return the verdict, and whether our figure lies inside the printed interval, as text."""
        return f"{self.verdict(ours)}; {'inside' if self.holds(ours) else 'outside'} the paper's interval"

    def __str__(self) -> str:
        return f"{self.mean} [{self.low:.1f}, {self.high:.1f}]"


_NAMES = ("Thompson sampling under Chosen", "ThompsonBounded", "HierarchicalBandit on ε-greedy")
NAMES = dict(zip(HEADLINES, _NAMES, strict=True))
# From section 5, "Stroke trial": surplus lives pooled over both trials, 2000 runs of 10,000 patients.
_FIGURES = (Published(7.9, 7.2, 8.7), Published(8.9, 8.1, 9.7), Published(9.2, 8.3, 10.0))
HEADLINE_FIGURES = dict(zip(HEADLINES, _FIGURES, strict=True))


def make_tables(results: Mapping[str, SimulationResult]) -> Tables:
    """Return final figures of all policies, headline figures with few and many runs, and surplus along the trial."""
    final = final_table(results["all"], ALL)
    first = final.filter(polars.col("policy").is_in([one.policy for one in HEADLINES]))
    return {
        "final": final,
        "headline": polars.concat([first, final_table(results["again"], HEADLINES)]),
        "along": along_table(results["all"], SHOWN_ALONG),
    }


class Facts:
    """The final figures of all policies in `few` runs, and of the headline policies also in `many` runs."""

    def __init__(self, tables: Tables) -> None:
        self.final, self.headline, self.along = tables["final"], tables["headline"], tables["along"]
        self.n_patients, self.few = (int(self.final[name][0]) for name in ("n_patients", "n_runs"))
        self.many = max(self.headline["n_runs"].to_list())

    def surplus(self, one: Entry, population: str = POOLED, measure: str = "surplus", n_runs: int = 0) -> Estimate:
        """Return a policy's surplus on a trial, or pooled. `n_runs` selects a headline policy's figure by its
        runs.
        """
        where = {"policy": one.policy, "population": population, "measure": measure}
        return estimate_in(self.headline, n_runs=n_runs, **where) if n_runs else estimate_in(self.final, **where)

    def agreeing(self, n_runs: int, measure: str = "surplus") -> list[str]:
        """Return the paper's policies with figures that agree with the paper."""
        figures = HEADLINE_FIGURES.items()
        return [
            NAMES[one]
            for one, paper in figures
            if paper.agrees_with(self.surplus(one, measure=measure, n_runs=n_runs))
        ]

    def realised_disagreeing(self) -> list[str]:
        """Return the policies whose realised surplus disagrees with the paper, with the numbers of runs."""
        sizes: dict[str, list[str]] = {}
        for n in (self.few, self.many):
            agreeing = self.agreeing(n, "realised_surplus")
            for name in NAMES.values():
                if name not in agreeing:
                    sizes.setdefault(name, []).append(f"{n:,}")
        return [f"{name} ({joined(its)} runs)" for name, its in sizes.items()]

    def readings(self) -> dict[str, Estimate]:
        """Return the surplus of ThompsonBounded with ε-greedy in two other interpretations of the paper."""
        words = {LITERAL: "as written", PLAIN: "with all experts learning from every round"}
        return {said: self.surplus(entry(GREEDY, BOUNDED, variant)) for variant, said in words.items()}

    def hybrid_gains(self) -> list[Estimate]:
        """Return the gains of hybrids over Thompson sampling on the same patients, in the order of the claim."""
        hybrids = (HEADLINES[2], HEADLINES[1], entry(GREEDY, BOUNDED), entry(GREEDY, BOUNDED, LITERAL))
        return [self.surplus(one, measure="difference") for one in hybrids]

    def hybrids_save_more(self) -> bool:
        """Return whether both hybrids of the paper's text save significantly more than Thompson sampling."""
        gains = [self.surplus(one, measure="difference", n_runs=self.few) for one in HEADLINES[1:]]
        return all(ends(one)[0] > 0 for one in gains)

    def best_without_compliance(self) -> tuple[list[Entry], Entry, Estimate]:
        """Return the learners under Chosen, best first; Thompson's best rival; and the rival's lead over Thompson."""
        ranked = sorted((entry(learner, CHOSEN) for learner in LEARNERS), key=lambda one: -self.surplus(one).mean)
        rival = next(one for one in ranked if one.learner != THOMPSON)
        return ranked, rival, self.surplus(rival, measure="difference")

    def beats_rivals(self, strategy: str) -> tuple[dict[str, int], str]:
        """Return how many of Chosen and both hybrids a strategy (Actual or Comply) beats, by learner, and the
        verdict.
        """
        won = {}
        for learner in LEARNERS:
            own = self.surplus(entry(learner, strategy))
            rivals = [entry(learner, CHOSEN), entry(learner, HIERARCHICAL), entry(learner, BOUNDED, RECYCLING)]
            won[learner] = sum(is_above(own, self.surplus(rival)) for rival in rivals)
        judged = won[THOMPSON], won[GREEDY]
        return won, AGREES if judged == (3, 3) else IN_PART if any(judged) else DIFFERS

    def gains_by_trial(self) -> tuple[list[str], str]:
        """Return the gains of the hybrids on aspirin and heparin, and the verdict: they should be larger on
        aspirin.
        """
        hybrids = HEADLINES[1:]
        pairs = [[self.surplus(one, trial, "difference", self.many) for trial in TRIALS] for one in hybrids]
        texts = iter(estimate_texts([gain for pair in pairs for gain in pair], sign="+"))
        said = [f"{NAMES[one]} {next(texts)} on aspirin, {next(texts)} on heparin" for one in hybrids]
        larger = [aspirin.mean > heparin.mean for aspirin, heparin in pairs]
        return said, AGREES if all(is_above(*pair) for pair in pairs) else IN_PART if any(larger) else DIFFERS


def charts(facts: Facts) -> Charts:
    """Return all figures of the study, and the figure for the top of the report."""
    note = f"Means of {facts.few:,} runs of {facts.n_patients:,} patients; 95% intervals."
    rows = [
        HeadlineRow(NAMES[one], facts.surplus(one, n_runs=facts.few), (published.low, published.high))
        for one, published in HEADLINE_FIGURES.items()
    ]
    along = {
        f"stroke-along-{title.replace(' ', '-')}": partial(
            along_chart, facts.along, population, "surplus lives", note
        )
        for population, title in TITLES.items()
    }
    return along | {
        "stroke-headline": lambda: _headline_chart(facts),
        "stroke-final": lambda: _by_trial(final_surplus(facts.final, SHOWN_ALONG, TITLES), facts, note),
        "stroke-variants": lambda: _variants_chart(facts, note),
        "headline-stroke": lambda: headline_dots(
            "The stroke trial", rows, f"lives saved among {facts.n_patients:,} patients", "the paper's interval"
        ),
    }


def _headline_chart(facts: Facts) -> Figure:
    few, many = facts.few, facts.many
    groups = {
        NAMES[HEADLINES[0]]: [HEADLINES[0]],
        NAMES[HEADLINES[1]]: sorted(
            (one for one in ALL if (one.learner, one.strategy) == (GREEDY, BOUNDED)),
            key=lambda one: (-(one.gamma or 0.0), _READINGS.index(one.variant)),
        ),
        NAMES[HEADLINES[2]]: [one for one in ALL if (one.learner, one.strategy) == (GREEDY, HIERARCHICAL)],
    }
    rows = []
    for group, entries in groups.items():
        for one in entries:
            row = {"group": group, "row": _reading(one), "panel": ""}
            rows.append({**row, "style": f"{few:,} runs", **vars(facts.surplus(one))})
            if one in HEADLINES:
                rows.append({**row, "style": f"{many:,} runs", **vars(facts.surplus(one, n_runs=many))})
    bands = [
        Reference(_PAPER, "", published.low, published.high, published.mean, group=NAMES[one])
        for one, published in HEADLINE_FIGURES.items()
    ]
    return dots(
        polars.DataFrame(rows),
        x_label=f"{_lives(facts)}, mean of both trials",
        references=bands,
        note="* stands for the paper's line; ThompsonBounded's was chosen after seeing results.",
    )


def _reading(one: Entry) -> str:
    """Return what distinguishes a policy from the others in its group."""
    plain = "all experts learn" if one.strategy == BOUNDED else "no recycling"
    reading = {"": plain, "literal": "as written (literal)"}.get(one.variant, one.variant)
    if one.gamma is None:
        return "no variants *"
    return f"{reading}, γ = {one.gamma}{' *' if one in HEADLINES else ''}"


def _variants_chart(facts: Facts, note: str) -> Figure:
    entries = [one for one in ALL if one.learner == EXP3 or one.strategy in (HIERARCHICAL, BOUNDED)]
    entries.sort(key=lambda one: (LEARNERS.index(one.learner), STRATEGIES.index(one.strategy), one.variant))
    labels = {one.policy: _short(one) for one in entries}
    table = final_surplus(facts.final, entries, TITLES).with_columns(
        row=polars.col("policy").replace_strict(labels), style=polars.format("γ = {}", "gamma")
    )
    return _by_trial(table, facts, note)


def _lives(facts: Facts) -> str:
    return f"surplus lives among {facts.n_patients:,} patients"


def _by_trial(table: polars.DataFrame, facts: Facts, note: str) -> Figure:
    """Draw a panel per trial and one for both, with one scale, because all have the same unit."""
    return dots(table, x_label=_lives(facts), same_axis=TITLES.values(), note=note)


def _short(one: Entry) -> str:
    """Return a label that fits beside three panels."""
    strategy = {HIERARCHICAL: "Hierarchical", BOUNDED: "Bounded"}.get(one.strategy, one.strategy)
    variant = one.variant or ("all learn" if one.strategy == BOUNDED else "")
    return ", ".join(filter(None, [strategy, variant]))


def cells(facts: Facts) -> Cells:
    """Return tables of the headline figures, the surplus of every policy, and the text of every policy."""
    headline = [
        (NAMES[one], str(published), kind, f"{n:,}", estimate_text(ours, 2), published.verdict_and_place(ours))
        for one, published in HEADLINE_FIGURES.items()
        for kind, measure in (("expected", "surplus"), ("realised", "realised_surplus"))
        for n in (facts.few, facts.many)
        for ours in [facts.surplus(one, measure=measure, n_runs=n)]
    ]
    shown = [(population, "surplus") for population in TITLES]
    shown += [(POOLED, "realised_surplus"), (POOLED, "difference")]
    columns = [estimate_texts([facts.surplus(one, *column) for one in ALL]) for column in shown]
    header = ("aspirin", "heparin", "pooled", "pooled, realised", "pooled, minus Thompson")
    return {
        "headline": (("line of the paper", "the paper", "surplus", "runs", "ours", "verdict"), headline),
        "every": policy_cells(header, columns),
        "texts": policy_cells(["policy"], [[one.policy for one in ALL]]),
    }


STUDY = Study(
    "stroke-trial",
    "The stroke trial (Figure 1)",
    EXPERIMENTS,
    make_tables,
    section_of(__name__, Facts, charts, cells, SOURCE, vars(lineup)),
)
