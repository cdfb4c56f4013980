"""The policies that the paper's simulation studies compare, with their tables and figures.

Four learners play under five strategies, and in variants of these. The paper's EXP3 parameter, γ = 0.085, is ten
times the value from its own bound for 10,000 patients, probably because of a misplaced decimal point. EXP3, the
hierarchies on EXP3 and ε-greedy, and ThompsonBounded on ε-greedy are therefore also shown with γ = 0.0085.
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
    """A policy and its place in the line-up. γ applies to every EXP3 in the policy, and is null without EXP3."""

    learner: str
    strategy: str
    variant: str
    gamma: float | None
    label: str  # its name in a chart, under the heading of its learner
    policy: str


def entry(learner: str, strategy: str, variant: str = PLAIN, gamma: float = PAPERS_GAMMA) -> Entry:
    """Return the entry of a learner under a strategy.

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
    """Return a learner's policies that are not among the main ones, in the order of a chart."""
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

# The policies for the lines in the paper's text. The recycling ThompsonBounded was chosen after seeing results.
HEADLINES = (
    entry(THOMPSON, CHOSEN),
    entry(GREEDY, BOUNDED, RECYCLING),
    entry(GREEDY, HIERARCHICAL),
)
# The main policies, and the variant of ThompsonBounded chosen for the paper's line.
SHOWN_ALONG = tuple(sorted((*MAIN, HEADLINES[1]), key=lambda one: LEARNERS.index(one.learner)))


class HasPolicy(Protocol):
    """A named tuple with fields that identify a policy in tables, such as an `Entry`."""

    @property
    def policy(self) -> str:
        """The text of the policy."""

    def _asdict(self) -> dict[str, Any]:
        """Return the fields by name."""


MEASURES = ("surplus", "realised_surplus", "regret")


def final_table(
    result: SimulationResult, entries: Sequence[HasPolicy], measures: Sequence[str] = MEASURES
) -> polars.DataFrame:
    """Return one row per population, policy and measure. `difference` is from the surplus of the reference policy."""
    rows = []
    for outcome, who in _played(result, entries):
        rows += [{**who, "measure": name, **vars(getattr(outcome, name))} for name in measures]
        rows.append({**who, "measure": "difference", **vars(outcome.difference())})
    return polars.DataFrame(rows, infer_schema_length=None)


def along_table(result: SimulationResult, entries: Sequence[HasPolicy]) -> polars.DataFrame:
    """Return the surplus of some policies after t patients. Before the first patient it is 0."""
    rows = [{**who, **row} for outcome, who in _played(result, entries) for row in trajectory_rows(outcome)]
    return polars.DataFrame(rows, infer_schema_length=None)


def _played(result: SimulationResult, entries: Sequence[HasPolicy]) -> Iterator[tuple[Outcome, dict[str, Any]]]:
    """Yield the outcomes of some policies with the columns that identify them in tables."""
    by_policy = {str(as_policy(entry.policy)): entry for entry in entries}
    sizes = {name: getattr(result.config, name) for name in ("n_patients", "n_runs", "seed")}
    for outcome in result.outcomes:
        if (entry := by_policy.get(outcome.policy)) is not None:
            yield outcome, {"population": outcome.population, **entry._asdict(), **sizes}


def estimate_in(table: polars.DataFrame, **where: Any) -> Estimate:
    """Return the one estimate in a table for the given values of its columns."""
    rows = table.filter(**where)
    assert rows.height == 1, f"{rows.height} rows for {where}"
    return Estimate(*rows.select("mean", "se", "low", "high").row(0))


def is_above(one: Estimate, other: Estimate) -> bool:
    """Return whether one estimate is above another at the 5% level, as if they were independent.

    Policies that share their patients, and mostly their choices, are correlated. A paired difference is more precise,
    if there is one.

    >>> is_above(Estimate(3.0, 1.0, 1.04, 4.96), Estimate(0.0, 1.0, -1.96, 1.96))
    True
    """
    return one.mean - other.mean > Z95 * math.hypot(one.se or 0.0, other.se or 0.0)


def along_chart(along: polars.DataFrame, population: str, y_label: str, note: str) -> Figure:
    """Draw the surplus along the trial on one population, in a panel per learner."""
    return surplus_lines(along.filter(population=population).with_columns(panel="learner"), y_label, note)


def surplus_lines(along: polars.DataFrame, y_label: str, note: str) -> Figure:
    """Draw the surplus after t patients by `label`, in the panels of the table."""
    table = along.with_columns(series="label", x="t")
    zero = Level(0.0, "uniform randomisation (zero)")
    return lines(table, x_label="patients", y_label=y_label, level=zero, note=note)


def growth_chart(
    table: polars.DataFrame, guides: Sequence[Guide], *, n_columns: int = 2, log_y: bool = True
) -> Figure:
    """Draw mean regret by `name` against `n_patients` on a logarithmic axis, in a panel per `population`."""
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
    """Return the final surplus of some policies, in their order, as a table for `dots`."""
    order = {one.policy: place for place, one in enumerate(entries)}
    return (
        final.filter(polars.col("measure") == "surplus", polars.col("policy").is_in(list(order)))
        .with_columns(row="label", group="learner", style="strategy")
        .with_columns(panel=polars.col("population").replace_strict(titles))
        .sort(polars.col("policy").replace_strict(order), maintain_order=True)
    )


def every_policy_chart(final: polars.DataFrame, titles: Mapping[str, str], x_label: str, note: str) -> Figure:
    """Draw the final surplus of every policy, grouped by strategy, in a panel per population."""
    order = sorted(ALL, key=lambda one: (LEARNERS.index(one.learner), STRATEGIES.index(one.strategy)))
    without_breaks = polars.col("row").str.replace(" = ", "=", literal=True)  # no line breaks here
    return dots(final_surplus(final, order, titles).with_columns(without_breaks), x_label=x_label, note=note)


def every_policy_cells(final: polars.DataFrame, populations: Iterable[str], difference: str) -> dict[str, Table]:
    """Return the final figures of every policy in a table per population. `difference` heads the differences."""
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
    """Return a row per policy with the given columns."""
    rows = [(one.learner, one.label, *its) for one, its in zip(ALL, zip(*columns, strict=True), strict=True)]
    return ("learner", "strategy", *header), rows
