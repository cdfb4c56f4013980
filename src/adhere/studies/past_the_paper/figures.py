"""The figures and listings of the policies past the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars

from adhere.report.dot_rows import common_limits
from adhere.report.dots import dots
from adhere.report.lines import lines
from adhere.report.numbers import estimate_texts
from adhere.report.section import Listing, ReportFigure
from adhere.simulation import Estimate
from adhere.simulation.simulate import POOLED
from adhere.studies.framework.words import percent
from adhere.studies.past_the_paper.entries import ANY_HORIZON, SMALL, Entry
from adhere.studies.past_the_paper.experiments import OPTIMUM_READING
from adhere.studies.past_the_paper.tables import Facts
from adhere.studies.small_trials.experiments import READINGS
from adhere.studies.stroke_trial.experiments import ASPIRIN, HEPARIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TRIALS = {ASPIRIN: "aspirin", HEPARIN: "heparin", POOLED: "mean of both"}
_READINGS = {reading: title.removeprefix("the ") for reading, title in READINGS.items()}


def make_figures(facts: Facts) -> list[ReportFigure]:
    """All figures of the study."""
    stroke_note = f"Means of {facts.n_runs:,} runs of {facts.n_patients:,} patients; 95% intervals."
    small_note = f"Means of {facts.n_simulations:,} simulations; 95% intervals."
    unit = f"rewards per trial of {facts.n_small} patients"
    return [
        ReportFigure(
            "past-the-paper-stroke",
            "Figure 1 with other policies: surplus lives after the last patient, on both trials and on their mean.",
            "Dots with intervals: final surplus lives by policy, on both trials and pooled.",
            lambda: _final_chart(
                facts.stroke, _TRIALS, f"surplus lives among {facts.n_patients:,} patients", stroke_note, shared=True
            ),
        ),
        ReportFigure(
            "past-the-paper-fractions",
            f"Surplus in trials of {facts.n_small} patients as a fraction of the optimum, if non-compliers take "
            f"{READINGS[OPTIMUM_READING]}. The optimum itself was simulated like the others.",
            "Dots with intervals: fraction of the optimum by policy.",
            lambda: _fractions_chart(facts, small_note),
        ),
        ReportFigure(
            "past-the-paper-along",
            "Surplus lives after t patients of the stroke trial.",
            "Lines with bands: surplus along the stroke trial by policy; a panel for each trial and one for both.",
            lambda: lines(
                facts.along.with_columns(panel=polars.col("population").replace_strict(_TRIALS)),
                panels="panel",
                series="label",
                y_label="surplus lives",
                note=stroke_note,
            ),
        ),
        ReportFigure(
            "past-the-paper-small",
            f"Figure 3 with other policies: surplus in trials of {facts.n_small} patients under the three readings, "
            "each with its own axis.",
            "Dots with intervals: surplus in small trials by policy; a panel for each reading of what non-compliers "
            "take.",
            lambda: _final_chart(
                facts.small,
                _READINGS,
                f"surplus ({unit})",
                f"{small_note} Panels: the arm that a patient who does not comply takes.",
            ),
        ),
    ]


def _final_chart(
    table: polars.DataFrame, titles: dict[str, str], x_label: str, note: str, *, shared: bool = False
) -> Figure:
    """The final surplus by policy, a panel for each population; with one scale for all if they have it in common."""
    surplus = table.filter(measure="surplus").with_columns(
        row="label", style="group", panel=polars.col("population").replace_strict(titles)
    )
    limits = dict.fromkeys(titles.values(), common_limits(surplus)) if shared else None
    return dots(surplus, x_label=x_label, limits=limits, note=note)


def _fractions_chart(facts: Facts, note: str) -> Figure:
    table = facts.fractions.with_columns(row="label", style="group", panel=polars.lit(""))
    return dots(table, x_label="fraction of the optimum", note=note)


def make_listings(facts: Facts) -> list[Listing]:
    """Every number of the figures, and the policies as a user writes them."""
    lives = [
        *(_column(ANY_HORIZON, lambda one, of=name: facts.lives(one, of)) for name in _TRIALS),  # type: ignore[misc]
        _column(ANY_HORIZON, lambda one: facts.lives(one, POOLED, "difference"), "+"),
    ]
    rewards = [
        *(_column(SMALL, lambda one, of=name: facts.rewards(one, of)) for name in _READINGS),  # type: ignore[misc]
        [percent(facts.fraction(one)) for one in SMALL],
    ]
    small_caption = (
        f"Surplus per trial of {facts.n_small} patients, by what non-compliers take, and as a fraction of the "
        f"optimum for {READINGS[OPTIMUM_READING]}; 95% intervals, {facts.n_simulations:,} simulations."
    )
    return [
        _listing(
            f"Surplus lives among {facts.n_patients:,} patients, with 95% intervals, {facts.n_runs:,} runs.",
            ANY_HORIZON,
            ("aspirin", "heparin", "pooled", "pooled, minus Thompson"),
            lives,
        ),
        _listing(small_caption, SMALL, (*_READINGS.values(), "of the optimum"), rewards),
        _listing(
            "Every policy as “adhere simulate --policy” takes it.", SMALL, ("text",), [[one.policy for one in SMALL]]
        ),
    ]


def _column(entries: Sequence[Entry], value: Callable[[Entry], Estimate], sign: str = "") -> list[str]:
    return estimate_texts([value(one) for one in entries], sign=sign)


def _listing(
    caption: str, entries: Sequence[Entry], header: Sequence[str], columns: Sequence[Sequence[str]]
) -> Listing:
    rows = [(one.label, *cells) for one, cells in zip(entries, zip(*columns, strict=True), strict=True)]
    return Listing(caption, ("policy", *header), rows, folded=True)
