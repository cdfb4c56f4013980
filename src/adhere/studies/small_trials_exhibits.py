"""The figures and tables of trials of twelve patients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adhere.report.dots import dots
from adhere.report.numbers import estimate_texts
from adhere.report.section import Drawing, Listing
from adhere.studies.lineup import PAPERS_GAMMA
from adhere.studies.outcome_exhibits import every_policy_chart, every_policy_listing
from adhere.studies.small_trials_claims import AVERAGE, AVERAGE_BUT_BOUNDED, READINGS, Gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {reading: title.removeprefix("the ") for reading, title in READINGS.items()}
_PANELS = "Panels: the arm that a patient who does not comply takes."


def drawings(gains: Gains) -> list[Drawing]:
    """All figures of the study."""
    size, n = gains.size, gains.n_patients
    note = f"Means of {size:,} simulations; 95% intervals. {_PANELS}"
    unit = f"rewards per trial of {n} patients"
    surplus = gains.final.filter(n_runs=size)
    return [
        Drawing(
            "small-trials-gains",
            f"Gain in surplus over Chosen of the same learner, on the same patients. γ = {PAPERS_GAMMA}, "
            "no recycling, ThompsonBounded with all experts learning.",
            "Dots with intervals: gain over Chosen by strategy and learner, a panel for each reading of what "
            "non-compliers take.",
            lambda: _gains_chart(gains, f"gain over Chosen ({unit})", note),
        ),
        Drawing(
            "small-trials-final",
            "Surplus of every policy under the three readings, each with its own axis. "
            f"γ = {PAPERS_GAMMA} where none is given.",
            "Dots with intervals: surplus by learner and strategy, a panel for each reading of what non-compliers "
            "take.",
            lambda: every_policy_chart(surplus, _TITLES, f"surplus ({unit})", note),
        ),
    ]


def _gains_chart(gains: Gains, x_label: str, note: str) -> Figure:
    import polars

    table = gains.in_size.filter(polars.col("strategy") != AVERAGE_BUT_BOUNDED).with_columns(
        polars.col("strategy").replace({AVERAGE: "average of the four"}),
        polars.col("learner").replace({AVERAGE: "average of the learners"}),
        panel=polars.col("population").replace_strict(_TITLES),
    )
    lowest, highest = min(table["lo"]), max(table["hi"])
    margin = 0.05 * (highest - lowest)
    return dots(
        table,
        rows="strategy",
        columns="panel",
        styles="learner",
        x_label=x_label,
        limits=dict.fromkeys(_TITLES.values(), (lowest - margin, highest + margin)),
        zero="Chosen of the same learner",
        note=note,
    )


def listings(gains: Gains) -> list[Listing]:
    """The gains over Chosen, and the final figures of every policy."""
    everyone = gains.final.filter(n_runs=gains.size)
    reference = f"Chosen of the same learner (γ = {PAPERS_GAMMA})"
    return [_gains_listing(gains), every_policy_listing(everyone, _TITLES, "minus Chosen", reference)]


def _gains_listing(gains: Gains) -> Listing:
    pairs = gains.in_size.select("learner", "strategy").unique(maintain_order=True).rows()
    columns = [estimate_texts([gains.of(reading, *pair) for pair in pairs], sign="+") for reading in READINGS]
    rows = [(*pair, *cells) for pair, cells in zip(pairs, zip(*columns, strict=True), strict=True)]
    caption = (
        f"Gain in surplus over Chosen of the same learner, rewards per trial of {gains.n_patients} patients, by what "
        f"non-compliers take; 95% intervals, {gains.size:,} simulations."
    )
    return Listing(caption, ("learner", "strategy", *_TITLES.values()), rows, folded=True)
