from __future__ import annotations

from typing import Any

import numpy as np
import polars
import pytest

from adhere.report.lines import Guide, lines

from .layout import check_apart_and_inside

T = [100, 1000, 10_000]
POWERS = {"one": 1.0, "half": 0.5, "a-policy-with-a-long-name(hierarchical(epsilon-greedy))": 0.1}


def a_table(panels: tuple[str, ...] = ("left", "right"), width: float = 0.2) -> polars.DataFrame:
    rows = [
        {"panel": panel, "series": name, "x": t, "mean": t**power}
        for panel in panels
        for name, power in POWERS.items()
        for t in T
        if (panel, name) != ("right", "half")
    ]
    mean = polars.col("mean")
    return polars.DataFrame(rows).with_columns(low=mean * (1 - width), high=mean * (1 + width))


def curves(table: polars.DataFrame, scale: str = "log", guides: list[Guide] | None = None) -> Any:
    return drawn(table, log_y=scale == "log", guides=guides or [])


def drawn(table: polars.DataFrame, **options: Any) -> Any:
    options = {"log_y": True, "n_columns": 1, **options}
    return lines(table, x_label="patients, T", y_label="regret", share_y=False, log_x=True, **options)


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("width", [0.2, 3.0])
def test_nothing_covers_anything_and_nothing_sticks_out(scale: str, width: float) -> None:
    guides = [Guide("T", 1.0, 0.5), Guide("√T", 0.5, 1.0)]
    figure = curves(a_table(width=width), scale, guides)
    check_apart_and_inside(figure)


def test_what_is_drawn() -> None:
    table = a_table()
    above, below = curves(table).subfigs
    left, right = above.axes
    assert [panel.get_title("left") for panel in above.axes] == ["left", "right"]
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    assert (above.get_supxlabel(), above.get_supylabel()) == ("patients, T", "regret")
    assert len(left.get_lines()) == 3
    assert [len(line.get_xdata()) for line in right.get_lines()] == [3, 0, 3]
    assert np.array_equal(left.get_lines()[1].get_xdata(), T)
    assert left.get_lines()[1].get_ydata() == pytest.approx(np.sqrt(T))
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in left.get_lines()]
    assert len(set(looks)) == len({colour for colour, *_ in looks}) == len({marker for *_, marker in looks}) == 3
    # A series looks the same in the panel that lacks another.
    assert right.get_lines()[2].get_color() == looks[2][0]
    assert [text.get_text().replace("\n", "") for text in below.legends[0].get_texts()] == list(POWERS)


def test_panels_may_stand_in_two_columns() -> None:
    figure = drawn(a_table(("left", "right", "below")), n_columns=2, note="95% intervals.")
    check_apart_and_inside(figure)
    left, right, below = figure.subfigs[0].axes
    assert left.get_position().y0 == pytest.approx(right.get_position().y0, abs=0.01)
    assert below.get_position().y1 < left.get_position().y0
    assert len(left.get_yticks()) > 2


def test_every_point_has_its_interval() -> None:
    (panel,) = curves(a_table(("left",))).subfigs[0].axes
    ends = [[tuple(end) for end in bar] for bars in panel.collections for bar in bars.get_segments()]
    assert len(ends) == 9
    assert ends[1] == [(1000.0, pytest.approx(800.0)), (1000.0, pytest.approx(1200.0))]


def test_intervals_below_zero_leave_a_logarithmic_axis_as_it_is() -> None:
    (panel,) = curves(a_table(("left",), width=3.0)).subfigs[0].axes
    bottom, top = panel.get_ylim()
    assert 0.1 < bottom < 100**0.1
    assert top > 4 * 10_000
    (panel,) = curves(a_table(("left",), width=3.0), "linear").subfigs[0].axes
    assert panel.get_ylim()[0] <= -2 * 10_000


def test_guides_have_their_slope_and_stay_in_their_panel() -> None:
    guides = [Guide("T", 1.0, 0.3, "left"), Guide("√T", 0.5, 2.0)]
    left, right = curves(a_table(), guides=guides).subfigs[0].axes
    lines = left.get_lines()[3:]
    assert [text.get_text() for text in left.texts] == ["T", "√T"]
    assert [text.get_text() for text in right.texts] == ["√T"]
    for line, guide in zip(lines, guides, strict=True):
        t, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert y == pytest.approx(guide.factor * t**guide.power)
        assert T[0] <= t[0] * 1.0001
        assert t[-1] <= T[-1] * 1.0001
