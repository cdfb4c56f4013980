"""Charts and listings of the line-up that several studies show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars

from adhere.report.dots import dots
from adhere.report.lines import lines
from adhere.report.numbers import estimate_texts
from adhere.report.section import Listing
from adhere.studies.lineup.entries import ALL, LEARNERS, STRATEGIES, Entry
from adhere.studies.lineup.tables import estimate_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REALISED = "realised: rewards minus the mean, over arms, of the same patients' rewards"


def along_chart(along: polars.DataFrame, population: str, y_label: str, note: str) -> Figure:
    """The surplus along the trial on one population: a panel for each learner."""
    return lines(along.filter(population=population), panels="learner", series="label", y_label=y_label, note=note)


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


def every_policy_listings(
    final: polars.DataFrame, titles: Mapping[str, str], difference: str, reference: str
) -> list[Listing]:
    """The final figures of every policy, a table for each population; `difference` heads those from `reference`."""
    kinds = {"surplus": "surplus", "realised": "realised_surplus", difference: "difference", "regret": "regret"}
    found = []
    for population, title in titles.items():
        where = {"population": population}
        columns = [
            estimate_texts([estimate_in(final, policy=one.policy, measure=measure, **where) for one in ALL])
            for measure in kinds.values()
        ]
        caption = (
            f"Every policy after the last patient, {title}: 95% intervals, {final['n_runs'][0]:,} runs ({_REALISED}; "
            f"{difference}: surplus minus that of {reference}, on the same patients)."
        )
        found.append(policy_listing(caption, list(kinds), columns))
    return [*found, policy_texts()]


def policy_listing(caption: str, header: Sequence[str], columns: Sequence[Sequence[str]]) -> Listing:
    """A line for each policy, with columns of a cell for each."""
    cells = zip(*columns, strict=True)
    rows = [(one.learner, one.label, *its) for one, its in zip(ALL, cells, strict=True)]
    return Listing(caption, ("learner", "strategy", *header), rows, folded=True)


def policy_texts() -> Listing:
    """The policies as a user would write them."""
    caption = "Every policy as “adhere simulate --policy” takes it."
    rows = [(one.learner, one.label, one.policy) for one in ALL]
    return Listing(caption, ("learner", "strategy", "policy"), rows, folded=True)
