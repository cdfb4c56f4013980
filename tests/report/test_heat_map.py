from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib
import polars as pl
import pytest
from matplotlib.patches import Rectangle

from adhere.errors import InputError
from adhere.report.heat_map import heat_map
from adhere.report.style import SETTINGS

ROWS = ["thompson/actual", "thompson-bounded(mediated-thompson)", "floor(thompson, share=0.05, rule=clip)"]
COLUMNS = ["unconfounded", "mildly confounded", "stroke"]
MEANS = [(0.06, -0.497, -1.03), (0.02, -0.001, 0.0), (-0.3, 0.0841, 0.2)]
LABEL = "difference from Thompson/Chosen, in shares of the best possible surplus"


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    with matplotlib.rc_context(SETTINGS):
        yield


def a_table() -> pl.DataFrame:
    """Nine cells, with intervals of ±0.01."""
    cells = [
        (row, column, mean, mean - 0.01, mean + 0.01)
        for row, means in zip(ROWS, MEANS, strict=True)
        for column, mean in zip(COLUMNS, means, strict=True)
    ]
    return pl.DataFrame(cells, ["row", "column", "mean", "low", "high"], orient="row")


def drawn(table: pl.DataFrame, **options: Any) -> Any:
    figure: Any = heat_map(table, label=LABEL, **options)
    figure.canvas.draw()
    return figure


def numbers(figure: Any) -> dict[str, Any]:
    return {text.get_text(): text for text in figure.axes[0].texts if text.get_ha() == "center"}


def test_every_cell_has_its_number_and_what_is_beyond_chance_is_marked() -> None:
    figure = drawn(a_table())
    found = numbers(figure)
    assert list(found) == ["+.060", "−.497", "−1.03", "+.020", "−.001", ".000", "−.300", "+.084", "+.200"]
    bold = {said for said, text in found.items() if text.get_fontweight() == "bold"}
    assert bold == set(found) - {"−.001", ".000"}
    assert len(figure.axes[0].get_lines()) == len(bold)  # underlined too: weight alone is easily missed
    assert "bold and underlined: the 95% interval excludes 0" in "".join(text.get_text() for text in figure.texts)


def test_colours_say_the_sign_and_grow_with_the_number() -> None:
    cells = [one for one in drawn(a_table()).axes[0].patches if isinstance(one, Rectangle)]
    red, _, blue, _ = zip(*(one.get_facecolor() for one in cells), strict=True)
    warm = [r - b for r, b in zip(red, blue, strict=True)]
    assert warm[0] < 0 < warm[1] < warm[2]
    assert abs(warm[5]) < 1e-9  # nothing, white


def test_without_marks_there_are_numbers_alone() -> None:
    figure = drawn(a_table(), marks=False)
    assert next(iter(numbers(figure))) == ".060"
    assert not figure.axes[0].get_lines()
    assert not any("interval" in text.get_text() for text in figure.texts)


def test_no_text_covers_another_or_is_cut_and_a_missing_cell_stays_empty() -> None:
    figure = drawn(a_table()[:-1], note="Populations: 200 in each family, but stroke 2. " * 4)
    assert len(numbers(figure)) == 8
    texts = [one for one in figure.findobj(matplotlib.text.Text) if one.get_visible() and one.get_text().strip()]
    boxes = [text.get_window_extent() for text in texts]
    for text, box in zip(texts, boxes, strict=True):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, text
    straight = [box for text, box in zip(texts, boxes, strict=True) if text.get_rotation() == 0]
    assert not any(one.overlaps(other) for one, other in combinations(straight, 2))


def test_a_table_without_means_is_refused() -> None:
    with pytest.raises(InputError, match="mean"):
        heat_map(a_table().with_columns(mean=float("nan")), label="")
