from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
import polars as pl
import pytest

from adhere.errors import InputError
from adhere.report.lines import Level, lines
from adhere.report.style import SETTINGS, broken, figure_file, width_of

PANELS = ["EXP3", "ε-greedy", "UCB1", "Thompson"]
SERIES = ["Chosen", "Actual", "Comply", "Hierarchical", "Thompson-bounded"]
LONG = "thompson-bounded(hierarchical(epsilon-greedy, top=exp3(gamma=0.085)), recycle=true)"
NOTE = "Mean of 2,000 runs of 10,000 patients, seed 0; bands are 95% intervals of the mean, said so as to wrap."


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    with matplotlib.rc_context(SETTINGS):
        yield


def a_table(panels: list[str], series: list[str], n_patients: int = 10_000, scale: float = 1.0) -> pl.DataFrame:
    rng = random.Random(0)
    t = np.linspace(0, n_patients, 21)
    parts = []
    for panel in panels:
        for name in series:
            mean = scale * rng.uniform(-5, 15) * (t / n_patients) ** rng.uniform(0.5, 1.5)
            half = scale * 0.5 * np.sqrt(t / n_patients)
            parts.append(pl.DataFrame({"x": t, "mean": mean, "low": mean - half, "high": mean + half}))
            parts[-1] = parts[-1].with_columns(panel=pl.lit(panel), series=pl.lit(name))
    return pl.concat(parts)


def drawn(table: pl.DataFrame, **options: Any) -> Any:
    zero = Level(0.0, "uniform randomisation (zero)")
    options = {"x_label": "patients", "y_label": "surplus (lives)", "level": zero, **options}
    figure: Any = lines(table, **options)
    figure.draw_without_rendering()
    return figure


def check_readable(figure: Any) -> None:
    """No text is small, cut off, or on top of another."""
    assert figure.get_figwidth() == 4.8
    unseen = {label for panel in figure.axes for label in ticks_beyond(panel.xaxis) + ticks_beyond(panel.yaxis)}
    texts = [text for text in figure.findobj(matplotlib.text.Text) if text.get_visible() and text not in unseen]
    texts = [text for text in texts if text.get_text().strip()]
    boxes = [text.get_window_extent() for text in texts]
    assert min(text.get_fontsize() for text in texts) >= 7
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
    for (one, its), (other, others) in combinations(zip(texts, boxes, strict=True), 2):
        assert not its.overlaps(others), (one.get_text(), other.get_text())


def ticks_beyond(axis: Any) -> list[Any]:
    """Labels that matplotlib makes for round numbers beyond the axis, and does not draw."""
    low, high = sorted(axis.get_view_interval())
    beyond = [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
    return [label for tick in beyond for label in (tick.label1, tick.label2)]


@pytest.mark.parametrize("share_y", [True, False])
@pytest.mark.parametrize(
    ("panels", "series", "n_columns"),
    [
        (PANELS, SERIES, 2),
        (PANELS[:3], SERIES, 2),
        (PANELS[:1], SERIES, 2),
        (PANELS, SERIES[:1], 1),
        ([f"a population of {one}, fully named" for one in PANELS], [f"{LONG} {k}" for k in range(24)], 3),
    ],
)
def test_no_text_covers_another_or_is_cut(
    panels: list[str], series: list[str], n_columns: int, share_y: bool
) -> None:
    table = a_table(panels, series, scale=100.0)
    label = "surplus reward (e.g. lives saved) over uniform randomisation, after so many patients"
    figure = drawn(table, n_columns=n_columns, share_y=share_y, y_label=label, note=NOTE)
    check_readable(figure)


def test_what_is_drawn_is_what_the_table_has() -> None:
    table = a_table(PANELS, SERIES)
    figure = drawn(table.sample(fraction=1.0, shuffle=True, seed=1).sort("panel", "series"))
    order = sorted(SERIES)
    assert [panel.get_title("left") for panel in figure.axes] == sorted(PANELS)
    for panel in figure.axes:
        *curves, zero = panel.get_lines()
        assert list(zero.get_ydata()) == [0, 0]
        for curve, band, name in zip(curves, panel.collections, order, strict=True):
            its = table.filter(pl.col("panel") == panel.get_title("left"), pl.col("series") == name)
            assert curve.get_xdata().tolist() == its["x"].to_list()
            assert curve.get_ydata().tolist() == its["mean"].to_list()
            corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
            assert corners >= set(zip(its["x"], its["low"], strict=True)) | set(
                zip(its["x"], its["high"], strict=True)
            )


def looks(panel: Any) -> list[tuple[str, object]]:
    # get_linestyle says "--" of every dash pattern; the pattern itself tells them apart.
    return [(line.get_color(), f"{line._dash_pattern} {line.get_marker()}") for line in panel.get_lines()]


def test_a_series_looks_the_same_in_every_panel_even_where_another_is_missing() -> None:
    table = a_table(PANELS, SERIES).filter((pl.col("panel") != "UCB1") | (pl.col("series") != "Actual"))
    figure = drawn(table)
    assert len({tuple(looks(panel)) for panel in figure.axes}) == 1
    assert all(len(line.get_xdata()) == 0 for line in figure.axes[2].get_lines()[1:2])


def test_looks_of_24_series_differ_and_of_five_even_without_colour() -> None:
    (panel,) = drawn(a_table(PANELS[:1], [f"series {k}" for k in range(24)])).axes
    assert len(set(looks(panel)[:-1])) == 24
    assert len({dashes for _, dashes in looks(panel)[:5]}) == 5
    assert looks(panel)[-1] not in looks(panel)[:-1]


def test_lines_of_like_colours_differ_in_more_than_their_dashes() -> None:
    (panel,) = drawn(a_table(PANELS[:1], SERIES)).axes
    _, vermilion, _, _, orange, _ = panel.get_lines()
    assert (vermilion.get_linestyle(), vermilion.get_marker()) == ("--", "None")
    assert (orange.get_linestyle(), orange.get_marker()) == ("-", "v")


def test_numbers_on_the_axes() -> None:
    figure = drawn(a_table(PANELS, SERIES))
    assert figure.subfigs[0].get_supxlabel() == "patients"
    for panel in figure.axes:
        assert [text.get_text() for text in panel.get_xticklabels()] == ["0", "5,000", "10,000"]
    small = drawn(a_table(PANELS, SERIES, n_patients=12, scale=0.01)).axes[-1]
    assert [text.get_text() for text in small.get_xticklabels()][:2] in (["0", "2"], ["0", "2.5"], ["0", "5"])


def test_y_axes_are_shared_by_default() -> None:
    table = a_table(PANELS, SERIES).with_columns(
        pl.col("mean", "low", "high") * pl.when(pl.col("panel") == "EXP3").then(10).otherwise(1)
    )
    assert len({panel.get_ylim() for panel in drawn(table).axes}) == 1
    assert len({panel.get_ylim() for panel in drawn(table, share_y=False).axes}) == 4


def test_the_legend_says_all_and_the_note_is_whole() -> None:
    names = [*SERIES, LONG]
    figure = drawn(a_table(PANELS, names), note=NOTE)
    below = figure.subfigs[1]
    labels = [text.get_text().replace("\n", " ") for text in below.legends[0].get_texts()]
    assert labels == [*names, "uniform randomisation (zero)"]
    handles = [handle.get_color() for handle in below.legends[0].get_lines()]
    assert handles == [colour for colour, _ in looks(figure.axes[0])]
    assert " ".join(below.texts[0].get_text().split()) == NOTE


def test_no_band_where_one_run_says_no_interval() -> None:
    table = a_table(PANELS[:1], SERIES[:1]).with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    (panel,) = drawn(table).axes
    assert not any(len(band.get_paths()) for band in panel.collections)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_table_is_the_same_file(suffix: str) -> None:
    table = a_table(PANELS, SERIES)
    assert figure_file(drawn(table), suffix) == figure_file(drawn(table), suffix)


def test_a_table_without_what_is_needed_is_refused() -> None:
    table = a_table(PANELS, SERIES)
    with pytest.raises(InputError, match="the columns low, high too"):
        drawn(table.drop("low", "high"))
    with pytest.raises(InputError, match="finite mean"):
        drawn(table.clear())


@pytest.mark.parametrize("inches", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("text", [LONG, NOTE, "a" * 60])
def test_broken_text_fits_and_is_whole(text: str, inches: float) -> None:
    parts = broken(text, inches)
    assert max(width_of(part, 7) for part in parts) <= inches
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
