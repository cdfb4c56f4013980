from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from PIL import Image

from adhere.report.section import ReportFigure
from adhere.report.style import figure_files

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Draws:
    """Draws a figure that depends on the settings in force, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.times = 0
        self.axes: Any = None

    def __call__(self) -> Figure:
        from matplotlib.figure import Figure

        self.times += 1
        figure = Figure(figsize=(4.8, 2.0), layout="constrained")
        self.axes = axes = figure.subplots()
        axes.plot([0, 1, 2], [0.1, 0.5, 0.3])
        axes.fill_between([0, 1, 2], [0, 0.4, 0.2], [0.2, 0.6, 0.4], alpha=0.2)
        axes.set_title("costs $5, not $6")
        return figure


def a_figure(draw: Any) -> ReportFigure:
    return ReportFigure("name", "caption", "alternative", draw)


def test_a_picture_and_a_drawing_of_the_size_asked_for() -> None:
    files = figure_files(a_figure(Draws()).draw)
    assert sorted(files) == [".png", ".svg"]
    with Image.open(io.BytesIO(files[".png"])) as picture:
        assert picture.format == "PNG"
        assert picture.size == (960, 400)  # 200 dots an inch
    root = ElementTree.fromstring(files[".svg"])
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.attrib["width"] == "345.6pt"


def test_drawn_once_in_the_house_style() -> None:
    draws = Draws()
    figure_files(a_figure(draws).draw)
    assert draws.times == 1
    assert not draws.axes.spines["top"].get_visible()
    assert draws.axes.xaxis.label.get_size() == 8
    assert not draws.axes.title.get_parse_math()


def test_the_same_figure_is_the_same_files() -> None:
    assert figure_files(a_figure(Draws()).draw) == figure_files(a_figure(Draws()).draw)


def test_no_settings_are_left_behind() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    figure_files(a_figure(Draws()).draw)
    assert dict(matplotlib.rcParams) == before
