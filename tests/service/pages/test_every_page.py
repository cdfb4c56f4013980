"""Every page of the table in a real browser: nothing goes wrong, sticks out, is out of reach or hard to read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adhere.service.pages.page_request import PageRoute
from service.serving import Service

from .addresses import READ, addresses, name_of
from .visitor import LAPTOP, Visitor, assert_fits

BY_RIGHTS = ("admin", "statistician", "coordinator", "site")  # who has most on a page comes first


def is_whole(visitor: Visitor, path: str) -> bool:
    """Whether an address is a page of its own, not a part of one, a stream or a file."""
    reply = visitor.person.get(path)
    html = reply.headers["content-type"].startswith("text/html")
    return html and reply.body.lstrip().lower().startswith(b"<!doctype html")


@pytest.mark.parametrize("route", READ, ids=name_of)
def test_a_page(as_role: Callable[[str | None], Visitor], populated: Service, route: PageRoute) -> None:
    """As those see it who may do most on it, and as those who may do least."""
    roles = [role for role in BY_RIGHTS if role in route.roles]
    for path in addresses(populated, route):
        if not is_whole(as_role(roles[0]), path):
            assert not route.tab
            continue
        look_at(as_role(roles[0]), path)
        use(as_role(roles[0]))
        if len(roles) > 1:
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
