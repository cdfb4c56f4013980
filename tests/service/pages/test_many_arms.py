"""Charts of a trial with more arms than the style sheet has colours."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adhere.service.pages.monitor.charts import drawn_values, enrolled_values
from adhere.service.pages.rendering import chart_spec
from adhere.service.pages.static_files import FILES
from adhere_client.responses.monitor import AllocationOverTime


@pytest.mark.parametrize("n_arms", [2, 7, 8, 30])
def test_no_two_arms_look_the_same(n_arms: int) -> None:
    arms = [f"arm {number}" for number in range(n_arms)]
    ones = {arm: [1] for arm in arms}
    shares: dict[str, list[float | None]] = {arm: [1 / n_arms] for arm in arms}
    over_time = AllocationOverTime([1], [datetime(2026, 3, 1, tzinfo=UTC)], ones, shares)
    n_colours = FILES["tokens.css"].contents.split(b"}")[0].count(b"--series-")
    for drawing, values in (("enrolled", enrolled_values(over_time)), ("drawn", drawn_values(over_time))):
        spec = chart_spec(drawing, values, time_format="")
        assert ("strokeDash" in spec["encoding"]) == (n_arms > n_colours)
