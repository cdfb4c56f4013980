"""Curves along any axis and bars that add up: what is drawn is what was given, and can be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import matplotlib
import polars as pl
import pytest

from adhere.errors import InputError
from adhere.report.lines import Level, lines
from adhere.report.stacked_bars import Bar, stacked_bars
from adhere.report.style import SETTINGS
from report.layout import check_apart_and_inside

LONG = "burn-in(floor(thompson-bounded(hierarchical(thompson)), share=0.2), patients=40) decided by a z-test"
KINDS = ("superior", "inferior", "equivalent", "futile", "no conclusion")


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    with matplotlib.rc_context(SETTINGS):
        yield


def a_table(panels: list[str], series: list[str], xs: list[float]) -> pl.DataFrame:
    rows = [
        {
            "panel": panel,
            "series": name,
            "x": x,
            "mean": 0.1 * k + x,
            "low": 0.1 * k + x - 0.02,
            "high": 0.1 * k + x + 0.02,
        }
        for panel in panels
        for k, name in enumerate(series)
        for x in xs
    ]
    return pl.DataFrame(rows)


def drawn(table: pl.DataFrame, **options: Any) -> Any:
    options = {"percent": True, **options}
    return lines(table, x_label="effect of taking the treatment", y_label="probability of a claim", **options)


@pytest.mark.parametrize(("n_panels", "n_series", "wide"), [(1, 1, False), (3, 10, True)])
def test_panels_legend_and_note_are_apart(n_panels: int, n_series: int, wide: bool) -> None:
    panels = [f"{LONG} {one}" for one in range(n_panels)]
    table = a_table(panels, [f"{LONG} {one}" for one in range(n_series)], [0.0, 0.1, 0.2])
    level = Level(0.05, "5%")
    check_apart_and_inside(drawn(table, level=level, note=LONG * 3, wide=wide, n_columns=3 if wide else 2))


def test_curves_are_what_the_table_has_in_percent_with_the_level() -> None:
    figure = drawn(a_table(["a"], ["x", "y"], [0.0, 0.1, 0.2]), level=Level(0.05, "5%"))
    (panel,) = figure.axes
    *lines, level = panel.get_lines()
    assert list(level.get_ydata()) == [0.05, 0.05]
    assert [list(line.get_ydata()) for line in lines] == [[0.0, 0.1, 0.2], [0.1, 0.2, pytest.approx(0.3)]]
    bars = [one for line in panel.collections for one in line.get_segments()]
    assert bars[0].tolist() == [[0.0, -0.02], [0.0, 0.02]]
    assert "10%" in [text.get_text() for text in panel.get_yticklabels()]
    assert [text.get_text() for text in figure.subfigs[1].legends[0].get_texts()] == ["x", "y", "5%"]


def test_many_points_have_a_band_and_one_nameless_curve_no_legend() -> None:
    (panel,) = drawn(a_table(["a"], [""], [k / 40 for k in range(40)]), percent=False).axes
    assert len(panel.collections) == 1
    assert len(panel.get_lines()) == 1
    figure = drawn(a_table(["a"], [""], [1.0, 10.0, 100.0]), percent=False, log_x=True)
    assert not figure.subfigs[1].legends
    assert figure.axes[0].get_xscale() == "log"


def test_a_table_without_intervals_is_refused() -> None:
    with pytest.raises(InputError, match="the columns low, high too"):
        drawn(a_table(["a"], ["x"], [0.0]).drop("low", "high"))


@pytest.mark.parametrize(("n_panels", "n_bars"), [(1, 1), (4, 40)])
def test_bars_add_up_and_their_labels_are_apart(n_panels: int, n_bars: int) -> None:
    bars = [Bar(f"{100 * k:,}", {"superior": 0.01, "futile": 0.02}, 0.02, 0.04) for k in range(1, n_bars + 1)]
    figure: Any = stacked_bars(
        {f"{LONG} {one}": bars for one in range(n_panels)},
        kinds=KINDS,
        x_label="patients with outcomes",
        y_label="trials that ended there",
    )
    check_apart_and_inside(figure)
    panel = figure.axes[0]
    tops = [patch.get_y() + patch.get_height() for patch in panel.patches]
    assert tops == pytest.approx([0.01] * n_bars + [0.03] * n_bars)
    assert [text.get_text() for text in figure.subfigs[1].legends[0].get_texts()] == ["superior", "futile"]
    boxes = [text.get_window_extent() for text in panel.get_xticklabels()]
    assert panel.get_xticklabels()[-1].get_text() == f"{100 * n_bars:,}"
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
