"""What people typed stays text wherever a page shows it."""

from __future__ import annotations

import json

from adhere.service.pages.rendering import chart
from report.html_reader import Reader


def test_names_in_a_charts_data_do_not_end_its_element() -> None:
    arm = "</script><script>alert(1)</script>"
    values = [{"recommendations": 1, "arm": arm, "probability": 0.5}]
    reader = Reader(str(chart("drawn", values, label=arm, caption=arm)))
    (data,) = reader.texts("script")
    assert json.loads(data)["data"]["values"][0]["arm"] == arm
    assert arm in reader.texts("td")
