"""Shares of patients who complied and who survived: intervals, tables and a chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from adhere.errors import InputError
from adhere.intervals import wilson
from adhere.report.style import SETTINGS
from adhere.report.surplus_plot import COLOURS

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _AROUND = 4.8, 0.155, 0.42  # inches
_TEXT, _HEADING = 7.5, 8.5  # points
_GREY = "#888888"
_LOOKS = (("#000000", "o"), (COLOURS[0], "s"), (COLOURS[1], "D"), (COLOURS[2], "^"))


class Interval(NamedTuple):
    """A figure and the ends of its 95% interval."""

    value: float
    lo: float
    hi: float

    @property
    def covers_zero(self) -> bool:
        """Whether the interval holds zero."""
        return self.lo <= 0.0 <= self.hi

    def percent(self) -> str:
        """As a share.

        >>> Interval(0.9103, 0.9044, 0.9158).percent()
        '91.0% [90.4, 91.6]'
        """
        return f"{self.value:.1%} [{100 * self.lo:.1f}, {100 * self.hi:.1f}]"

    def points(self) -> str:
        """As a difference of shares, in points.

        >>> Interval(0.0039, -0.0042, 0.0121).points()
        '+0.39 [-0.42, +1.21]'
        """
        value, lo, hi = ("0.00" if abs(number) < 5e-5 else f"{100 * number:+.2f}" for number in self)
        return f"{value} [{lo}, {hi}]"

    def columns(self, name: str) -> dict[str, float]:
        """As columns of a table, to be read again by `interval_in`."""
        return {name: self.value, f"{name}_lo": self.lo, f"{name}_hi": self.hi}


def interval_in(row: Mapping[str, Any], name: str) -> Interval:
    """The interval that a row of a table holds in the columns of this name.

    >>> interval_in({"share": 0.5, "share_lo": 0.4, "share_hi": 0.6}, "share")
    Interval(value=0.5, lo=0.4, hi=0.6)
    """
    return Interval(row[name], row[f"{name}_lo"], row[f"{name}_hi"])


def share(count: int, total: int) -> Interval:
    """The share of `count` in `total` with Wilson's score interval.

    >>> [round(end, 4) for end in share(81, 263)]
    [0.308, 0.2553, 0.3662]

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    """
    if not 0 <= count <= total or not total:
        raise InputError("count, total", (count, total), "a count from 0 to the total, and a total of at least 1")
    p, (lo, hi) = count / total, wilson(count, total)
    # At the ends of the range rounding could leave the share itself just outside.
    return Interval(p, min(p, lo), max(p, hi))


def share_difference(one: Interval, other: Interval) -> Interval:
    """One share less another of other patients, with Newcombe's hybrid score interval.

    >>> [round(end, 4) for end in share_difference(share(56, 70), share(48, 80))]
    [0.2, 0.0524, 0.3339]

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.

    """
    difference = one.value - other.value
    return Interval(
        difference,
        difference - math.hypot(one.value - one.lo, other.hi - other.value),
        difference + math.hypot(one.hi - one.value, other.value - other.lo),
    )


def compliance_by_arm(counts: polars.DataFrame) -> polars.DataFrame:
    """The share of those allocated to each arm who took it, for counts by trial, allocated, taken."""
    import polars

    rows = []
    for (trial, allocated), told in counts.group_by("trial", "allocated", maintain_order=True):
        patients, complied = _sum(told, "patients"), _sum(told.filter(taken=allocated), "patients")
        numbers = {"patients": patients, "complied": complied, **share(complied, patients).columns("share")}
        rows.append({"trial": trial, "allocated": allocated, **numbers})
    return polars.DataFrame(rows)


def survival_by_view(counts: polars.DataFrame, reference: str) -> polars.DataFrame:
    """Survival in each arm as Chosen, Actual and Comply see it, and how far it is from that in the reference arm."""
    import polars

    credited = {"chosen": ["allocated"], "actual": ["taken"], "comply": ["allocated", "taken"]}
    rows = []
    for (trial,), patients in counts.group_by("trial", maintain_order=True):
        for view, columns in credited.items():
            arms = patients["allocated"].unique(maintain_order=True)
            groups = {arm: patients.filter(**dict.fromkeys(columns, arm)) for arm in arms}
            alive = {arm: share(_sum(group, "survived"), _sum(group, "patients")) for arm, group in groups.items()}
            for arm, group in groups.items():
                numbers = {name: _sum(group, name) for name in ("patients", "survived")} | alive[arm].columns("share")
                if arm != reference:
                    numbers |= share_difference(alive[arm], alive[reference]).columns("difference")
                rows.append({"trial": trial, "view": view, "arm": arm, **numbers})
    return polars.DataFrame(rows, infer_schema_length=None)


def _sum(rows: polars.DataFrame, column: str) -> int:
    return int(rows[column].sum())


def survival_chart(survival: polars.DataFrame, view_titles: Mapping[str, str]) -> Figure:
    """Survival in per cent on the left, differences from the reference arm in points on the right, by trial.

    The table has the columns trial, view, arm and those of the intervals `share` and `difference`; an arm without
    a difference is the reference. Arms of one view stand together under its title.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    trials = {str(trial): rows for (trial,), rows in survival.group_by("trial", maintain_order=True)}
    heights = [_ROW * (len(rows) + rows["view"].n_unique()) for rows in trials.values()]
    with matplotlib.rc_context({**SETTINGS, "font.size": _TEXT}):
        figure = Figure(figsize=(_WIDTH, sum(heights) + _AROUND * (len(trials) + 1)), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(len(trials), 2, squeeze=False, sharex="col", height_ratios=heights)
        for (left, right), (trial, rows) in zip(axes, trials.items(), strict=True):
            _draw(left, right, rows.to_dicts(), view_titles)
            left.set_title(f"{trial} trial", loc="left", fontsize=_HEADING, fontweight="bold")
        for panel, label in zip(
            axes[-1], ("alive at 14 days (%)", "difference from none\n(percentage points)"), strict=True
        ):
            panel.set_xlabel(label)
    return figure


def _draw(left: Axes, right: Axes, rows: Sequence[Mapping[str, Any]], view_titles: Mapping[str, str]) -> None:
    from matplotlib.ticker import MaxNLocator

    looks: dict[str, tuple[str, str]] = {}
    ticks: list[str] = []
    headings: dict[str, int] = {}
    for row in rows:
        if row["view"] not in headings:
            headings[row["view"]] = len(ticks)
            ticks.append(view_titles[row["view"]])
        place = len(ticks)
        ticks.append(row["arm"])
        look = looks.setdefault(row["arm"], _LOOKS[len(looks) % len(_LOOKS)])
        _dot(left, place, interval_in(row, "share"), *look)
        if row["difference"] is None:
            right.annotate(
                "reference", (0, place), (3, 0), textcoords="offset points", va="center", fontsize=7, color="#555555"
            )
        else:
            _dot(right, place, interval_in(row, "difference"), *look)
    right.axvline(0.0, color=_GREY, linewidth=0.8, zorder=1)
    for panel in (left, right):
        panel.set_ylim(len(ticks) - 0.4, -0.6)
        panel.set_yticks(range(len(ticks)), ticks if panel is left else [""] * len(ticks))
        panel.tick_params(axis="y", length=0)
        panel.tick_params(axis="x", labelbottom=True)
        panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        panel.grid(axis="x", color="#E5E5E5", linewidth=0.6)
        panel.set_axisbelow(True)
    for place in headings.values():
        left.get_yticklabels()[place].set_fontstyle("italic")


def _dot(panel: Axes, place: int, interval: Interval, colour: str, marker: str) -> None:
    value, lo, hi = (100 * number for number in interval)
    panel.errorbar(
        [value], [place], xerr=[[value - lo], [hi - value]],
        fmt=marker, color=colour, markersize=4, linewidth=1.1, capsize=2,
    )  # fmt: skip
