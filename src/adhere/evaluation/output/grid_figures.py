"""Figures of a grid of scenarios: power by effect, type I error by confounding."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from adhere.design.design import Design
from adhere.evaluation.characteristics.characteristics import Characteristics
from adhere.evaluation.evaluation_data import EvaluationData
from adhere.evaluation.output.rows import is_known, short_percent, some_of
from adhere.report.lines import Level, lines
from adhere.report.section import ReportFigure

LEVEL = 0.05  # reference line in figures of errors, the usual level
_MAX_PANELS = 6
CLAIMS = {"type_one": "type I error", "power": "power"}


def claim_of(row: Characteristics) -> str | None:
    """Return "power" if an arm is better than another, otherwise "type_one"; None if there are no claims."""
    return next((name for name in ("power", "type_one") if is_known(row.number(name))), None)


def power_figure(evaluation: EvaluationData) -> ReportFigure | None:
    """Curves of the probability of a claim by effect: one for each compliance, or for each of several designs."""
    rows = [row for row in evaluation.results if row.scenario.null != "average"]
    rows = [row for row in rows if row.scenario.effect is not None]
    if len({row.scenario.effect for row in rows}) < 2:
        return None
    several, lower = len(evaluation.designs) > 1, evaluation.designs[0].lower_is_better
    parts = _parts(
        rows,
        lambda row: row.scenario.effect,
        panels=lambda row: [_cell(row, rows)] if several else _levels(row, rows),
        series=lambda row: row.design.name if several else _compliance(row),
    )
    return _figure(
        "power",
        "Power curves: the probability of a claim in the right direction, and where the effect is zero of any claim.",
        parts,
        x_label=f"effect of taking the treatment on the mean outcome{' y (below 0 is good)' * lower}",
        y_label="probability of a claim",
    )


def errors_figure(evaluation: EvaluationData) -> ReportFigure | None:
    """Curves of the type I error by confounding, in scenarios without an effect."""
    rows = [row for row in evaluation.results if row.scenario.null == "sharp"]
    rows = [row for row in rows if row.scenario.confounding is not None and row.scenario.compliance != 1.0]
    if len({row.scenario.confounding for row in rows}) < 2:
        return None
    series, panel = _crossed(evaluation.designs)
    several = len(evaluation.designs) > 1
    n_levels = len({row.scenario.compliance for row in rows})
    parts = _parts(
        rows,
        lambda row: row.scenario.confounding,
        panels=lambda row: [
            _joined(panel(row), _compliance(row) if several and n_levels > 1 else "", _baseline(row, rows))
        ],
        series=lambda row: series(row) if several else _compliance(row),
    )
    own, never = ("worse", "better") if evaluation.designs[0].lower_is_better else ("better", "worse")
    scale = "y" if evaluation.designs[0].lower_is_better else "mean outcome"
    return _figure(
        "confounding",
        "Type I error as confounding grows: nothing has an effect, but those who take the treatment whatever they "
        f"are told would do {own} anyway, and those who never take it {never}.",
        parts,
        x_label=f"confounding: how much {own} than others always-takers do, and never-takers {never} ({scale})",
        y_label="type I error",
    )


def _crossed(designs: Sequence[Design]) -> tuple[Callable[[Characteristics], str], Callable[[Characteristics], str]]:
    """Return the labels of a design's curve and panel.

    Each design has a curve. If designs are policies × stopping methods, each method has a panel.
    """
    ways = {(one.policy, one.stopping.by if one.stopping else "") for one in designs}
    policies, rules = {policy for policy, _ in ways}, {rule for _, rule in ways}
    if len(ways) == len(designs) == len(policies) * len(rules) and len(rules) > 1 and len(policies) > 1:
        return (lambda row: row.design.policy), (lambda row: f"decided by {_by(row.design)}")
    return (lambda row: row.design.name), (lambda row: "")


def _by(design: Design) -> str:
    return design.stopping.by if design.stopping else "nothing"


def _compliance(row: Characteristics) -> str:
    share = row.scenario.compliance
    return "" if share is None else f"{short_percent(share)} comply"


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _cell(row: Characteristics, rows: Sequence[Characteristics]) -> str:
    """Describe compliance, confounding (unless everybody complies), and the baseline (if baselines differ)."""
    confounding = "" if row.scenario.compliance == 1.0 else _confounding(row)
    return _joined(_compliance(row), confounding, _baseline(row, rows))


def _baseline(row: Characteristics, rows: Sequence[Characteristics]) -> str:
    several = len({one.scenario.baseline for one in rows}) > 1
    return "" if row.scenario.baseline is None or not several else f"baseline {row.scenario.baseline:g}"


def _confounding(row: Characteristics) -> str:
    return "" if row.scenario.confounding is None else f"confounding {row.scenario.confounding:g}"


def _levels(row: Characteristics, rows: Sequence[Characteristics]) -> list[str]:
    """Return the panels that show a scenario, by confounding (every panel if everybody complies) and baseline."""
    every = [_confounding(one) for one in rows] if row.scenario.compliance == 1.0 else [_confounding(row)]
    return [_joined(one, _baseline(row, rows)) for one in dict.fromkeys(every)]


def _parts(
    rows: Sequence[Characteristics],
    x: Callable[[Characteristics], float | None],
    *,
    panels: Callable[[Characteristics], Sequence[str]],
    series: Callable[[Characteristics], str],
) -> list[dict[str, Any]]:
    parts: dict[tuple[str, str, float], dict[str, Any]] = {}
    for row in rows:
        name, at = claim_of(row), x(row)
        one = row.number(name) if name else None
        if one is not None and at is not None:
            for title in panels(row):
                place = {"panel": title, "series": series(row), "x": at}
                key = (title, series(row), at)
                parts.setdefault(key, {**place, "mean": one.mean, "low": one.low, "high": one.high})
    return list(parts.values())


def _figure(
    name: str, caption: str, parts: Sequence[dict[str, Any]], *, x_label: str, y_label: str
) -> ReportFigure | None:
    """Return a figure of curves, or None if it has no parts: trials without a stopping rule claim nothing."""
    if not parts:
        return None
    titles = list(dict.fromkeys(part["panel"] for part in parts))
    shown = some_of(titles, _MAX_PANELS)
    kept = [part for part in parts if part["panel"] in shown]
    left_out = f" {len(shown)} of {len(titles)} panels; the tables have all." if len(shown) < len(titles) else ""
    wide = len(shown) > 1
    said = [f"{one['panel']} {one['series']} at {one['x']:g}: {100 * one['mean']:.1f}%".strip() for one in kept]
    return ReportFigure(
        name,
        f"{caption}{left_out} Bars: 95% Monte Carlo intervals.",
        "; ".join(said),
        lambda: lines(
            pl.DataFrame(kept, infer_schema_length=None),
            x_label=x_label,
            y_label=y_label,
            percent=True,
            level=Level(LEVEL, "5%"),
            n_columns=3 if wide else 1,
            wide=wide,
        ),
        wide=wide,
    )
