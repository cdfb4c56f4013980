"""A real headless Chromium that opens a page and says what it saw."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_HEIGHT = 900

# Whatever is folded is opened first: a reader will. What scrolls in a box of its own may be wider than the page.
_LOOK = """async () => {
  document.querySelectorAll('details').forEach(one => { one.open = true; });
  const root = document.documentElement;
  const figures = [];
  for (const image of document.images) {
    image.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const box = image.getBoundingClientRect();
    const middle = [box.left + box.width / 2, box.top + box.height / 2];
    figures.push({
      alternative: image.alt,
      width: image.naturalWidth,
      height: image.naturalHeight,
      visible: image.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && box.width > 0 && box.height > 0 && document.elementFromPoint(...middle) === image,
    });
  }
  const scrolls = one => one && one !== root
    && (['auto', 'scroll'].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
  const outside = [...document.body.querySelectorAll('*')]
    .filter(one => one.getBoundingClientRect().right > root.clientWidth + 1 && !scrolls(one.parentElement))
    .map(one => `<${one.localName} class="${one.className}"> ${one.textContent.trim().slice(0, 60)}`);
  const scrolling = [...document.body.querySelectorAll('*')]
    .filter(one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
    .filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => `${one.scrollWidth} px in ${one.clientWidth} px: ${one.textContent.trim().slice(0, 60)}`);
  return {figures, outside, scrolling, scroll_width: root.scrollWidth, client_width: root.clientWidth};
}"""


# Tables that are not on paper: a reader cannot unfold it.
_PRINTED = """() => [...document.querySelectorAll('details table')]
  .filter(one => !one.checkVisibility() || one.getBoundingClientRect().height === 0)
  .map(one => one.textContent.trim().slice(0, 60))"""


@dataclass(frozen=True)
class FigureFacts:
    """An image as the browser has it: its own size, and whether a reader who scrolls there sees it."""

    alternative: str
    width: int
    height: int
    visible: bool


@dataclass(frozen=True)
class PageFacts:
    """What a browser had to say about a page."""

    console: tuple[str, ...]  # errors and warnings
    errors: tuple[str, ...]  # exceptions nobody caught
    requests: tuple[str, ...]  # whatever it asked for besides the file itself
    figures: tuple[FigureFacts, ...]
    outside: tuple[str, ...]  # elements that stick out of the page on the right, unless in a box that scrolls
    not_printed: tuple[str, ...]  # tables that stay folded on paper
    scrolling: tuple[str, ...]  # boxes whose contents are wider than they are
    scroll_width: int
    client_width: int

    def faults(self) -> list[str]:
        """Everything wrong with the page, one sentence each."""
        unseen = [one for one in self.figures if not (one.visible and one.width > 0 and one.height > 0)]
        overflow = [f"the page is {self.scroll_width} px wide in a window of {self.client_width} px"]
        return [
            *(f"console: {said}" for said in self.console),
            *(f"uncaught: {said}" for said in self.errors),
            *(f"asked for {url}" for url in self.requests),
            *(f"not seen: {one}" for one in unseen),
            *(f"sticks out: {element}" for element in self.outside),
            *(f"folded in print: {table}" for table in self.not_printed),
            *(overflow if self.scroll_width > self.client_width else []),
        ]


def inspect_page(path: Path, width: int, screenshot: Path | None = None) -> PageFacts:
    """Open the file, offline, in a window of that width in pixels; `screenshot` is where to put a picture of it."""
    found = executable()
    from playwright.sync_api import sync_playwright

    console: list[str] = []
    errors: list[str] = []
    requests: list[str] = []
    address = path.resolve().as_uri()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        context = browser.new_context(viewport={"width": width, "height": _HEIGHT}, offline=True)
        tab = context.new_page()
        tab.on("console", lambda said: console.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(address, wait_until="load")
        tab.emulate_media(media="print")
        not_printed = tab.evaluate(_PRINTED)
        tab.emulate_media(media="screen")
        seen: dict[str, Any] = tab.evaluate(_LOOK)
        if screenshot is not None:
            tab.evaluate("scrollTo(0, 0)")
            tab.screenshot(path=screenshot, full_page=True)
        browser.close()
    return PageFacts(
        console=tuple(console),
        errors=tuple(errors),
        requests=tuple(url for url in requests if url != address and not url.startswith("data:")),
        figures=tuple(FigureFacts(**one) for one in seen["figures"]),
        outside=tuple(seen["outside"]),
        not_printed=tuple(not_printed),
        scrolling=tuple(seen["scrolling"]),
        scroll_width=seen["scroll_width"],
        client_width=seen["client_width"],
    )


def executable() -> str:
    """The browser on the PATH; without one the test is skipped, but in continuous integration it fails."""
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    reason = f"needs a browser: none of {', '.join(_NAMES)} is on the PATH (Debian: apt-get install chromium)"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
