"""Figures of one design: power, conclusions, sizes, allocation, estimates and convergence."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from adhere.design.planned_looks import look_counts, look_days
from adhere.design.stopping_checks import may_drop_arms
from adhere.design.words import randomises
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.outcomes import METHODS, VIEWS
from adhere.evaluation.output.grid_figures import CLAIMS, claim_of
from adhere.evaluation.output.rows import STATUSES, is_known, percent, some_of
from adhere.intervals import wilson
from adhere.report.dots import Reference, dots
from adhere.report.lines import Level, lines
from adhere.report.section import ReportFigure
from adhere.report.stacked_bars import Bar, stacked_bars

MAX_PANELS = 6
_MAX_SERIES = 7
_MAX_BARS = 24
_RUNNING = "still running, or no conclusion"
_SIZE = "trials"


def shown_of(rows: Sequence[Characteristics], most: int = MAX_PANELS) -> tuple[list[Characteristics], str]:
    """Return the scenarios that fit into a figure, and a note if some scenarios are left out."""
    shown = some_of(rows, most)
    left_out = f" {len(shown)} of {len(rows)} scenarios; the tables have all." if len(shown) < len(rows) else ""
    return shown, left_out


def status_figure(rows: Sequence[Characteristics]) -> ReportFigure | None:
    """Bars of the shares of trials that stopped by each look, by reason."""
    if rows[0].design.stopping is None or len(look_labels(rows[0])) < 2:
        return None
    shown, left_out = shown_of(rows)
    panels = {row.scenario.name: list(_status_bars(row)) for row in shown}
    said = [f"{title}: {_ending(bars[-1])}" for title, bars in panels.items()]
    by_day = bool(look_days(rows[0].design))
    return ReportFigure(
        "status",
        f"Status over time: what trials have stopped for by each look, the last one included.{left_out} "
        "Lines: 95% intervals of the share that has stopped.",
        "; ".join(said),
        lambda: stacked_bars(
            panels,
            kinds=STATUSES,
            rest=_RUNNING,
            x_label="day of the look" if by_day else "patients with outcomes at the look",
            y_label="share of trials",
        ),
        wide=True,
    )


def look_labels(row: Characteristics) -> list[str]:
    """Return labels of looks: days or numbers of outcomes; the last label is "end"."""
    days = look_days(row.design)
    before = [f"{day:g}" for day in days] if days else [f"{n:,}" for n in look_counts(row.design)[:-1]]
    return [*before, "end"]


def _status_bars(row: Characteristics) -> Iterator[Bar]:
    by_look = row.by_look()
    running = by_look["running"]
    for look, label in enumerate(look_labels(row)):
        parts = {status: float(by_look[status].mean[look]) for status in STATUSES}
        n_stopped = round((1.0 - float(running.mean[look])) * row.n_trials)
        low, high = wilson(n_stopped, row.n_trials)
        yield Bar(label, {**parts, _RUNNING: float(running.mean[look])}, low, high)


def _ending(bar: Bar) -> str:
    return ", ".join(f"{kind} {share:.1%}" for kind, share in bar.parts.items() if share > 0)


def size_figure(rows: Sequence[Characteristics]) -> ReportFigure | None:
    """Histogram of the number of patients of trials, for each scenario."""
    shown, left_out = shown_of(rows)
    edges, is_each = _size_edges(shown)
    if len(edges) < 3:
        return None
    panels = {row.scenario.name: list(_size_bars(row, edges, is_each)) for row in shown}
    said = [f"{row.scenario.name}: mean {row.moments.mean[row.columns.where('n_patients', 0)]:,.1f}" for row in shown]
    return ReportFigure(
        "sizes",
        f"Sample size: how many patients trials recommend an arm to.{left_out} Lines: 95% intervals.",
        "; ".join(said),
        lambda: stacked_bars(panels, kinds=(_SIZE,), x_label="patients", y_label="share of trials"),
        wide=True,
    )


def _size_edges(rows: Sequence[Characteristics]) -> tuple[list[int], bool]:
    """Return the edges of the bars of sizes, and whether each bar is a single size."""
    occurring = sorted({int(n) for row in rows for n in np.flatnonzero(row.distributions.sizes)})
    if len(occurring) <= _MAX_BARS:
        return [*occurring, occurring[-1] + 1], True
    low, high = occurring[0], occurring[-1] + 1
    width = -(-(high - low) // _MAX_BARS)
    return [*range(low, high, width), high], False


def _size_bars(row: Characteristics, edges: Sequence[int], is_each: bool) -> Iterator[Bar]:
    sizes = row.distributions.sizes
    for low, high in pairwise(edges):
        count = int(sizes[low:high].sum())
        label = f"{low:,}" if is_each or high == low + 1 else f"{low:,}–{high - 1:,}"
        yield Bar(label, {_SIZE: count / row.n_trials}, *wilson(count, row.n_trials))


def allocation_figure(rows: Sequence[Characteristics]) -> ReportFigure | None:
    """Curves of each arm's share of the recommendations over time; None if the design fixes equal shares."""
    if randomises(rows[0].design) and not may_drop_arms(rows[0].design):
        return None
    shown, left_out = shown_of(rows)
    arms = rows[0].design.arms
    drawn_arms = arms[:_MAX_SERIES]
    parts: list[dict[str, Any]] = []
    for row in shown:
        for arm in drawn_arms:
            one, place = row.over_time(arm), {"panel": row.scenario.name, "series": arm}
            points = np.column_stack([one.t, one.mean, one.low, one.high]).tolist()
            parts += [place | dict(zip(("x", "mean", "low", "high"), point, strict=True)) for point in points]
    more = f" The first {len(drawn_arms)} of {len(arms)} arms." if len(drawn_arms) < len(arms) else ""
    ends = [
        f"{row.scenario.name}: " + ", ".join(f"{arm} {percent(row.number('allocation', arm))}" for arm in drawn_arms)
        for row in shown
    ]
    return ReportFigure(
        "allocation",
        f"Allocation over time: mean share of each arm among a trial's recommendations so far; a trial that has "
        f"stopped keeps its last.{more}{left_out} Bands: 95% intervals of the mean.",
        "; ".join(ends),
        lambda: lines(
            pl.DataFrame(parts),
            x_label="patients recommended an arm",
            y_label="share of the recommendations so far",
            percent=True,
            level=Level(1 / len(arms), "equal shares"),
            limits=(0.0, 1.0),
            n_columns=3,
            wide=True,
        ),
        wide=True,
    )


def convergence_figure(rows: Sequence[Characteristics]) -> ReportFigure | None:
    """Curves of the probability of a claim over the number of simulated trials."""
    shown, left_out = shown_of(rows)
    parts: list[dict[str, Any]] = []
    for row in shown:
        name = claim_of(row)
        for n_trials, one in row.convergence(name) if name else ():
            place = {"panel": f"{row.scenario.name}: {CLAIMS[name or '']}", "series": "", "x": float(n_trials)}
            parts.append({**place, "mean": one.mean, "low": one.low, "high": one.high})
    if len({part["x"] for part in parts}) < 2:
        return None
    return ReportFigure(
        "convergence",
        f"Monte Carlo convergence: type I error, or power, after so many trials, with its 95% interval.{left_out}",
        "; ".join(f"{row.scenario.name}: {percent(row.number(name))}" for row in shown if (name := claim_of(row))),
        lambda: lines(
            pl.DataFrame(parts, infer_schema_length=None),
            x_label="simulated trials",
            y_label="type I error, or power",
            percent=True,
            share_y=False,
            n_columns=3,
            wide=True,
        ),
        wide=True,
    )


_MAX_ROWS = 14  # scenarios, times arms
_MAX_COMPARED = 3  # arms


def estimates_figures(rows: Sequence[Characteristics]) -> list[ReportFigure]:
    """Figures of bias and coverage of every estimand by every method."""
    n_arms = min(_MAX_COMPARED, len(rows[0].others))
    shown, left_out = shown_of(rows, max(2, _MAX_ROWS // n_arms))
    bias, coverage = (_estimate_points(shown, name) for name in ("bias", "coverage"))
    panels = {point["panel"] for point in coverage}
    target = [Reference("95%", panel, 0.95, 0.95, 0.95) for panel in VIEWS if panel in panels]
    of_bias = {"x_label": "mean of the estimate minus the true effect", "zero": "no bias"}
    of_coverage = {
        "x_label": "share of trials whose interval holds the true effect",
        "references": target,
        "zero": "",
    }
    right = "Coverage: how often 95% intervals hold the true effect."
    found = [
        _dots_figure("bias", f"Bias of estimated effects, by estimand.{left_out}", bias, "{:+.3f}", of_bias),
        _dots_figure("coverage", f"{right}{left_out}", coverage, "{:.1%}", of_coverage),
    ]
    return [one for one in found if one is not None]


def _estimate_points(rows: Sequence[Characteristics], name: str) -> list[dict[str, Any]]:
    points = []
    for row in rows:
        for arm in row.others[:_MAX_COMPARED]:
            label = f"{row.scenario.name}: {arm}" if len(row.others) > 1 else row.scenario.name
            for estimand in VIEWS:
                for method in METHODS if estimand in row.design.estimands else ():
                    one = row.number(name, arm, estimand, method)
                    if one is not None and is_known(one):
                        place = {"row": label, "panel": estimand, "style": method}
                        points.append({**place, "mean": one.mean, "low": one.low, "high": one.high})
    return points


def _dots_figure(
    name: str, caption: str, points: Sequence[dict[str, Any]], how: str, options: dict[str, Any]
) -> ReportFigure | None:
    """Draw a characteristic of all estimates as dots with their intervals; return None if there are none."""
    if not points:
        return None
    said = (f"{one['row']}, {one['panel']}, {one['style']}: {how.format(one['mean'])}" for one in points)
    return ReportFigure(
        name,
        f"{caption} Bars: 95% Monte Carlo intervals.",
        "; ".join(said),
        lambda: dots(pl.DataFrame(points, infer_schema_length=None), **options),
    )
