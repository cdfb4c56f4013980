from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib
import polars as pl
import pytest

from adhere.errors import InputError
from adhere.report.frontier import frontier
from adhere.report.style import SETTINGS

# Loss and gain: a cloud near the origin and a few far away, as policies are.
POINTS = {
    "Thompson/Chosen": (0.0, 0.0),
    "mediated-thompson, odds 0.01": (-0.002, 0.018),
    "mediated-thompson": (0.0, 0.053),
    "mediated-thompson, odds 1": (-0.004, 0.084),
    "Stirn & Jebara (odds ∞)": (-0.08, 0.09),
    "thompson-bounded(mediated-thompson)": (-0.002, 0.02),
    "floor(mediated-thompson)": (-0.05, 0.01),
    "gittins": (0.001, 0.005),
    "UCB1": (-0.1, -0.1),
    "hac-ucb": (-0.15, -0.03),
    "HierarchicalBandit": (-0.21, -0.04),
    "Thompson/Actual": (-0.9, 0.06),
    "uniform": (-0.8, -0.8),
}


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    with matplotlib.rc_context(SETTINGS):
        yield


def a_table(points: dict[str, tuple[float, float]] = POINTS) -> pl.DataFrame:
    rows = [
        (name, "odds" if "mediated-thompson" in name[:17] or "∞" in name else None, x, x - 0.006, x + 0.006, y,
         y - 0.006, y + 0.006)
        for name, (x, y) in points.items()
    ]  # fmt: skip
    names = ["label", "series", "x", "x_low", "x_high", "y", "y_low", "y_high"]
    return pl.DataFrame(rows, names, orient="row")


def drawn(table: pl.DataFrame) -> Any:
    figure: Any = frontier(table, x_label="loss", y_label="gain", note="95% intervals over populations.")
    figure.canvas.draw()
    return figure


def named(figure: Any) -> list[Any]:
    return [text for panel in figure.axes for text in panel.texts if text.get_text()]


def test_each_point_is_named_once_and_no_name_covers_another_or_a_point() -> None:
    figure = drawn(a_table())
    texts = named(figure)
    assert sorted(text.get_text() for text in texts) == sorted(POINTS)
    boxes = [text.get_window_extent() for text in texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for text, box in zip(texts, boxes, strict=True):
        panel = text.axes
        assert panel.bbox.x0 <= box.x0 < box.x1 <= panel.bbox.x1
        for place in POINTS.values():
            assert not box.contains(*panel.transData.transform(place)), text


def test_what_nothing_dominates_is_marked_and_odds_are_joined() -> None:
    far, near = drawn(a_table()).axes
    for panel in (far, near):
        marks = {
            tuple(line.get_xydata()[0]): line.get_marker() for line in panel.get_lines() if len(line.get_xdata()) == 1
        }
        squares = {place for place, marker in marks.items() if marker == "s"}
        best = ("mediated-thompson", "mediated-thompson, odds 1", "Stirn & Jebara (odds ∞)", "gittins")
        assert squares == {POINTS[one] for one in best}
        joined = [line.get_xydata().tolist() for line in panel.get_lines() if len(line.get_xdata()) == 4]
        assert joined == [[list(POINTS[one]) for one in list(POINTS)[1:5]]]
    assert far.get_title(loc="left") == "every point"
    assert near.get_xlim()[0] > -0.2


def test_there_is_one_panel_where_nothing_is_far() -> None:
    few = {name: POINTS[name] for name in list(POINTS)[:5]}
    figure = drawn(a_table(few))
    assert len(figure.axes) == 1
    assert len(named(figure)) == 5


def test_points_at_one_place_and_a_single_one_are_drawn_too() -> None:
    alike = {f"policy number {number}": (0.0, 0.0) for number in range(8)}
    assert len(named(drawn(a_table(alike)))) == 8
    assert len(named(drawn(a_table({"alone": (0.0, 0.0)})))) == 1


def test_a_table_without_intervals_is_refused() -> None:
    with pytest.raises(InputError, match="x_low"):
        frontier(a_table().drop("x_low"), x_label="", y_label="")
