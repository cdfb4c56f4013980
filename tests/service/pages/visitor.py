"""One person at a browser: a page of Chromium that notes whatever goes wrong in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from adhere.service.pages.handle_page import COOKIE
from service.serving import Service

from .person import Person, sign_in

PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
_AXE = Path(__file__).parent / "vendored" / "axe.min.js"

# What sticks out to the right, unless it is in a box that scrolls.
_OUTSIDE = """() => {
  const root = document.documentElement;
  const scrolls = one => one && one !== root
    && (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
  const found = [...document.body.querySelectorAll('*')]
    .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > root.clientWidth + 1)
    .filter(one => !scrolls(one.parentElement))
    .map(one => `<${one.localName} class="${one.getAttribute('class')}"> ${one.textContent.trim().slice(0, 40)}`);
  return root.scrollWidth > root.clientWidth ? [`${root.scrollWidth} px in ${root.clientWidth} px`, ...found] : found;
}"""

_AXE_ISSUES = """async rules => {
  const only = rules.length ? {runOnly: {type: 'rule', values: rules}} : {};
  const found = await axe.run(document, {...only, resultTypes: ['violations']});
  return found.violations.filter(one => ['serious', 'critical'].includes(one.impact))
    .map(one => `${one.id}: ${one.help}: ${one.nodes.map(node => node.target.join(' ')).slice(0, 4).join(', ')}`);
}"""

# Everything one can use, but of radio buttons with one name only one: Tab stops at the group once.
_INTERACTIVE = """() => {
  const seen = new Set();
  return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(one => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.type !== 'hidden')
    .filter(one => !one.closest('[inert]'))
    .filter(one => one.type !== 'radio' || (!seen.has(one.name) && seen.add(one.name)));
}"""
_WATCH_FOCUS = f"""() => {{
  window.focused = new Map();
  window.wanted = ({_INTERACTIVE})();
  document.activeElement?.blur();
  document.addEventListener('focusin', event => {{
    const style = getComputedStyle(event.target);
    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    window.focused.set(event.target, outlined || style.boxShadow !== 'none');
  }});
  return window.wanted.length;
}}"""
_FOCUS_FAULTS = """() => {
  const said = one => `<${one.localName} ${one.name ?? ''}> ${(one.textContent || '').trim().slice(0, 40)}`;
  const reached = one => window.focused.has(one) || (one.type === 'radio'
    && [...window.focused.keys()].some(other => other.type === 'radio' && other.name === one.name));
  return [
    ...window.wanted.filter(one => one.isConnected && !reached(one)).map(one => `not reached by Tab: ${said(one)}`),
    ...[...window.focused].filter(([one, shown]) => !shown && one.id !== 'main')
      .map(([one]) => `no visible focus: ${said(one)}`),
  ];
}"""


@cache
def _axe() -> str:
    return _AXE.read_text(encoding="utf-8")


@dataclass
class Visitor:
    """A browser of one person, signed in or not; `faults` collects what must not happen."""

    url: str
    person: Person  # the same session without a browser
    page: Any
    faults: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()  # beginnings of faults that a test brings about on purpose

    def open(self, path: str) -> int:
        """Load a page, and wait for one that loads itself again once it is ready; returns its status."""
        response = self.page.goto(f"{self.url}{path}", wait_until="load")
        self.page.locator("[data-ready=no]").wait_for(state="detached", timeout=60_000)
        self.page.wait_for_load_state("load")
        return int(response.status)

    def axe_issues(self, *rules: str) -> list[str]:
        """What axe-core finds serious or critical, by all its rules or by some."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(_axe())
        found: list[str] = self.page.evaluate(_AXE_ISSUES, list(rules))
        return found

    def outside(self, size: dict[str, int]) -> list[str]:
        """What is wider than a window of this size."""
        self.page.set_viewport_size(size)
        found: list[str] = self.page.evaluate(_OUTSIDE)
        return found

    def focus_faults(self) -> list[str]:
        """Press Tab through the whole page: what is not reached, and what does not show that it has the focus."""
        for _ in range(self.page.evaluate(_WATCH_FOCUS) + 2):
            self.page.keyboard.press("Tab")
        found: list[str] = self.page.evaluate(_FOCUS_FAULTS)
        return found

    def note(self, fault: str) -> None:
        if not (self.expected and fault.startswith(self.expected)):
            self.faults.append(fault)


def assert_fits(visitor: Visitor) -> None:
    """Nothing sticks out at the width of a phone or of a laptop."""
    for size in (PHONE, LAPTOP):
        assert visitor.outside(size) == [], size["width"]


@contextmanager
def visiting(
    browser: Any, service: Service, role: str | None, *, phone: bool = False, width: int = PHONE["width"]
) -> Iterator[Visitor]:
    """A browser context of its own, signed in with the token of a role; `width` is that of a phone."""
    size = {**PHONE, "width": width} if phone else LAPTOP
    context = browser.new_context(viewport=size, has_touch=phone, base_url=service.url)
    context.set_default_timeout(60_000)  # in a fresh clone policies are compiled first
    person = sign_in(service, role) if role is not None else Person(service.port)
    if role is not None:
        context.add_cookies([{"name": COOKIE, "value": person.secret, "url": service.url}])
    visitor = Visitor(service.url, person, context.new_page())
    page = visitor.page
    page.on("console", lambda said: visitor.note(f"console: {said.text}") if said.type in _COMPLAINTS else None)
    page.on("pageerror", lambda error: visitor.note(f"uncaught: {error}"))
    context.on("request", lambda asked: _check_host(visitor, asked.url))
    try:
        yield visitor
    finally:
        context.close()


_COMPLAINTS = ("error", "warning")  # what a Content-Security-Policy forbids is an error


def _check_host(visitor: Visitor, url: str) -> None:
    if not url.startswith((f"{visitor.url}/", "data:")):
        visitor.note(f"asked for {url}")
