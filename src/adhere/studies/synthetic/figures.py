"""The figures and listings of rich and poor patients and of defiers."""

from __future__ import annotations

from adhere.report.headline_chart import HeadlineRow, headline_dots
from adhere.report.section import Listing, ReportFigure
from adhere.studies.lineup.entries import ACTUAL, BOUNDED, CHOSEN, HIERARCHICAL, PAPERS_GAMMA, THOMPSON, entry
from adhere.studies.lineup.figures import along_chart, every_policy_chart, every_policy_listings
from adhere.studies.synthetic.experiments import DEFIERS, RICH_AND_POOR
from adhere.studies.synthetic.tables import Facts

_TITLES = {RICH_AND_POOR: "rich and poor", DEFIERS: "defiers"}
_WHERE = {
    RICH_AND_POOR: "the paper's Figure 2",
    DEFIERS: "Example 1; UCB1's Actual is a mean of runs that win all and runs that lose all",
}


def make_figures(facts: Facts) -> list[ReportFigure]:
    """All figures of the study."""
    note = f"Means of {facts.n_runs:,} runs of {facts.n_patients:,} patients; 95% intervals."
    final_label = f"surplus (rewards) after {facts.n_patients:,} patients"
    return [
        *(
            ReportFigure(
                f"synthetic-{population}",
                f"Surplus after t patients, {title} ({_WHERE[population]}). γ = {PAPERS_GAMMA}, ThompsonBounded with "
                "all experts learning.",
                f"Lines with bands: surplus along the trial on {title}; a panel for each learner, a line for each of "
                "the five strategies.",
                lambda population=population: along_chart(facts.along, population, "surplus (rewards)", note),  # type: ignore[misc]
            )
            for population, title in _TITLES.items()
        ),
        ReportFigure(
            "synthetic-final",
            "Surplus of every policy after the last patient. Each population has its own axis. "
            f"γ = {PAPERS_GAMMA} where none is given.",
            "Dots with intervals: final surplus by learner and strategy, on rich and poor and on defiers.",
            lambda: every_policy_chart(facts.final, _TITLES, final_label, note),
        ),
    ]


def headline(facts: Facts) -> ReportFigure:
    """Where compliance misleads, for the top of the report."""
    shown = {
        f"{THOMPSON} under {CHOSEN}": entry(THOMPSON, CHOSEN),
        f"{BOUNDED} on {THOMPSON}": entry(THOMPSON, BOUNDED),
        f"{HIERARCHICAL} on {THOMPSON}": entry(THOMPSON, HIERARCHICAL),
        f"{THOMPSON} under {ACTUAL}": entry(THOMPSON, ACTUAL),
    }
    rows = [
        HeadlineRow(label, facts.of(RICH_AND_POOR, one), warn=one.strategy == ACTUAL) for label, one in shown.items()
    ]
    loses = all(one.estimate.mean < 0 for one in rows if one.warn)
    return ReportFigure(
        "headline-rich-and-poor",
        "Where takers differ from non-takers, learning from the arm taken "
        + ("is worse than not learning; the hybrids avoid that." if loses else "does not lose in this run."),
        "Dots with intervals: surplus on rich and poor of Thompson sampling under Chosen and under Actual, and of "
        "the hybrids.",
        lambda: headline_dots("Rich and poor", rows, f"surplus rewards after {facts.n_patients:,} patients"),
    )


def make_listings(facts: Facts) -> list[Listing]:
    """The final figures of every policy."""
    return every_policy_listings(facts.final, _TITLES, "minus Thompson", "Thompson sampling under Chosen")
