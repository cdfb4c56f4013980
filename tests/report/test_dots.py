from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from adhere.errors import InputError
from adhere.report.dots import Reference, dots
from adhere.report.style import SETTINGS, figure_file, look

from .test_lines import check_readable

LEARNERS = ["EXP3", "ε-greedy", "UCB1", "Thompson"]
STRATEGIES = ["Chosen", "Actual", "Comply", "Hierarchical", "Thompson-bounded"]
TRIALS = ["aspirin", "heparin", "pooled"]
LONG = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"
NOTE = "Mean of 2,000 runs of 10,000 patients, seed 0; bars are 95% intervals of the mean, said so as to wrap."
Entry = tuple[str, str, str, str]


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    with matplotlib.rc_context(SETTINGS):
        yield


def a_table(entries: Sequence[Entry], outlier: float | None = None) -> pl.DataFrame:
    rng = random.Random(0)
    rows = []
    for group, row, panel, style in entries:
        far = outlier is not None and group == "EXP3" and row != "Chosen"
        mean, half = outlier if far and outlier is not None else rng.uniform(2, 13), rng.uniform(0.1, 0.6)
        rows.append((group, row, panel, style, mean, mean - half, mean + half))
    return pl.DataFrame(rows, ["group", "row", "panel", "style", "mean", "low", "high"], orient="row")


def drawn(table: pl.DataFrame, **options: Any) -> Any:
    figure: Any = dots(table, **{"x_label": "lives", **options})
    figure.draw_without_rendering()
    return figure


def stroke(n_trials: int = 3) -> list[Entry]:
    return [(one, two, trial, two) for one in LEARNERS for two in STRATEGIES for trial in TRIALS[:n_trials]]


SIZES = {
    "five rows": [("", row, "pooled", "") for row in STRATEGIES],
    "the stroke trial": stroke(),
    "55 rows": [
        (f"group {k % 7}", f"row number {k}", trial, STRATEGIES[k % 5]) for k in range(55) for trial in TRIALS
    ],
    "long names": [("a group of long names", f"{LONG} {k}", trial, LONG[:60]) for k in range(4) for trial in TRIALS],
    "several in a row": [(one, two, "a", style) for one in LEARNERS for two in STRATEGIES for style in ("γ", "γ/10")],
    "four panels": [("", row, f"{row} {trial}", "") for row in STRATEGIES[:1] for trial in "abcd"],
    "seven long panels": [("", row, f"a population of {trial}", "") for row in LEARNERS for trial in "abcdefg"],
}


@pytest.mark.parametrize("entries", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("outlier", [None, -98.7])
def test_no_text_covers_another_or_is_cut(entries: list[Entry], outlier: float | None) -> None:
    check_readable(drawn(a_table(entries, outlier), note=NOTE))


@pytest.mark.parametrize("entries", SIZES.values(), ids=SIZES)
def test_labels_stand_beside_panels_and_panels_keep_a_width(entries: list[Entry]) -> None:
    figure = drawn(a_table(entries))
    for panel in figure.axes:
        assert panel.bbox.width > 0.75 * figure.dpi
        for label in labels(figure):
            assert not label.get_window_extent().overlaps(panel.bbox)


def labels(figure: Any) -> list[Any]:
    """The row labels and headings, which stand to the left of the panel they belong to."""
    return [text for panel in figure.axes for text in panel.texts if text.get_window_extent().x1 < panel.bbox.x0]


def intervals(panel: Any) -> dict[float, tuple[float, float]]:
    """The bars drawn in a panel, by their height."""
    lines = [one for one in panel.collections if isinstance(one, LineCollection) and one.get_zorder() > 0]
    return {bar[0][1]: (bar[0][0], bar[1][0]) for one in lines for bar in one.get_segments()}


def points(panel: Any, markers: str) -> dict[float, tuple[float, str, str]]:
    found = [line for line in panel.get_lines() if line.get_marker() in list(markers)]
    looks = [(x, y, line.get_color(), line.get_marker()) for line in found for x, y in line.get_xydata()]
    return {y: (x, colour, marker) for x, y, colour, marker in looks}


def bands(panel: Any) -> list[Any]:
    """The boxes of the references drawn in a panel."""
    return [one.get_paths()[0].get_extents() for one in panel.collections if isinstance(one, PolyCollection)]


def test_every_interval_is_drawn_as_the_table_has_it() -> None:
    table = a_table(stroke())
    figure = drawn(table)
    assert [panel.get_title("left") for panel in figure.axes] == TRIALS
    for panel, trial in zip(figure.axes, TRIALS, strict=True):
        its = table.filter(pl.col("panel") == trial)
        bars, means = intervals(panel), points(panel, "os^Dv")
        assert [bars[y] for y in sorted(bars)] == list(zip(its["low"], its["high"], strict=True))
        assert [means[y][0] for y in sorted(means)] == its["mean"].to_list()
        assert len({means[y][1:] for y in means}) == 5
        low, high = panel.get_xlim()
        assert low < 0 < max(its["high"].to_list()) < high


def test_rows_stand_beside_their_labels_under_their_headings() -> None:
    table = a_table(stroke()).sample(fraction=1.0, shuffle=True, seed=3)
    figure = drawn(table)
    heights = {text.xy[1]: text for text in labels(figure)}
    heading, order = "", []
    for y in sorted(heights):
        if heights[y].get_fontweight() == "bold":
            heading = heights[y].get_text()
            continue
        order.append((heading, heights[y].get_text()))
        for panel, trial in zip(figure.axes, table["panel"].unique(maintain_order=True), strict=True):
            one = table.row(by_predicate=_is(heading, heights[y].get_text(), trial), named=True)
            assert intervals(panel)[y] == (one["low"], one["high"])
    seen = list(dict.fromkeys(zip(table["group"], table["row"], strict=True)))
    groups = list(dict.fromkeys(group for group, _ in seen))
    assert order == [one for group in groups for one in seen if one[0] == group]


def _is(group: str, row: str, panel: str) -> pl.Expr:
    return (pl.col("group") == group) & (pl.col("row") == row) & (pl.col("panel") == panel)


def caps(panel: Any) -> list[list[float]]:
    return [point.tolist() for line in panel.get_lines() if line.get_marker() == "|" for point in line.get_xydata()]


def test_caps_stay_clear_of_the_dot_and_a_hidden_interval_is_announced() -> None:
    table = a_table([("", row, "a", "") for row in ("wide", "narrow", "right")])
    lefts, rights = ({"wide": 2.0, "narrow": 0.01, "right": right} for right in (0.01, 2.0))
    table = table.with_columns(
        low=pl.col("mean") - pl.col("row").replace_strict(lefts),
        high=pl.col("mean") + pl.col("row").replace_strict(rights),
    )
    figure = drawn(table, note=NOTE)
    (panel,) = figure.axes
    (dots,) = (line for line in panel.get_lines() if line.get_marker() == "o")
    wide, _, right = dots.get_ydata()
    low, high = table["low"].to_list(), table["high"].to_list()
    assert caps(panel) == [[low[0], wide], [high[0], wide], [high[2], right]]
    radius = dots.get_markersize() / 2 * figure.dpi / 72
    for x, y in caps(panel):
        away = panel.transData.transform([(x, y), (table["mean"][[wide, _, right].index(y)], y)])[:, 0]
        assert abs(away[0] - away[1]) > radius
    assert all(dots.get_zorder() > one.get_zorder() for one in panel.collections)
    said = "Where no bar is seen, the interval is narrower than the mark."
    assert " ".join(figure.subfigs[1].texts[0].get_text().split()) == f"{NOTE} {said}"
    seen = drawn(table.filter(pl.col("row") != "narrow"), note=NOTE)
    assert " ".join(seen.subfigs[1].texts[0].get_text().split()) == NOTE


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_no_bar_where_one_run_says_no_interval(nothing: float | None) -> None:
    table = a_table([("", "one", "a", "")]).with_columns(
        low=pl.lit(nothing, pl.Float64), high=pl.lit(nothing, pl.Float64)
    )
    (panel,) = drawn(table).axes
    assert not intervals(panel)
    assert len(points(panel, "o")) == 1


def test_panels_may_have_the_same_axis_which_holds_just_all_their_intervals() -> None:
    table = a_table(stroke(2))
    aspirin, heparin = drawn(table, same_axis=["heparin"]).axes
    own = table.filter(panel="heparin")
    assert aspirin.get_xlim()[0] < 0 < heparin.get_xlim()[0] < min(own["low"])
    aspirin, heparin = drawn(table, same_axis=["aspirin", "heparin"]).axes
    (low, high), (lowest, highest) = aspirin.get_xlim(), (min(table["low"]), max(table["high"]))
    assert heparin.get_xlim() == (low, high)
    assert 0 < low < lowest < highest < high


def legend(figure: Any) -> list[str]:
    (below,) = (part for part in figure.subfigs if part.legends)
    return [text.get_text().replace("\n", " ") for text in below.legends[0].get_texts()]


def test_the_legend_says_all_and_the_note_is_whole() -> None:
    references = [Reference("the paper", "pooled", 7.2, 8.7, 7.9), Reference("another", "pooled", 8.1, 9.7, 8.9)]
    figure = drawn(a_table(stroke()), references=references, note=NOTE)
    assert legend(figure) == [*STRATEGIES, "the paper", "another", "uniform randomisation (zero)"]
    assert " ".join(figure.subfigs[1].texts[0].get_text().split()).startswith(NOTE)
    assert legend(drawn(a_table(stroke()).drop("style"), zero="nothing given")) == ["nothing given (zero)"]


def test_without_zero_the_axis_need_not_reach_it() -> None:
    table = a_table(SIZES["five rows"]).with_columns(pl.col("mean", "low", "high") + 1000)
    (panel,) = drawn(table, zero="").axes
    assert panel.get_xlim()[0] > 900
    assert drawn(table).axes[0].get_xlim()[0] < 0


def test_references_are_bands_through_a_panel_or_through_a_group() -> None:
    table = a_table(stroke())
    whole, one_group = (
        drawn(table, references=[Reference("paper", "pooled", 7.2, 18.7, 7.9, group=group)]).axes
        for group in (None, "UCB1")
    )
    for axes in (whole, one_group):
        assert [len(bands(panel)) for panel in axes] == [0, 0, 1]
        assert axes[2].get_xlim()[1] > 18.7
        (box,) = bands(axes[2])
        assert (box.x0, box.x1) == (7.2, 18.7)
    heights = sorted(intervals(one_group[2]))
    (box,) = bands(one_group[2])
    assert [y for y in heights if box.y0 < y < box.y1] == heights[10:15]
    (box,) = bands(whole[2])
    assert all(box.y0 < y < box.y1 for y in heights)


def test_looks_of_24_styles_differ() -> None:
    entries = [("", f"row {k}", "a", f"style {k}") for k in range(24)]
    (panel,) = drawn(a_table(entries)).axes
    assert len({found[1:] for found in points(panel, "os^DvPX*").values()}) == 24
    assert len({marker for _, _, marker in list(points(panel, "os^DvPX*").values())[:5]}) == 5


def test_the_legend_shows_a_reference_without_width_as_the_line_that_it_is() -> None:
    references = [Reference("95%", "pooled", 0.95, 0.95, 0.95), Reference("the paper", "pooled", 7.2, 8.7, 7.9)]
    figure = drawn(a_table(stroke()), references=references)
    (line,) = (one for cell in figure.axes for one in cell.lines if list(one.get_xdata()) == [0.95, 0.95])
    (legend,) = (one for part in figure.subfigs for one in part.legends)
    swatches = dict(zip([text.get_text() for text in legend.get_texts()], legend.legend_handles, strict=True))
    assert isinstance(swatches["95%"], Line2D)
    for what in ("get_linestyle", "get_color", "get_linewidth"):
        assert getattr(swatches["95%"], what)() == getattr(line, what)()
    assert swatches["95%"].is_dashed() == line.is_dashed() is True
    assert isinstance(swatches["the paper"], Patch)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_table_is_the_same_file(suffix: str) -> None:
    table = a_table(stroke(), outlier=-98.7)
    files = [figure_file(drawn(table, same_axis=["pooled"]), suffix) for _ in range(2)]
    assert files[0] == files[1]


def test_pixels() -> None:
    figure = drawn(a_table(stroke()))
    figure.set_dpi(200)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3] / 255
    for number in range(5):
        colour = matplotlib.colors.to_rgb(look(number, "o")[0])
        assert (np.abs(pixels - colour).max(axis=2) < 0.02).sum() > 500


def test_what_cannot_be_drawn_is_refused() -> None:
    table = a_table(stroke())
    with pytest.raises(InputError, match="nowhere"):
        drawn(table, references=[Reference("paper", "nowhere", 0, 1, 0.5)])
    with pytest.raises(InputError, match="no group"):
        drawn(table, references=[Reference("paper", "pooled", 0, 1, 0.5, group="no group")])
    with pytest.raises(InputError, match="one estimate"):
        drawn(pl.concat([table, table.head(1)]))
    with pytest.raises(InputError, match="the columns panel too"):
        drawn(table.drop("panel"))
    for wrong in (table.clear(), table.with_columns(mean=pl.lit(None, pl.Float64))):
        with pytest.raises(InputError, match="finite mean"):
            drawn(wrong)
