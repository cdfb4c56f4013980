"""The figures of estimates: how far off they are on average, and how often their intervals hold the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adhere.evaluation.characteristics.columns import METHODS
from adhere.evaluation.characteristics.outcomes import VIEWS
from adhere.evaluation.output.figures import shown_of
from adhere.evaluation.output.rows import Row
from adhere.evaluation.output.texts import is_known
from adhere.report.section import ReportFigure

_MAX_ROWS = 14  # scenarios, times arms
_MAX_COMPARED = 3  # arms


def estimates_figures(rows: Sequence[Row]) -> list[ReportFigure]:
    """Bias, and coverage, of every estimand by every method."""
    n_arms = min(_MAX_COMPARED, len(rows[0].others)) if rows else 1
    shown, left_out = shown_of(rows, max(2, _MAX_ROWS // n_arms))
    found = [_bias(_points(shown, "bias"), left_out), _coverage(_points(shown, "coverage"), left_out)]
    return [one for one in found if one is not None]


def _points(rows: Sequence[Row], name: str) -> list[dict[str, Any]]:
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


def _bias(points: Sequence[dict[str, Any]], left_out: str) -> ReportFigure | None:
    import polars as pl

    from adhere.report.dots import dots

    if not points:
        return None
    return ReportFigure(
        "bias",
        f"Bias of estimated effects, by estimand.{left_out} Bars: 95% Monte Carlo intervals.",
        _said(points, "{:+.3f}"),
        lambda: dots(
            pl.DataFrame(points, infer_schema_length=None),
            x_label="mean of the estimate minus the true effect",
            zero="no bias",
        ),
    )


def _coverage(points: Sequence[dict[str, Any]], left_out: str) -> ReportFigure | None:
    import polars as pl

    from adhere.report.dots import Reference, dots

    if not points:
        return None
    panels = {point["panel"] for point in points}
    target = [Reference("95%", panel, 0.95, 0.95, 0.95) for panel in VIEWS if panel in panels]
    return ReportFigure(
        "coverage",
        f"Coverage: how often 95% intervals hold the true effect.{left_out} Bars: 95% Monte Carlo intervals.",
        _said(points, "{:.1%}"),
        lambda: dots(
            pl.DataFrame(points, infer_schema_length=None),
            x_label="share of trials whose interval holds the true effect",
            references=target,
            zero="",
        ),
    )


def _said(points: Sequence[dict[str, Any]], how: str) -> str:
    return "; ".join(f"{one['row']}, {one['panel']}, {one['style']}: {how.format(one['mean'])}" for one in points)
