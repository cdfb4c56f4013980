"""What people typed stays text wherever a page shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adhere.service.pages.docs import fields_of
from adhere.service.pages.rendering import chart, render
from report.html_reader import Reader


def test_names_in_a_charts_data_do_not_end_its_element() -> None:
    arm = "</script><script>alert(1)</script>"
    values = [{"recommendations": 1, "arm": arm, "probability": 0.5}]
    reader = Reader(str(chart("drawn", values, label=arm, caption=arm)))
    (data,) = reader.texts("script")
    assert json.loads(data)["data"]["values"][0]["arm"] == arm
    assert arm in reader.texts("td")


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 200}, "text (1 to 200 characters)"),
        ({"type": "string", "maxLength": 3}, "text (at most 3 characters)"),
        ({"type": "number", "minimum": 0}, "number (at least 0)"),
        ({"type": "number", "minimum": 0.5, "maximum": 1}, "number (0.5 to 1)"),
        ({"type": "boolean"}, "true or false"),
        ({}, "anything"),
    ],
)
def test_a_type_is_told_in_words_with_its_bounds(schema: dict[str, Any], said: str) -> None:
    info, schemas = {"version": "1", "description": ""}, {"Body": {"properties": {"field": schema}}}
    page = render("docs.html", info=info, sections={}, schemas=schemas, fields=fields_of)
    assert f"<td>{said}</td>" in page
