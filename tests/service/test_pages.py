"""`GET /` and `GET /docs`, as programs and a real browser see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from adhere.service.pages.routes import ROUTES
from report.browser import executable
from service.serving import Service

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
LAPTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        (BROWSER, True),
        ("text/html", True),
        ("*/*", False),
        ("", False),
        ("application/json", False),
        ("application/json, text/html;q=0.5", False),
        ("text/html;q=x, application/json;q=0", False),
    ],
)
def test_browsers_get_a_page_and_programs_json(service: Service, accept: str, html: bool) -> None:
    trial = service.new_trial()
    reply = service.send("GET", "/", role=None, headers={"Accept": accept})
    assert (reply.status, reply.headers["content-type"].startswith("text/html")) == (200, html)
    if not html:
        assert (reply.json["name"], reply.json["docs"], reply.json["openapi"]) == ("adhere", "/docs", "/openapi.json")
    assert trial.encode() not in reply.body
    assert b"adh_" not in reply.body.replace("adh_…".encode(), b"")


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_show_text_and_no_markup(service: Service, path: str) -> None:
    assert b"`" not in service.send("GET", path, headers={"Accept": "text/html"}).body.partition(b"<script")[0]


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_allow_nothing_but_themselves(service: Service, path: str) -> None:
    reply = service.send("GET", path, role=None, headers={"Accept": BROWSER})
    policy = dict(part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in str(policy)
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] == "no-cache"
    assert not re.search(rb"(?:src|href)=.?(?:https?:)?//", reply.body)
    assert ("vary" in reply.headers) == (path == "/")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable())
        yield opened
        opened.close()


def test_in_a_browser(service: Service, browser: Any) -> None:
    """Every route is shown, nothing is asked for elsewhere or complained about, and a request can be tried."""
    trial = service.new_trial()
    page = browser.new_page(viewport=LAPTOP)
    faults: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{service.url}/")
    assert page.inner_text("h1") == "adhere"
    page.click("text=The API")
    shown = [" ".join(text.split()[:2]) for text in page.locator("section summary").all_inner_texts()]
    assert {f"{route.method} {route.path}" for route in ROUTES} <= set(shown)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    for size in (LAPTOP, PHONE):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    page.fill("#token", service.admin)
    form = page.locator("#recommend form")
    form.locator("[name=trial]").fill(trial)
    form.locator("button").click()
    form.locator(".answer", has_text="201").wait_for()
    assert f'"recommendation_id": "{service.ids(trial)[0]}"' in form.locator(".answer").inner_text()
    assert not faults
    assert all(url.startswith((service.url, "data:")) for url in asked)
