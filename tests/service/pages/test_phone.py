"""Pages on a phone: the current tab is in view, and tables fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.serving import Service

from .populated import OPEN
from .visitor import PHONE, Visitor, visiting

# Boxes that scroll sideways, and text that is cut off.
CUT = """() => [...document.querySelectorAll('main, main *')]
  .filter(one => one.checkVisibility() && !one.closest('.drawing, svg, .unseen, thead, pre'))
  .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
  .map(one => `${one.scrollWidth} px in ${one.clientWidth}: ${one.outerHTML.slice(0, 120)}`)"""
LONG = "Universitätsklinikum Zürich, Station für Innere Medizin 3"


@pytest.fixture(scope="module")
def phone(browser: Any, populated: Service) -> Iterator[Visitor]:
    with visiting(browser, populated, "admin", phone=True) as visitor:
        yield visitor


def test_the_current_tab_is_in_view(phone: Visitor) -> None:
    for tab in ("Overview", "Enrolment", "Monitor", "Audit"):
        path = f"/app/trials/{OPEN}" + ("" if tab == "Overview" else f"/{tab.lower()}")
        phone.open(path)
        found = phone.page.locator(".tabs [aria-current]")
        assert found.inner_text() == tab
        box = found.bounding_box()
        assert box is not None
        assert (box["x"] >= 0, box["x"] + box["width"] <= PHONE["width"]) == (True, True), (tab, box)
        assert phone.page.evaluate("scrollY") == 0


@pytest.mark.parametrize("path", ["/app/access", f"/app/trials/{OPEN}/monitor", f"/app/trials/{OPEN}/audit"])
def test_access_monitor_and_audit_fit(phone: Visitor, path: str) -> None:
    phone.open(path)
    if path.endswith("monitor"):
        phone.page.locator("#part-effects").wait_for()
    assert phone.outside(PHONE) == []
    assert phone.page.evaluate(CUT) == []
    assert phone.axe_issues() == []


def test_a_long_label_fits(browser: Any, service: Service) -> None:
    service.client().make_token("site", LONG, site=LONG.replace(" ", ""))
    with visiting(browser, service, "admin", phone=True) as visitor:
        visitor.open("/app/access")
        assert visitor.outside(PHONE) == []
        assert visitor.page.evaluate(CUT) == []
