"""Explore in a browser: what is moved is simulated, the link carries it, and what is wrong is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from .visitor import Visitor

SMALL = "/app/explore?policies=thompson,thompson/actual&runs=20&patients=50"
SHARES = ("never_takers", "always_takers", "compliers", "defiers")


@pytest.fixture
def page(as_role: Callable[[str | None], Visitor]) -> Any:
    visitor = as_role("coordinator")
    visitor.expected = ()
    visitor.open(SMALL)
    visitor.page.wait_for_selector("form[data-ready=yes] figure[data-drawn]")
    yield visitor.page
    assert visitor.faults == []


def redrawn(page: Any, act: Callable[[], None]) -> None:
    """Do something, and wait until the charts show what follows from it."""
    page.evaluate("explore.addEventListener('redrawn', () => { explore.dataset.redrawn = '' }, {once: true})")
    act()
    page.wait_for_selector("form[data-redrawn]")
    page.evaluate("delete explore.dataset.redrawn")


def shares(page: Any) -> list[float]:
    return [float(page.input_value(f"#{name}")) for name in SHARES]


def test_a_slider_moves_all_that_follows_from_it_and_the_link_opens_the_same(page: Any) -> None:
    assert page.inner_text("#sentence").startswith("Actual is fooled")
    assert shares(page) == [0, 0.5, 0.5, 0]
    before = page.inner_html("[data-chart=beliefs] svg")
    redrawn(page, lambda: page.locator("input[data-for=compliers]").press("End"))
    assert shares(page) == [0, 0, 1, 0]
    sentence = page.inner_text("#sentence")
    assert sentence.startswith("Nobody is fooled: recommending the control is better by 0.25")
    assert page.inner_html("[data-chart=beliefs] svg") != before
    assert "100% compliers" in page.get_attribute("[data-chart=population] .drawing", "aria-label")
    redrawn(page, lambda: page.fill("#defiers", "0.4") or page.press("#defiers", "Tab"))
    assert shares(page) == [0, 0, 0.6, 0.4]
    redrawn(page, lambda: page.check("input[value=uniform]"))
    link = parse_qs(urlsplit(page.url).query)
    assert (link["compliers"], link["policies"]) == (["0.6"], ["thompson,thompson/actual,uniform"])
    shown = page.inner_text("#sentence"), page.inner_text("#fared"), shares(page)
    page.reload()
    assert (page.inner_text("#sentence"), page.inner_text("#fared"), shares(page)) == shown


def test_a_preset_sets_the_sliders_and_the_scheme_keeps_what_is_shown(page: Any) -> None:
    redrawn(page, lambda: page.click("[data-preset=defiers]"))
    assert shares(page) == [0, 0, 0, 1]
    assert "preset=defiers" in page.url
    levels = "[data-chart=population] svg .mark-rect path"
    drawn = [one.get_attribute("d") for one in page.query_selector_all(levels)]
    assert drawn
    page.evaluate("document.querySelectorAll('figure').forEach(one => { delete one.dataset.drawn; })")
    page.emulate_media(color_scheme="dark")  # which draws all charts again
    page.wait_for_function("() => document.querySelectorAll('figure[data-drawn] svg').length === 4")
    assert [one.get_attribute("d") for one in page.query_selector_all(levels)] == drawn
    page.emulate_media(color_scheme="light")


def test_what_cannot_be_shown_is_said(as_role: Callable[[str | None], Visitor], page: Any) -> None:
    page.fill("#defiers", "1.5")
    page.press("#defiers", "Tab")
    assert page.inner_text("#status").startswith("defiers, share of the patients, number: ")
    page.fill("#defiers", "0")
    redrawn(page, lambda: page.press("#defiers", "Tab"))
    assert page.inner_text("#status") == ""
    as_role("coordinator").expected = ("console: Failed to load resource",)  # 422
    page.uncheck("input[value='thompson']")
    page.uncheck("input[value='thompson/actual']")
    page.wait_for_function("() => document.getElementById('status').textContent.includes('expected 1 to 6 policies')")
