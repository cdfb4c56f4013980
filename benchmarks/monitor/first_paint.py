"""Visits of the monitor's page with an empty cache in Chromium: when it is painted, and how much was loaded."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import Any

_TIMES = """() => {
  const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const sum = name => all.reduce((total, one) => total + one[name], 0);
  return {paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
          loaded: sum('decodedBodySize'), sent: sum('transferSize')};
}"""


@dataclass(frozen=True)
class Visit:
    """Seconds until the first paint and until the first chart is drawn; bytes of the page with all it loads."""

    paint: float
    chart: float
    loaded: int
    sent: int


@dataclass(frozen=True)
class Visits:
    """Seconds until the numbers of the first visit after a start are there, and the visits after it."""

    first: float
    later: list[Visit]


def visit(url: str, token: str, trial: str, n_visits: int) -> Visits:
    """Open the page again and again, each time as somebody who was never here."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{url}/app/sign-in")
        page.fill("input[name=token]", token)
        page.click("main button")
        cookies = context.cookies()
        begun = time.perf_counter()
        page.goto(f"{url}/app/trials/{trial}/monitor")
        page.wait_for_selector("#n-patients", timeout=120_000)
        first = time.perf_counter() - begun
        context.close()
        later = [_once(browser, cookies, f"{url}/app/trials/{trial}/monitor") for _ in range(n_visits)]
        browser.close()
    return Visits(first, later)


def _once(browser: Any, cookies: Any, address: str) -> Visit:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.wait_for_selector("figure.chart[data-drawn]")
    chart = page.evaluate("performance.now()")
    assert page.locator("#n-patients").count() == 1
    page.wait_for_load_state("load")
    found = page.evaluate(_TIMES)
    context.close()
    return Visit(found["paint"] / 1e3, chart / 1e3, int(found["loaded"]), int(found["sent"]))
