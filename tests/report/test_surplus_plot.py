from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from adhere.report.surplus_plot import COLOURS, LINE_STYLES, drawn, surplus_plot
from adhere.simulation import SimulationResult

from .layout import check_apart_and_inside
from .results import POPULATIONS, a_result

SIZES = [(1, 1), (2, 1), (20, 1), (1, 2), (2, 2), (20, 2)]
NOTES = ["Data: where they come from, and under what licence, said at such a length that it takes two lines."]


@pytest.mark.parametrize(("n_policies", "n_populations"), SIZES)
def test_nothing_covers_anything_and_nothing_sticks_out(n_policies: int, n_populations: int) -> None:
    figure: Any = surplus_plot(a_result(n_policies, n_populations), NOTES)
    check_apart_and_inside(figure)


def test_what_is_drawn() -> None:
    result = a_result(20, 2)
    figure = surplus_plot(result)
    panels, below = figure.subfigs
    assert [panel.get_title("left") for panel in panels.axes] == list(POPULATIONS)
    assert panels.axes[-1].get_xlabel() == "patients"
    assert "lives" in panels.axes[0].get_ylabel()
    lines = panels.axes[1].get_lines()
    along = result.outcomes[20].trajectory()
    assert np.array_equal(lines[0].get_xdata(), [0, *along.t])
    assert np.array_equal(lines[0].get_ydata(), [0, *along.mean])
    looks = {(line.get_color(), line.get_linestyle()) for line in lines}
    assert len(looks) == 21  # zero has a look of its own
    labels = [text.get_text() for text in below.legends[0].get_texts()]
    assert labels == [*(one.policy for one in result.outcomes[:20]), "uniform randomisation (zero)"]


def test_as_many_looks_as_colours_and_styles_allow() -> None:
    assert len(set(COLOURS)) == 8
    assert len(set(LINE_STYLES)) == 4


def test_a_single_run_has_no_band() -> None:
    (panel,) = surplus_plot(a_result(2, 1, n_runs=1)).subfigs[0].axes
    assert len(panel.collections) == 0
    (panel,) = surplus_plot(a_result(2, 1)).subfigs[0].axes
    assert len(panel.collections) == 2


def test_pixels() -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(drawn(a_result(2, 1), ".png")))[:, :, :3]
    for colour in COLOURS[:2]:
        assert (np.abs(pixels - to_rgb(colour)).max(axis=2) < 0.02).sum() > 500


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".SVG", b"<?xml"), (".pdf", b"%PDF")])
def test_the_same_result_is_the_same_file(suffix: str, start: bytes) -> None:
    result: SimulationResult = a_result(2, 1)
    first = drawn(result, suffix)
    assert first.startswith(start)
    assert drawn(result, suffix) == first
