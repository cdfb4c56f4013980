"""The figures and tables of rich and poor patients and of defiers; and of every policy, for other studies too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.section import Drawing, Listing
from adhere.studies.lineup import PAPERS_GAMMA
from adhere.studies.outcome_exhibits import along_chart, every_policy_chart, every_policy_listing
from adhere.studies.synthetic_claims import DEFIERS, RICH_AND_POOR

if TYPE_CHECKING:
    import polars

    from adhere.studies.study import Tables

_TITLES = {RICH_AND_POOR: "rich and poor", DEFIERS: "defiers"}
_WHERE = {
    RICH_AND_POOR: "the paper's Figure 2",
    DEFIERS: "Example 1; UCB1's Actual is a mean of runs that win all and runs that lose all",
}


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
                lambda population=population: along_chart(along, population, "surplus (rewards)", note),  # type: ignore[misc]
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
