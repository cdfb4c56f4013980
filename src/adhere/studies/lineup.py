"""The line-up that the paper's simulation studies compare, and the tables and figures of it.

Four learners play under five strategies, and in the variants of each. The paper's EXP3 parameter, γ = 0.085, is ten
times what its own bound gives for 10,000 patients, likely a slip of a digit; so EXP3, the hierarchies on EXP3 and
ε-greedy and ThompsonBounded on ε-greedy stand beside themselves with γ = 0.0085.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import polars

from adhere.intervals import Z95
from adhere.policies import as_policy
from adhere.report.dots import dots
from adhere.report.lines import Guide, Level, lines
from adhere.report.numbers import estimate_texts
from adhere.simulation import Estimate, Outcome, SimulationResult
from adhere.simulation.results.surplus_plot import trajectory_rows
from adhere.studies.framework.words import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PAPERS_GAMMA, BOUNDS_GAMMA = 0.085, 0.0085
CHOSEN, ACTUAL, COMPLY = "Chosen", "Actual", "Comply"
HIERARCHICAL, BOUNDED = "HierarchicalBandit", "ThompsonBounded"
STRATEGIES = (CHOSEN, ACTUAL, COMPLY, HIERARCHICAL, BOUNDED)
EXP3, GREEDY, UCB1, THOMPSON = "EXP3", "ε-greedy", "UCB1", "Thompson"
LEARNERS = (EXP3, GREEDY, UCB1, THOMPSON)
_TEXTS = {GREEDY: "epsilon-greedy", UCB1: "ucb1", THOMPSON: "thompson"}

PLAIN, RECYCLING, LITERAL = "", "recycling", "literal"


class Entry(NamedTuple):
    """A policy, and where it stands among the others. γ is that of every EXP3 in it, null if there is none."""

    learner: str
    strategy: str
    variant: str
    gamma: float | None
    label: str  # what a chart calls it under the heading of its learner
    policy: str


def entry(learner: str, strategy: str, variant: str = PLAIN, gamma: float = PAPERS_GAMMA) -> Entry:
    """The policy of a learner under a strategy.

    >>> entry("Thompson", "Actual").policy
    'thompson/actual'
    >>> entry("ε-greedy", "ThompsonBounded", "recycling").policy
    'thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)'
    """
    base = _TEXTS.get(learner, f"exp3(gamma={gamma})")
    extra = {PLAIN: "", RECYCLING: ", recycle=true", LITERAL: ", literal=true"}[variant]
    top = f"top=exp3(gamma={gamma})"
    if strategy == HIERARCHICAL:
        text = f"hierarchical({base}, {top}{extra})"
    elif strategy == BOUNDED:
        text = f"thompson-bounded(hierarchical({base}, {top}){extra})"
    else:
        text = base if strategy == CHOSEN else f"{base}/{strategy.lower()}"
    is_simple = learner != EXP3 and strategy in (CHOSEN, ACTUAL, COMPLY)
    its_gamma = None if is_simple else gamma
    label = ", ".join(filter(None, [strategy, variant, f"γ = {gamma}" if its_gamma == BOUNDS_GAMMA else ""]))
    return Entry(learner, strategy, variant, its_gamma, label, text)


MAIN = tuple(entry(learner, strategy) for learner in LEARNERS for strategy in STRATEGIES)


def _variants(learner: str) -> list[Entry]:
    """What else there is of a learner, in the order of a chart."""
    found = [entry(learner, HIERARCHICAL, RECYCLING)]
    found += [entry(learner, BOUNDED, variant) for variant in (LITERAL, RECYCLING)]
    if learner == EXP3:
        found += [entry(learner, strategy, gamma=BOUNDS_GAMMA) for strategy in (CHOSEN, ACTUAL, COMPLY)]
    if learner in (EXP3, GREEDY):
        found += [entry(learner, HIERARCHICAL, variant, BOUNDS_GAMMA) for variant in (PLAIN, RECYCLING)]
    if learner == GREEDY:
        found += [entry(learner, BOUNDED, variant, BOUNDS_GAMMA) for variant in (PLAIN, LITERAL, RECYCLING)]
    return found


_VARIANTS = tuple(one for learner in LEARNERS for one in _variants(learner))
ALL = tuple(sorted(MAIN + _VARIANTS, key=lambda one: LEARNERS.index(one.learner)))

# What stands for each line of the paper's text. That ThompsonBounded recycles was chosen after seeing results.
HEADLINES = (
    entry(THOMPSON, CHOSEN),
    entry(GREEDY, BOUNDED, RECYCLING),
    entry(GREEDY, HIERARCHICAL),
)
# The main policies, and the reading of ThompsonBounded that stands for the paper's line.
SHOWN_ALONG = tuple(sorted((*MAIN, HEADLINES[1]), key=lambda one: LEARNERS.index(one.learner)))


class HasPolicy(Protocol):
    """A named tuple whose fields tell a policy from others in tables, such as an `Entry`."""

    @property
    def policy(self) -> str:
        """The text of the policy."""

    def _asdict(self) -> dict[str, Any]:
        """The fields by name."""


MEASURES = ("surplus", "realised_surplus", "regret")


def final_table(
    result: SimulationResult, entries: Sequence[HasPolicy], measures: Sequence[str] = MEASURES
) -> polars.DataFrame:
    """One row for each population, policy and measure; `difference` is surplus minus the reference policy's."""
    rows = []
    for outcome, who in _played(result, entries):
        rows += [{**who, "measure": name, **vars(getattr(outcome, name))} for name in measures]
        rows.append({**who, "measure": "difference", **vars(outcome.difference())})
    return polars.DataFrame(rows, infer_schema_length=None)


def along_table(result: SimulationResult, entries: Sequence[HasPolicy]) -> polars.DataFrame:
    """The surplus after t patients of some of the policies; before the first patient it is 0."""
    rows = [{**who, **row} for outcome, who in _played(result, entries) for row in trajectory_rows(outcome)]
    return polars.DataFrame(rows, infer_schema_length=None)


def _played(result: SimulationResult, entries: Sequence[HasPolicy]) -> Iterator[tuple[Outcome, dict[str, Any]]]:
    """The outcomes of some policies, and how tables name them."""
    by_policy = {str(as_policy(entry.policy)): entry for entry in entries}
    sizes = {name: getattr(result.config, name) for name in ("n_patients", "n_runs", "seed")}
    for outcome in result.outcomes:
        if (entry := by_policy.get(outcome.policy)) is not None:
            yield outcome, {"population": outcome.population, **entry._asdict(), **sizes}


def estimate_in(table: polars.DataFrame, **where: Any) -> Estimate:
    """The one estimate a table has under the given values of its columns."""
    rows = table.filter(**where)
    assert rows.height == 1, f"{rows.height} rows for {where}"
    return Estimate(*rows.select("mean", "se", "low", "high").row(0))


def is_above(one: Estimate, other: Estimate) -> bool:
    """Whether one estimate lies above another by more than chance, at the 5% level, as if they were independent.

    Policies that share their patients and mostly their choices are closer than that; a paired difference says it
    better where there is one.

    >>> is_above(Estimate(3.0, 1.0, 1.04, 4.96), Estimate(0.0, 1.0, -1.96, 1.96))
    True
    """
    return one.mean - other.mean > Z95 * math.hypot(one.se or 0.0, other.se or 0.0)


def along_chart(along: polars.DataFrame, population: str, y_label: str, note: str) -> Figure:
    """The surplus along the trial on one population: a panel for each learner."""
    return surplus_lines(along.filter(population=population).with_columns(panel="learner"), y_label, note)


def surplus_lines(along: polars.DataFrame, y_label: str, note: str) -> Figure:
    """The surplus after t patients by `label`, in the panels of the table."""
    table = along.with_columns(series="label", x="t")
    zero = Level(0.0, "uniform randomisation (zero)")
    return lines(table, x_label="patients", y_label=y_label, level=zero, note=note)


def growth_chart(
    table: polars.DataFrame, guides: Sequence[Guide], *, n_columns: int = 2, log_y: bool = True
) -> Figure:
    """Mean regret by `name` against `n_patients`, whose axis is logarithmic; a panel for each `population`."""
    return lines(
        table.with_columns(panel="population", series="name", x="n_patients"),
        x_label="patients in the trial, T",
        y_label="regret (rewards lost)",
        guides=guides,
        share_y=False,
        log_x=True,
        log_y=log_y,
        n_columns=n_columns,
    )


def final_surplus(final: polars.DataFrame, entries: Sequence[Entry], titles: Mapping[str, str]) -> polars.DataFrame:
    """The final surplus of some policies in their order, as a table for `dots`."""
    order = {one.policy: place for place, one in enumerate(entries)}
    return (
        final.filter(polars.col("measure") == "surplus", polars.col("policy").is_in(list(order)))
        .with_columns(row="label", group="learner", style="strategy")
        .with_columns(panel=polars.col("population").replace_strict(titles))
        .sort(polars.col("policy").replace_strict(order), maintain_order=True)
    )


def every_policy_chart(final: polars.DataFrame, titles: Mapping[str, str], x_label: str, note: str) -> Figure:
    """The final surplus of every policy, those of one strategy together; a panel for each population."""
    order = sorted(ALL, key=lambda one: (LEARNERS.index(one.learner), STRATEGIES.index(one.strategy)))
    without_breaks = polars.col("row").str.replace(" = ", "=", literal=True)  # so that no line ends there
    return dots(final_surplus(final, order, titles).with_columns(without_breaks), x_label=x_label, note=note)


def every_policy_cells(final: polars.DataFrame, populations: Iterable[str], difference: str) -> dict[str, Table]:
    """The final figures of every policy, a table for each population; `difference` heads those from the reference."""
    kinds = {"surplus": "surplus", "realised": "realised_surplus", difference: "difference", "regret": "regret"}
    found = {}
    for population in populations:
        where = {"population": population}
        columns = [
            estimate_texts([estimate_in(final, policy=one.policy, measure=measure, **where) for one in ALL])
            for measure in kinds.values()
        ]
        found[f"every-{population}"] = policy_cells(list(kinds), columns)
    return found | {"texts": policy_cells(["policy"], [[one.policy for one in ALL]])}


def policy_cells(header: Sequence[str], columns: Sequence[Sequence[str]]) -> Table:
    """A line for each policy, with columns of a cell for each."""
    rows = [(one.learner, one.label, *its) for one, its in zip(ALL, zip(*columns, strict=True), strict=True)]
    return ("learner", "strategy", *header), rows
