"""The figures and listings of trials of twelve patients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars

from adhere.report.dot_rows import common_limits
from adhere.report.dots import dots
from adhere.report.numbers import estimate_texts
from adhere.report.section import Listing, ReportFigure
from adhere.studies.lineup.entries import PAPERS_GAMMA
from adhere.studies.lineup.figures import every_policy_chart, every_policy_listings
from adhere.studies.small_trials.experiments import READINGS
from adhere.studies.small_trials.tables import AVERAGE, AVERAGE_BUT_BOUNDED, Facts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {reading: title.removeprefix("the ") for reading, title in READINGS.items()}
_PANELS = "Panels: the arm that a patient who does not comply takes."


def make_figures(facts: Facts) -> list[ReportFigure]:
    """All figures of the study."""
    size, n = facts.size, facts.n_patients
    note = f"Means of {size:,} simulations; 95% intervals. {_PANELS}"
    unit = f"rewards per trial of {n} patients"
    surplus = facts.final.filter(n_runs=size)
    return [
        ReportFigure(
            "small-trials-gains",
            f"Gain in surplus over Chosen of the same learner, on the same patients. γ = {PAPERS_GAMMA}, "
            "no recycling, ThompsonBounded with all experts learning.",
            "Dots with intervals: gain over Chosen by strategy and learner, a panel for each reading of what "
            "non-compliers take.",
            lambda: _gains_chart(facts, f"gain over Chosen ({unit})", note),
        ),
        ReportFigure(
            "small-trials-final",
            "Surplus of every policy under the three readings, each with its own axis. "
            f"γ = {PAPERS_GAMMA} where none is given.",
            "Dots with intervals: surplus by learner and strategy, a panel for each reading of what non-compliers "
            "take.",
            lambda: every_policy_chart(surplus, _TITLES, f"surplus ({unit})", note),
        ),
    ]


def _gains_chart(facts: Facts, x_label: str, note: str) -> Figure:
    table = facts.in_size.filter(polars.col("strategy") != AVERAGE_BUT_BOUNDED).with_columns(
        row=polars.col("strategy").replace({AVERAGE: "average of the four"}),
        style=polars.col("learner").replace({AVERAGE: "average of the learners"}),
        panel=polars.col("population").replace_strict(_TITLES),
    )
    return dots(
        table,
        x_label=x_label,
        limits=dict.fromkeys(_TITLES.values(), common_limits(table)),
        zero="Chosen of the same learner",
        note=note,
    )


def make_listings(facts: Facts) -> list[Listing]:
    """The gains over Chosen, and the final figures of every policy."""
    everyone = facts.final.filter(n_runs=facts.size)
    reference = f"Chosen of the same learner (γ = {PAPERS_GAMMA})"
    return [_gains_listing(facts), *every_policy_listings(everyone, _TITLES, "minus Chosen", reference)]


def _gains_listing(facts: Facts) -> Listing:
    pairs = facts.in_size.select("learner", "strategy").unique(maintain_order=True).rows()
    columns = [estimate_texts([facts.of(reading, *pair) for pair in pairs], sign="+") for reading in READINGS]
    rows = [(*pair, *cells) for pair, cells in zip(pairs, zip(*columns, strict=True), strict=True)]
    caption = (
        f"Gain in surplus over Chosen of the same learner, rewards per trial of {facts.n_patients} patients, by what "
        f"non-compliers take; 95% intervals, {facts.size:,} simulations."
    )
    return Listing(caption, ("learner", "strategy", *_TITLES.values()), rows, folded=True)
