"""The built site in Chromium: nothing from another host, phone width, dark mode, search and accessibility."""

from __future__ import annotations

import functools
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import adhere
from report.browser import executable

from .pages import DOCS, ROOT

pytestmark = pytest.mark.slow
PHONE, LAPTOP = 390, 1280
QUESTIONS = {
    "minimum share on control": "how-to/keep-a-share-on-control.html",
    "export blinded trial columns": "reference/columns.html",
    "risk column": "reference/operating-characteristics.html",
    "stop early interval": "explanation/adaptive-inference.html",
    "restore a backup": "how-to/back-up-and-restore.html",
}
READ_ALOUD = (
    "index.html",
    "tutorials/compare-policies.html",
    "tutorials/analyse-a-trial.html",
    "how-to/back-up-and-restore.html",
    "how-to/keep-a-share-on-control.html",
    "reference/design-file.html",
    "reference/generated/api/adhere.simulate.html",
    "reference/settings.html",
    "explanation/comparison.html",
    "gallery/index.html",
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site, built as `make docs` builds it."""
    built = subprocess.run([ROOT / "scripts" / "docs"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    handler = functools.partial(_Quiet, directory=str(DOCS / "_build"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A Chromium for each test: Playwright keeps its thread's event loop, which tests of other packages need."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=executable(), args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield started
        started.close()


def opened(browser: Browser, address: str, width: int = LAPTOP) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(address, wait_until="load")
    return page


def all_pages() -> list[str]:
    built = DOCS / "_build"
    return sorted(str(page.relative_to(built)) for page in built.rglob("*.html") if "_static" not in page.parts)


def test_no_request_leaves_the_host_and_no_page_is_wider_than_a_phone(site: str, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 800})
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda request: None if request.url.startswith((site, "data:", "blob:")) else elsewhere.append(request.url),
    )
    too_wide = []
    for name in all_pages():
        page.goto(f"{site}/{name}", wait_until="load")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE:
            too_wide.append(name)
    assert not elsewhere
    assert not too_wide


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.items())
def test_the_search_leads_to_the_answer(site: str, browser: Browser, question: str, expected: str) -> None:
    page = opened(browser, f"{site}/search.html?q={question.replace(' ', '+')}")
    page.wait_for_selector("#search-results ul.search li a")
    found = page.eval_on_selector_all("#search-results ul.search li a", "links => links.map(link => link.href)")
    assert any(link.split("#")[0].split("?")[0].endswith(expected) for link in found[:5]), found[:5]


def test_the_theme_can_be_dark(site: str, browser: Browser) -> None:
    page = opened(browser, site)
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("name", READ_ALOUD)
def test_a_screen_reader_meets_no_barrier(site: str, browser: Browser, name: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(opened(browser, f"{site}/{name}"))
    assert found.violations_count == 0, found.generate_report()


def test_every_public_name_has_a_page_with_parameters_and_an_example(site: str) -> None:
    lacking = []
    for name in adhere.__all__:
        if name.startswith("_"):
            continue
        text = (DOCS / "_build" / "reference" / "generated" / "api" / f"adhere.{name}.html").read_text("utf-8")
        wanted = ["Examples"] if issubclass(type(getattr(adhere, name)), type) else ["Examples", "Parameters"]
        lacking += [f"{name}: {word}" for word in wanted if word not in text]
    assert not lacking
