#!/usr/bin/env python3
"""Photograph each page of a demo with a fixed seed, for the docs: scripts/screenshots.py [NAME ...].

Needs what `make setup` installs. Pictures go to docs/pictures/pages/; without a name, all are made again.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import cast

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright

from adhere.demo.demo import ADMIN, COORDINATOR, NURSE, STATISTICIAN, Demo, Person, running_demo
from adhere.demo.player import Pace, play

FOLDER = Path(__file__).parent.parent / "docs" / "pictures" / "pages"
SEED, PATIENTS = 8, 800
PHONE, DESK = 390, 1280
MARGIN = 16  # above a part of a page
COLOURS = 192  # of a picture: pages have few, and the file is a third of the size


def as_it_is(page: Page) -> None:
    """Photograph a page as it opens."""


def settled(page: Page) -> None:
    """Wait until the page takes clicks: for a second after it was shown or changed it ignores them."""
    page.wait_for_function("() => !document.querySelector('.settling')")


def until(selector: str) -> Callable[[Page], None]:
    """Wait until something is there."""
    return lambda page: cast(None, page.wait_for_selector(selector, timeout=60_000))


def simulate_a_design(page: Page) -> None:
    """Give the example of a design, and simulate how its trials would behave."""
    page.get_by_text("From a design file").click()
    example = files("adhere.design") / "example.toml"
    page.get_by_label("Text of the file").fill(example.read_text(encoding="utf-8").partition("# No part of")[0])
    settled(page)
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="Check the file").click()
    settled(page)
    page.get_by_label("Trials in each scenario").fill("2000")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_text("Done: 2,000 trials").wait_for(timeout=120_000)


def verify(page: Page) -> None:
    """Verify the chain."""
    page.get_by_role("button", name="Verify now").click()
    page.wait_for_selector("#verification [role=status]")


def open_a_recommendation(page: Page) -> None:
    """Open a recommendation of the log, and wait until it is derived again."""
    row = page.locator("tr", has=page.get_by_role("cell", name="recommended ")).last
    row.get_by_role("link").click()
    page.wait_for_selector("#derivation [role=status]")


def enter_a_subject(page: Page) -> None:
    """Enter somebody new, who is recommended an arm."""
    page.fill("#subject", "E-2001")
    page.get_by_label("75 and over").check()
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name="Recommend").click()


@dataclass(frozen=True)
class Shot:
    """A picture: who sees what, in a window of which width, and what is done before it is taken."""

    name: str
    person: Person | None
    path: str
    prepare: Callable[[Page], None] = as_it_is
    width: int = DESK
    dark: bool = False
    first: str = "body"  # what the picture begins above
    last: str = "main"  # and ends below


DRAWN = until("figure[data-drawn]")
WAITING = "[role=region][aria-label='Waiting for a report']"
MONITOR = "/app/trials/rich-and-poor/monitor"

SHOTS = (
    Shot("sign-in", None, "/app/sign-in"),
    Shot("trials", ADMIN, "/app/trials"),
    Shot("overview", ADMIN, "/app/trials/stroke"),
    Shot("new-trial", ADMIN, "/app/new-trial", last="fieldset:nth-of-type(3)"),
    Shot("simulation", ADMIN, "/app/new-trial", simulate_a_design, first="#review", last="#simulation"),
    Shot("site", NURSE, "/app/trials/stroke/site", width=PHONE, last=".rows li:nth-child(4)"),
    Shot("recommendation", NURSE, "/app/trials/stroke/site", enter_a_subject, width=PHONE),
    Shot("enrolment", COORDINATOR, "/app/trials/stroke/enrolment", last=f"{WAITING} tr:nth-child(8)"),
    Shot("monitor", STATISTICIAN, MONITOR, DRAWN, last="#part-allocation .pair"),
    Shot("monitor-beliefs", STATISTICIAN, MONITOR, DRAWN, first="#part-beliefs", last="#part-looks"),
    Shot("monitor-dark", STATISTICIAN, MONITOR, DRAWN, dark=True, last="#part-effects"),
    Shot("audit", STATISTICIAN, "/app/trials/stroke/audit", verify, last="tbody tr:nth-child(14)"),
    Shot("why", STATISTICIAN, "/app/trials/stroke/audit", open_a_recommendation),
    Shot("explore", STATISTICIAN, "/app/explore", until("form[data-ready=yes] figure[data-drawn]")),
    Shot("access", ADMIN, "/app/access"),
)


@contextmanager
def window(browser: Browser, demo: Demo, shot: Shot) -> Iterator[Page]:
    """A window in which the person has signed in."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": 844 if shot.width == PHONE else 800},
        device_scale_factor=2 if shot.width == PHONE else 1.5,
        color_scheme="dark" if shot.dark else "light",
        timezone_id="Europe/London",
        locale="en-GB",
    )
    page = context.new_page()
    if shot.person is not None:
        page.goto(demo.link(shot.person))
        settled(page)
        page.click("button:has-text('Sign in with this link')")
        page.wait_for_selector("form.who")  # signed in
    try:
        yield page
    finally:
        context.close()


def photograph(page: Page, demo: Demo, shot: Shot) -> bytes:
    """A picture of the page, drawn to the end."""
    page.goto(demo.url + shot.path, wait_until="load")
    settled(page)
    shot.prepare(page)
    settled(page)
    page.wait_for_function(
        "() => [...document.querySelectorAll('figure.chart')].every(one => 'drawn' in one.dataset)"
    )
    page.evaluate("() => scrollTo(0, 0)")
    top, bottom = _box(page, shot.first)["y"] - MARGIN, _box(page, shot.last)
    height = bottom["y"] + bottom["height"] + 1 - max(0.0, top)
    clip: FloatRect = {"x": 0, "y": max(0.0, top), "width": shot.width, "height": height}
    return page.screenshot(full_page=True, clip=clip, animations="disabled")


def _box(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return box


def save(picture: bytes, name: str) -> None:
    """Write a picture with few colours."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.png"
    Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path.relative_to(FOLDER.parents[2])}  {path.stat().st_size / 1000:.0f} kB")


def main(names: Sequence[str]) -> None:
    """Play a demo and photograph the pages with these names, or all."""
    shots = [shot for shot in SHOTS if not names or shot.name in names]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with running_demo() as demo, sync_playwright() as playwright:
        for _ in play(demo.create_trials(SEED), Pace(head_start=PATIENTS, patients=PATIENTS)):
            pass
        browser = playwright.chromium.launch(executable_path=chromium)
        for shot in shots:
            with window(browser, demo, shot) as page:
                save(photograph(page, demo, shot), shot.name)


if __name__ == "__main__":
    main(sys.argv[1:])
