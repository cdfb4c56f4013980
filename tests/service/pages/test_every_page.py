"""Every page of the table in a real browser: nothing goes wrong, sticks out, or is hard to reach, read or tap."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adhere.service.pages.page_request import PageRoute
from service.serving import Service

from .addresses import READ, addresses, name_of
from .visitor import LAPTOP, PHONE, Visitor, assert_fits

SHOWN = [one for one in READ if not one.path.endswith(("/events", "/file", "/report"))]
# Links that are less than 44 px high, except those within a sentence.
LOW_LINKS = """() => [...document.querySelectorAll('a[href]')]
  .filter(one => one.checkVisibility() && !one.matches('.skip') && one.getBoundingClientRect().height < 43.5)
  .filter(one => {
    const around = one.closest('p, li, td, th, figcaption, dd');
    const links = [...(around?.querySelectorAll('a') ?? [])].map(link => link.textContent).join('');
    return !around || around.textContent.replace(/\\s+/g, ' ').trim().length - links.length < 25;
  }).map(one => `${Math.round(one.getBoundingClientRect().height)} px: ${one.outerHTML.slice(0, 120)}`)"""
BY_RIGHTS = ("admin", "statistician", "coordinator", "site")  # who has most on a page comes first


def is_whole(visitor: Visitor, path: str) -> bool:
    """Whether an address is a page of its own, not a part of one."""
    reply = visitor.person.get(path)
    html = reply.headers["content-type"].startswith("text/html")
    return html and reply.body.lstrip().lower().startswith(b"<!doctype html")


@pytest.mark.parametrize("route", SHOWN, ids=name_of)
def test_a_page(as_role: Callable[[str | None], Visitor], populated: Service, route: PageRoute) -> None:
    """As those see it who may do most on it."""
    visitor = as_role(next(role for role in BY_RIGHTS if role in route.roles))
    for path in addresses(populated, route):
        if is_whole(visitor, path):
            look_at(visitor, path)
        else:
            assert not route.tab


@pytest.mark.slow
@pytest.mark.parametrize("route", SHOWN, ids=name_of)
def test_a_page_in_use(as_role: Callable[[str | None], Visitor], populated: Service, route: PageRoute) -> None:
    """In the dark and by the keyboard, and as those see it who may do least on it."""
    roles = [role for role in BY_RIGHTS if role in route.roles]
    for path in addresses(populated, route):
        if is_whole(as_role(roles[0]), path):
            as_role(roles[0]).open(path)
            use(as_role(roles[0]))
            look_at(as_role(roles[-1]), path)


@pytest.mark.parametrize("path", ["/app/sign-in", "/app/sign-in?next=%2Fapp%2Faccess#link=lnk_used", "/app/nowhere"])
def test_a_page_for_everybody(as_role: Callable[[str | None], Visitor], path: str) -> None:
    visitor = as_role(None)
    visitor.expected = ("console: Failed to load resource",) if path == "/app/nowhere" else ()  # 404
    look_at(visitor, path)
    use(visitor)


def look_at(visitor: Visitor, path: str) -> None:
    """Open a page and look at all that can be seen at once."""
    visitor.page.set_viewport_size(LAPTOP)
    visitor.open(path)
    assert visitor.page.title(), path
    assert visitor.page.locator("h1").count() == 1, path
    assert visitor.axe_issues() == [], path
    visitor.page.set_viewport_size(PHONE)
    assert visitor.page.evaluate(LOW_LINKS) == [], path
    visitor.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert_fits(visitor)
    assert visitor.faults == [], path


def use(visitor: Visitor) -> None:
    """Look at the open page in the dark, and go through it with the keyboard."""
    visitor.page.emulate_media(color_scheme="dark")
    assert visitor.axe_issues("color-contrast") == [], f"{visitor.page.url}, dark"
    visitor.page.emulate_media(color_scheme="light")
    assert visitor.focus_faults() == [], visitor.page.url
    assert visitor.faults == [], visitor.page.url
