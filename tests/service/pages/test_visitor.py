"""What the tests of pages look for is found where it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .visitor import PHONE, Visitor

TRAP = "<input id=trap onkeydown='event.preventDefault()'><button>Behind it</button>"


@pytest.fixture
def visitor(as_role: Callable[[str | None], Visitor]) -> Visitor:
    found = as_role(None)
    found.expected = ()
    found.page.goto("about:blank")
    return found


def show(visitor: Visitor, body: str) -> None:
    visitor.page.set_content(f"<!doctype html><html lang=en><title>A page</title><main><h1>A page</h1>{body}</main>")


def test_what_goes_wrong_in_a_page_is_noted(visitor: Visitor) -> None:
    show(visitor, "<script>console.warn('ouch'); throw new Error('no')</script><img alt='' src=http://localhost:9/x>")
    found = "\n".join(visitor.faults)
    for fault in ("console: ouch", "uncaught: no", "asked for http://localhost:9/x"):
        assert fault in found


def test_what_a_reader_cannot_use_is_found(visitor: Visitor) -> None:
    show(visitor, "<p style='color: #ccc; background: #fff'>Pale</p><img src='data:,'><input>")
    rules = {issue.partition(":")[0] for issue in visitor.axe_issues()}
    assert rules == {"color-contrast", "image-alt", "label"}
    assert {issue.partition(":")[0] for issue in visitor.axe_issues("color-contrast")} == {"color-contrast"}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<button tabindex=-1>Save</button>", "not reached by Tab: <button"),
        (TRAP, "not reached by Tab: <button"),
        ("<button style='outline: none'>Save</button>", "no visible focus: <button"),
    ],
)
def test_what_the_keyboard_cannot_reach_is_found(visitor: Visitor, body: str, fault: str) -> None:
    show(visitor, f"<a href='#'>A link</a>{body}")
    found = visitor.focus_faults()
    assert len(found) == 1
    assert found[0].startswith(fault)


def test_what_sticks_out_is_found_and_what_scrolls_in_a_box_is_not(visitor: Visitor) -> None:
    wide = "<p style='width: 2000px'>wide</p>"
    show(visitor, f"<div style='overflow-x: auto'>{wide}</div>")
    assert visitor.outside(PHONE) == []
    show(visitor, wide)
    assert any("<p" in one for one in visitor.outside(PHONE))
