"""Surplus along the trial, drawn: a panel for each population, a line for each policy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adhere.report.by_population import by_population
from adhere.report.style import SETTINGS, TEXT_SIZE, figure_file
from adhere.report.wrapping import paragraph, policy_lines
from adhere.simulation import Outcome, SimulationResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Okabe & Ito's colours, which nearly everybody can tell apart; the faintest on white comes last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
# When the colours run out they come again in another line style.
LINE_STYLES = ("-", "--", ":", "-.")
_ZERO = "#888888"

# Inches and points for a figure that is still readable when set half a page wide.
_WIDTH, _PANEL, _CROWDED_PANEL = 4.8, 2.5, 3.6
_LEGEND_TEXT, _NOTE_TEXT = 7, 6.5
_LEGEND_LINE, _NOTE_LINE, _MARGIN = 0.127, 0.11, 0.1
_LEGEND_LETTERS, _NOTE_LETTERS = 78, 96
_MANY = 6  # policies, from which on panels grow and bands fade


def drawn(result: SimulationResult, suffix: str, notes: Sequence[str] = ()) -> bytes:
    """The contents of a file with the plot, of the kind its suffix says: .png, .svg or .pdf."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        return figure_file(surplus_plot(result, notes), suffix)


def surplus_plot(result: SimulationResult, notes: Sequence[str] = ()) -> Figure:
    """Mean surplus after t patients with its 95% interval; zero is uniform randomisation."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups = by_population(result)
    labels = ["\n".join(policy_lines(one.policy, _LEGEND_LETTERS)) for one in groups[0]]
    labels.append("uniform randomisation (zero)")
    n_columns = max(1, min(len(labels), _LEGEND_LETTERS // (max(map(len, labels)) + 8)))
    n_legend_lines = math.ceil(sum(label.count("\n") + 1 for label in labels) / n_columns)
    caption = "\n".join(paragraph(note, _NOTE_LETTERS) for note in [_what_is_shown(result), *notes])
    n_notes = caption.count("\n") + 1

    panel_height = _PANEL if len(groups[0]) <= _MANY else _CROWDED_PANEL
    heights = [panel_height * len(groups), _LEGEND_LINE * n_legend_lines + _NOTE_LINE * n_notes + 2 * _MARGIN]
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        panels, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights)[:, 0]
        axes = panels.subplots(len(groups), 1, squeeze=False)[:, 0]
        for panel, group in zip(axes, groups, strict=True):
            _draw(panel, group)
        axes[-1].set_xlabel("patients")
        panels.align_ylabels(axes)
        _explain(below, axes[0], labels, n_columns, caption)
    return figure


def _draw(panel: Axes, outcomes: Sequence[Outcome]) -> None:
    from matplotlib.ticker import MaxNLocator

    for number, outcome in enumerate(outcomes):
        along = outcome.trajectory()
        # Before the first patient nothing is won or lost.
        t, mean, lo, hi = (np.insert(values, 0, 0) for values in (along.t, along.mean, along.lo, along.hi))
        colour = COLOURS[number % len(COLOURS)]
        style = LINE_STYLES[number // len(COLOURS) % len(LINE_STYLES)]
        panel.plot(t, mean, style, color=colour, linewidth=1.2)
        if outcome.moments.n > 1:
            panel.fill_between(t, lo, hi, color=colour, alpha=0.18 if len(outcomes) <= _MANY else 0.07, linewidth=0)
    panel.axhline(0.0, color=_ZERO, linewidth=0.8, zorder=0)
    panel.set_xlim(0, outcomes[0].grid[-1])
    panel.margins(y=0.05)
    panel.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.set_title(outcomes[0].population, loc="left", fontsize=TEXT_SIZE + 1, fontweight="bold")
    panel.set_ylabel("surplus reward (e.g. lives)\nover uniform randomisation")


def _explain(below: SubFigure, panel: Axes, labels: Sequence[str], n_columns: int, caption: str) -> None:
    below.legend(
        panel.get_lines(),
        labels,
        loc="upper left",
        ncols=n_columns,
        frameon=False,
        fontsize=_LEGEND_TEXT,
        labelspacing=0.25,
        borderaxespad=0.3,
        handlelength=2.6,
    )
    below.text(0.02, 0.02, caption, fontsize=_NOTE_TEXT, color="#444444", va="bottom", ha="left")


def _what_is_shown(result: SimulationResult) -> str:
    n_runs, seed = result.config.n_runs, result.config.seed
    if n_runs == 1:
        return f"One run, seed {seed}."
    return f"Mean of {n_runs:,} runs, seed {seed}; bands are 95% intervals of the mean."
