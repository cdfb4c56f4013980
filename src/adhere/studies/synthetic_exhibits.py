"""The figures and tables of rich and poor patients and of defiers; and of every policy, for other studies too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adhere.report.dots import dots
from adhere.report.lines import lines
from adhere.report.numbers import estimate_texts
from adhere.report.section import Drawing, Listing
from adhere.studies.lineup import ALL, LEARNERS, PAPERS_GAMMA, STRATEGIES
from adhere.studies.outcome_tables import estimate_in
from adhere.studies.synthetic_claims import DEFIERS, RICH_AND_POOR

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from adhere.studies.study import Tables

_TITLES = {RICH_AND_POOR: "rich and poor", DEFIERS: "defiers"}
_WHERE = {
    RICH_AND_POOR: "the paper's Figure 2",
    DEFIERS: "Example 1; UCB1's Actual is a mean of runs that win all and runs that lose all",
}
_REALISED = "realised: rewards minus the mean, over arms, of the same patients' rewards"


def drawings(tables: Tables) -> list[Drawing]:
    """All figures of the study."""
    final, along = tables["final"], tables["along"]
    n_runs, n_patients = final["n_runs"][0], final["n_patients"][0]
    note = f"Means of {n_runs:,} runs of {n_patients:,} patients; 95% intervals."
    return [
        *(
            Drawing(
                f"synthetic-{population}",
                f"Surplus after t patients, {title} ({_WHERE[population]}). γ = {PAPERS_GAMMA}, ThompsonBounded with "
                "all experts learning.",
                f"Lines with bands: surplus along the trial on {title}; a panel for each learner, a line for each of "
                "the five strategies.",
                lambda population=population: _along_chart(along, population, note),  # type: ignore[misc]
            )
            for population, title in _TITLES.items()
        ),
        Drawing(
            "synthetic-final",
            "Surplus of every policy after the last patient. Each population has its own axis. "
            f"γ = {PAPERS_GAMMA} where none is given.",
            "Dots with intervals: final surplus by learner and strategy, on rich and poor and on defiers.",
            lambda: every_policy_chart(final, _TITLES, f"surplus (rewards) after {n_patients:,} patients", note),
        ),
    ]


def listings(final: polars.DataFrame) -> list[Listing]:
    """The final figures of every policy."""
    return [every_policy_listing(final, _TITLES, "minus Thompson", "Thompson sampling under Chosen")]


def _along_chart(along: polars.DataFrame, population: str, note: str) -> Figure:
    return lines(
        along.filter(population=population),
        panels="learner",
        series="strategy",
        y_label="surplus (rewards)",
        note=note,
    )


def every_policy_chart(final: polars.DataFrame, titles: Mapping[str, str], x_label: str, note: str) -> Figure:
    """The final surplus of every policy, those of one strategy together; a panel for each population."""
    import polars

    order = sorted(ALL, key=lambda one: (LEARNERS.index(one.learner), STRATEGIES.index(one.strategy)))
    places = {one.policy: place for place, one in enumerate(order)}
    table = (
        final.filter(measure="surplus")
        .sort(polars.col("policy").replace_strict(places), maintain_order=True)
        .with_columns(
            panel=polars.col("population").replace_strict(titles),
            label=polars.col("label").str.replace(" = ", "=", literal=True),  # so that no line breaks there
        )
    )
    return dots(table, rows="label", groups="learner", columns="panel", styles="strategy", x_label=x_label, note=note)


def every_policy_listing(
    final: polars.DataFrame, titles: Mapping[str, str], difference: str, reference: str
) -> Listing:
    """The final figures of every policy on each population; `difference` heads those from the `reference`."""
    kinds = {"surplus": "surplus", "realised": "realised_surplus", difference: "difference", "regret": "regret"}
    header = [f"{title}: {kind}" for title in titles.values() for kind in kinds]
    columns = [
        estimate_texts([estimate_in(final, population=population, policy=one.policy, measure=measure) for one in ALL])
        for population in titles
        for measure in kinds.values()
    ]
    rows = [
        (one.learner, one.label, *cells, one.policy)
        for one, cells in zip(ALL, zip(*columns, strict=True), strict=True)
    ]
    caption = (
        f"Every policy after the last patient, with 95% intervals, {final['n_runs'][0]:,} runs ({_REALISED}; "
        f"{difference}: surplus minus that of {reference}, on the same patients)."
    )
    return Listing(caption, ("learner", "strategy", *header, "policy"), rows, folded=True)
