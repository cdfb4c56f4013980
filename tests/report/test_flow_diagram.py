from __future__ import annotations

from itertools import combinations

import polars
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from adhere.report.flow_diagram import flow_diagram

BOXES = [
    ("randomised", None, None, None, 1_000_020),
    ("left out", None, None, None, 20),
    ("analysed", None, None, None, 1_000_000),
    ("allocated", "walking", "none", None, 600_000),
    ("taken", "walking", "none", "none", 450_000),
    ("taken", "walking", "none", "walk", 150_000),
    ("allocated", "walking", "walk", None, 400_000),
    ("taken", "walking", "walk", "none", 100_000),
    ("taken", "walking", "walk", "walk", 300_000),
    ("allocated", "classes", "none", None, 1_000_000),
    ("taken", "classes", "none", "none", 1_000_000),
]


@pytest.fixture(scope="module")
def figure() -> Figure:
    table = polars.DataFrame(BOXES, schema=["step", "trial", "allocated", "taken", "patients"], orient="row")
    figure = flow_diagram(table)
    figure.canvas.draw()
    return figure


def drawn(figure: Figure) -> dict[str, Rectangle]:
    """The box around each text."""
    (axes,) = figure.axes
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    found = {}
    for text in words(figure):
        centre = text.get_transform().transform(text.get_position())
        around = [box for box in boxes if box.get_window_extent().contains(*centre)]
        if around:
            (found[text.get_text()],) = around
    assert len(found) == len(boxes)
    return found


def words(figure: Figure) -> list[Text]:
    return [text for text in figure.axes[0].texts if text.get_text()]


def test_every_number_is_in_a_box(figure: Figure) -> None:
    assert list(drawn(figure)) == [
        "randomised: 1,000,020",
        "left out: 20\n(compliance unknown)",
        "analysed: 1,000,000",
        "walking trial: 1,000,000",
        "allocated none: 600,000",
        "took none: 450,000 (75.0%)",
        "took walk: 150,000 (25.0%)",
        "allocated walk: 400,000",
        "took none: 100,000 (25.0%)",
        "took walk: 300,000 (75.0%)",
        "classes trial: 1,000,000",
        "allocated none: 1,000,000",
        "took none: 1,000,000 (100.0%)",
    ]


def test_who_did_as_told_is_seen_without_colour(figure: Figure) -> None:
    dashed = [text for text, box in drawn(figure).items() if box.get_linestyle() == "--"]
    assert dashed == ["took walk: 150,000 (25.0%)", "took none: 100,000 (25.0%)"]
    assert any("Dashed" in text.get_text() for text in words(figure))


def test_texts_are_inside_their_boxes_and_boxes_apart(figure: Figure) -> None:
    boxes = drawn(figure)
    for text in words(figure):
        assert float(text.get_fontsize()) >= 7
        around = boxes[text.get_text()].get_window_extent() if text.get_text() in boxes else figure.bbox
        extent = text.get_window_extent()
        assert around.x0 < extent.x0 < extent.x1 < around.x1
        assert around.y0 < extent.y0 < extent.y1 < around.y1
    for one, other in combinations(boxes.values(), 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent())
    note = next(text for text in words(figure) if text.get_text() not in boxes).get_window_extent()
    for box in boxes.values():
        assert not box.get_window_extent().overlaps(note)


def test_an_arrow_leads_to_every_box_but_the_first(figure: Figure) -> None:
    (axes,) = figure.axes
    ends = [axes.transData.transform(line.get_xydata())[-1] for line in axes.get_lines()]
    for number, box in enumerate(drawn(figure).values()):
        extent = box.get_window_extent().padded(1)
        assert sum(extent.contains(*end) for end in ends) == (1 if number else 0)
