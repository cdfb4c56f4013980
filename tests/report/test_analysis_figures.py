"""The figures of an analysis: texts inside their boxes and the page, sets without an end drawn as such."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import matplotlib
import pytest
from matplotlib.patches import Rectangle
from matplotlib.path import Path

from adhere.report.band_over_time import Band, band_over_time, is_cut
from adhere.report.compliance_matrix import MatrixRow, compliance_matrix
from adhere.report.consort_flow import FlowBox, FlowColumn, consort_flow
from adhere.report.forest_plot import ForestRow, axis_limits, forest_plot, marks_in_words
from adhere.report.style import SETTINGS

NARROW = ForestRow("a against b", "intention-to-treat", "fixed-sample", 0.03, [(0.01, 0.05)], "+0.030 [0.010, 0.050]")
UNBOUNDED = NARROW._replace(label="compliers", pieces=[(-math.inf, -0.6), (0.01, math.inf)], text="unbounded")
BOUNDS = NARROW._replace(kind="bounds", value=None, pieces=[(-0.3, 0.4)], bar=(-0.2, 0.3))


def check_inside(figure: Any) -> None:
    figure.canvas.draw()
    for part in (figure, *figure.subfigs):
        texts = [*part.texts, *(text for axes in part.axes for text in axes.texts)]
        for text in (one for one in texts if one.get_text()):
            extent = text.get_window_extent()
            assert -1 <= extent.x0 < extent.x1 <= figure.bbox.x1 + 1
            assert -1 <= extent.y0 < extent.y1 <= figure.bbox.y1 + 1


@pytest.mark.parametrize("n_arms", [1, 7])
def test_flow_of_any_number_of_arms_keeps_texts_in_boxes(n_arms: int) -> None:
    boxes = [FlowBox("took an arm with quite a long name: 7,002 (72.2%)"), FlowBox("missing: 20 (0.2%)", True, True)]
    columns = [FlowColumn(f"assigned arm {number}: 9,720", boxes) for number in range(n_arms)]
    figure = consort_flow("patients: 68,040", ["left out: 12", "no arm assigned: 12"], columns, "Dashed: left.")
    check_inside(figure)
    (axes,) = figure.axes
    drawn = [one for one in axes.patches if isinstance(one, Rectangle)]
    assert len(drawn) == 2 + 3 * n_arms
    for one, other in combinations(drawn, 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent())
    for text in axes.texts:
        around = [
            one.get_window_extent() for one in drawn if one.get_window_extent().overlaps(text.get_window_extent())
        ]
        assert all(box.x0 < text.get_window_extent().x0 < text.get_window_extent().x1 < box.x1 for box in around)
    dashed = sum(one.get_linestyle() == "--" for one in drawn)
    assert dashed == n_arms + 1


def test_compliance_matrix_frames_what_was_assigned_and_says_shares() -> None:
    rows = [
        MatrixRow("none", {"none": 90, "walk": 10, "not reported": 0}, "90.0% [82.6%, 94.5%]"),
        MatrixRow("walk", {"none": 1, "walk": 2999, "not reported": 0}, ">99.9% [99.8%, >99.9%]"),
        MatrixRow("unused", {"none": 0, "walk": 0, "not reported": 0}, "nobody"),
    ]
    figure = compliance_matrix(rows, interval="took it [95% interval]")
    check_inside(figure)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert {"90.0%\n90", "<0.1%\n1", ">99.9%\n2,999", "–"} <= set(said)
    assert sum(patch.get_linewidth() > 1 for patch in figure.axes[0].patches) == 2


def test_forest_plot_ends_sets_without_an_end_in_arrows() -> None:
    with matplotlib.rc_context(SETTINGS):
        figure = forest_plot(
            [NARROW, UNBOUNDED, BOUNDS, NARROW._replace(kind="refuted")],
            kinds=["fixed-sample", "bounds", "refuted"],
            x_label="x",
            heading="numbers",
            zero="no difference",
            hollow=["refuted"],
        )
        check_inside(figure)
    (cell,) = figure.subfigs[0].axes
    assert [line.get_marker() for line in cell.lines].count("<") == 1
    assert [line.get_marker() for line in cell.lines].count(">") == 1
    assert not [line for line in cell.lines if isinstance(line.get_marker(), Path)]
    assert marks_in_words([NARROW, UNBOUNDED]) == " An arrow: the set has no end on that side."
    assert marks_in_words([NARROW, BOUNDS]) == ""
    (bar,) = [patch for patch in cell.patches if isinstance(patch, Rectangle)]
    assert (bar.get_x(), bar.get_width()) == pytest.approx((-0.2, 0.5))
    assert [line.get_markerfacecolor() for line in cell.lines].count("white") == 1  # what is refuted is hollow


def test_forest_plot_cuts_sets_that_end_beyond_the_axis() -> None:
    far = [NARROW, NARROW._replace(pieces=[(-40.0, 50.0)]), NARROW._replace(pieces=[(-math.inf, -7.0), (6.0, 9.0)])]
    with matplotlib.rc_context(SETTINGS):
        figure = forest_plot(far, kinds=["fixed-sample"], x_label="x", heading="numbers", zero="no difference")
        check_inside(figure)
    (cell,) = figure.subfigs[0].axes
    marks = [line.get_marker() for line in cell.lines]
    assert sum(isinstance(mark, Path) for mark in marks) == 5
    assert (marks.count("<"), marks.count(">")) == (1, 0)
    assert "Two slashes: it ends beyond the axis" in marks_in_words(far)


def test_the_legend_of_a_forest_plot_leaves_out_what_is_withheld() -> None:
    withheld = NARROW._replace(kind="withheld", value=None, pieces=[], text="withheld")
    with matplotlib.rc_context(SETTINGS):
        figure: Any = forest_plot(
            [NARROW, withheld], kinds=["fixed-sample", "withheld"], x_label="x", heading="numbers", zero="none"
        )
        check_inside(figure)
    (legend,) = (one for part in figure.subfigs for one in part.legends)
    assert [text.get_text() for text in legend.get_texts()] == ["fixed-sample", "none (zero)"]


def test_axis_keeps_the_narrowest_interval_in_sight() -> None:
    low, high = axis_limits([NARROW, NARROW._replace(pieces=[(-40.0, 50.0)])])
    assert low <= 0.0 < 0.05 <= high < 2.0
    assert axis_limits([NARROW._replace(value=None, pieces=[])]) == (-0.1, 0.1)
    beyond = [NARROW, NARROW._replace(value=39.0, pieces=[(-40.0, 50.0)])]
    assert axis_limits(beyond) == axis_limits(beyond[:1])  # no effect can be there
    assert "A hollow triangle: the estimate lies beyond the axis" in marks_in_words(beyond)
    assert "triangle" not in marks_in_words(beyond[:1])


def test_band_over_time_shows_the_end_large_and_zero_always() -> None:
    times = range(10, 1001, 10)
    band = Band("all", times, [0.3 - 5 / t for t in times], [0.3 + 5 / t for t in times], 0.3, (0.29, 0.31), 600)
    assert is_cut(band)
    assert not is_cut(band._replace(times=times[50:], low=band.low[50:], high=band.high[50:]))
    with matplotlib.rc_context(SETTINGS):
        figure = band_over_time([band, band, band], y_label="difference", band="sequence", beside="fixed")
        check_inside(figure)
    for cell in figure.subfigs[0].axes:
        low, high = cell.get_ylim()
        assert low < 0.0 < 0.305 < high < 0.8
