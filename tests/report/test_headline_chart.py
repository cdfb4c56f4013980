from __future__ import annotations

import numpy as np
import polars

from adhere.intervals import Estimate
from adhere.report.headline_chart import HeadlineRow, headline_dots, headline_growth


def test_a_dot_with_its_interval_for_each_row_and_a_band_where_there_is_one() -> None:
    rows = [
        HeadlineRow("Thompson", Estimate(7.1, 0.2, 6.7, 7.5), (7.2, 8.7)),
        HeadlineRow("one run", Estimate(-2.0, None, None, None), warn=True),
    ]
    figure = headline_dots("A title", rows, "lives saved", "the paper's")
    figure.draw_without_rendering()
    (cell,) = figure.axes
    drawn = [np.asarray(line.get_xdata(), float).tolist() for line in cell.get_lines()]
    assert drawn == [[6.7, 7.5], [7.1], [-2.0], [0, 0]]
    assert len(cell.collections) == 1
    assert [text.get_text() for text in cell.texts] == ["Thompson", "one run"]
    low, high = cell.get_xlim()
    assert low < -2.0 < 8.7 < high


def test_curves_on_logarithmic_axes_have_numbers_that_can_be_read() -> None:
    table = polars.DataFrame(
        [
            {"name": name, "n_patients": t, "mean": factor * t, "low": -1.0, "high": 2.0 * factor * t}
            for name, factor in {"a": 0.2, "b": 0.01}.items()
            for t in (100, 10_000, 1_000_000)
        ]
    )
    figure = headline_growth("Growth", table, {"a": True, "b": False}, {"a": "Actual", "b": "Chosen"})
    figure.draw_without_rendering()
    (cell,) = figure.axes
    assert [text.get_text() for text in cell.get_xticklabels()] == ["100", "10,000", "1,000,000"]
    assert "$" not in "".join(text.get_text() for text in cell.get_yticklabels())
    legend = cell.get_legend()
    assert legend is not None
    actual, chosen = legend.get_texts()
    assert (actual.get_text(), chosen.get_text()) == ("Actual", "Chosen")
    assert actual.get_color() != chosen.get_color()
