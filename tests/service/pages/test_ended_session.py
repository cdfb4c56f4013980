"""A session that ends while somebody types: nothing is lost, and it is said what to do; and buttons clicked twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adhere.service.pages.handle_page import COOKIE
from adhere.service.settings import ServiceSettings
from service.serving import Service, in_file

from .person import Person, sign_in
from .visitor import Visitor, visiting


@pytest.fixture
def admin(browser: Any, service: Service) -> Iterator[Visitor]:
    with visiting(browser, service, "admin") as visitor:
        visitor.expected = ("console: Failed to load resource",)  # 401
        yield visitor
        assert visitor.faults == []


def sign_in_again(visitor: Visitor, token: str) -> None:
    visitor.page.click("main a:has-text('Sign in')")
    visitor.page.fill("#token", token)
    visitor.page.click("main button:has-text('Sign in')")


def test_what_was_typed_is_there_again_after_signing_in(service: Service, admin: Visitor) -> None:
    page = admin.page
    admin.open("/app/new-trial")
    page.fill("#name", "typed for long")
    page.fill("#arms", "walk\naspirin")
    page.check("input[name=policy][value=uniform]")
    page.check("input[name=blinded]")
    page.context.clear_cookies()
    page.click("button:has-text('Check the design')")
    assert page.inner_text("h1") == "Sign in again"
    assert "What you typed is kept" in page.inner_text("main")
    sign_in_again(admin, service.admin)
    page.wait_for_selector("#design .note")
    assert (page.input_value("#name"), page.input_value("#arms")) == ("typed for long", "walk\naspirin")
    assert page.is_checked("input[name=policy][value=uniform]")
    assert page.is_checked("input[name=blinded]")
    admin.open("/app/new-trial")  # once
    assert page.input_value("#name") == ""


def test_what_was_typed_before_signing_in_again_in_another_tab_is_not_lost(service: Service, admin: Visitor) -> None:
    page = admin.page
    admin.open("/app/access")
    page.check("input[name=role][value=coordinator]")
    page.fill("#label", "typed before")
    page.context.add_cookies([{"name": COOKIE, "value": sign_in(service, "admin").secret, "url": service.url}])
    page.click("button:has-text('Make a link')")
    page.click("main a:has-text('Load the page again')")
    page.wait_for_selector("form .note")
    assert page.input_value("#label") == "typed before"
    assert page.is_checked("input[name=role][value=coordinator]")


def test_another_person_does_not_see_what_was_typed(service: Service, admin: Visitor) -> None:
    page = admin.page
    admin.open("/app/new-trial")
    page.fill("#name", "a secret plan")
    page.fill("#arms", "walk\naspirin")
    page.context.clear_cookies()
    page.click("button:has-text('Check the design')")
    sign_in_again(admin, service.token("statistician"))
    page.wait_for_url("**/app/new-trial")
    assert page.evaluate("sessionStorage.getItem('adhere-typed')") is None
    assert page.input_value("#name") == ""


def test_a_tap_whose_session_has_ended_leads_to_the_sign_in_and_is_then_sent(browser: Any, service: Service) -> None:
    trial = service.new_trial()
    with visiting(browser, service, "site", phone=True) as phone:
        page = phone.page
        phone.open(f"/app/trials/{trial}/site")
        page.context.clear_cookies()
        page.fill("#subject", "S-1")
        page.click("button:has-text('Recommend')")
        page.wait_for_selector("#unsent:has-text('Your session has ended')")
        sign_in_again(phone, service.token("site"))
        page.wait_for_selector(".answer")
    assert service.client().trial(trial).recommendations == 1


def test_a_link_signs_in_by_its_button_alone_and_its_secret_is_nowhere_else(service: Service, admin: Visitor) -> None:
    made = service.client().make_token("statistician", "whose link it is")
    page, link = admin.page, service.client().make_link(made.id).path
    secret = link.partition("link=")[2]
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(f"{sent.url} {sent.headers}"))
    admin.open(link)  # or anybody could send a link by which one works under another name without noticing
    assert "You are signed in as the first admin" in page.inner_text("main")
    admin.open("/app/access")
    assert page.locator("h1").inner_text() == "Access"
    page.context.clear_cookies()
    admin.open(link)  # as a preview does that runs scripts
    page.locator("button:has-text('Sign in with this link')").wait_for()
    assert not page.locator("#token").is_visible()
    assert page.url == f"{service.url}/app/sign-in"
    page.evaluate("link => { location.hash = link; }", link.partition("#")[2])  # opened again in the same tab
    page.wait_for_url(f"{service.url}/app/sign-in")
    page.click("button:has-text('Sign in with this link')")
    page.wait_for_url("**/app/trials")
    assert "whose link it is" in page.inner_text("header")
    assert asked
    assert not [one for one in asked if secret in one]


def test_without_scripts_a_link_is_copied_into_the_field(browser: Any, service: Service) -> None:
    link = f"{service.url}{service.client().make_link(1).path}"
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(link)
        assert "copy the whole link into the field below" in page.inner_text("main")
        assert not page.get_by_text("You have a link").is_visible()
        page.fill("#token", link)
        page.click("#by-code button")
        page.wait_for_url("**/app/trials")
    finally:
        context.close()


CLICK_TWICE = """button => {
  const refused = [];
  document.addEventListener('submit', event => { refused.push(event.defaultPrevented); event.preventDefault(); });
  button.click(); button.click();
  return refused;
}"""


def test_a_double_click_sends_a_form_once(admin: Visitor) -> None:
    admin.open("/app/access")
    admin.page.fill("#label", "clicked twice")
    assert admin.page.locator("button:has-text('Make a link')").evaluate(CLICK_TWICE) == [False, True]


def test_ended_sessions_keep_nobody_from_signing_in(tmp_path: Path) -> None:
    with in_file(tmp_path / "a.db", ServiceSettings(failure_burst=3, failure_rate=0.01)) as service:
        for _ in range(5):
            assert Person(service.port, "of a session that has ended").get("/app/trials").status == 303
        assert sign_in(service, "admin").get("/app/trials").status == 200
