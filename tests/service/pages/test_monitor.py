"""The monitor in a browser: the API's numbers, and what is new without loading the page again."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adhere.service.pages.handle_page import COOKIE
from adhere.service.settings import ServiceSettings
from service.serving import Service, in_file, wait_until

from .person import Person, sign_in
from .populated import OPEN
from .visitor import Visitor, visiting


def test_the_page_has_the_numbers_of_the_api(as_role: Callable[[str | None], Visitor], populated: Service) -> None:
    visitor = as_role("statistician")
    visitor.open(f"/app/trials/{OPEN}/monitor")
    found = populated.send("GET", f"/trials/{OPEN}/monitor", role="statistician").json
    visitor.page.locator("#n-patients").wait_for()
    for name in ("recommendations", "outcomes", "waiting"):
        shown = visitor.page.locator(f"#n-{'patients' if name == 'recommendations' else name}").inner_text()
        assert shown == str(found[name])
    effect = found["effects"][0]
    text = visitor.page.locator(f"[data-estimate='{effect['view']}']").first.inner_text()
    assert float(text.replace("−", "-")) == pytest.approx(effect["estimate"]["value"], abs=0.0006)
    cells = visitor.page.locator(".matrix tbody tr").first.locator("td.number").all_inner_texts()
    assert cells[:2] == [str(n) for n in found["arms"][0]["took"].values()]
    assert visitor.page.locator("figure.chart[data-drawn]").count() >= 5
    assert visitor.page.locator("figure.chart:not([data-drawn])").count() == 0
    assert visitor.faults == []


def test_an_open_page_shows_what_is_new_and_keeps_what_is_open(browser: Any, service: Service) -> None:
    trial = service.new_trial(policy="thompson")
    site = service.client("site")
    first, given = site.recommend(trial, "S-0"), site.recommend(trial, "S-1")
    site.report(trial, first.id, actual=first.arm, reward=1)
    with visiting(browser, service, "statistician") as visitor:
        page = visitor.page
        visitor.open(f"/app/trials/{trial}/monitor")
        page.locator("#n-patients").wait_for()
        assert page.locator("#n-outcomes").inner_text() == "1"
        page.evaluate("window.loadedOnce = true")
        page.locator("#part-effects details summary").first.click()
        page.get_by_text("Live", exact=True).wait_for()
        site.report(trial, given.id, actual=given.arm, reward=1)
        page.locator("#n-outcomes", has_text="2").wait_for()
        assert page.locator("#compliance").inner_text() == "100%"
        assert page.evaluate("window.loadedOnce")
        assert page.locator("#part-effects details").first.evaluate("one => one.open")
        assert visitor.faults == []


HIDDEN = """Object.defineProperty(document, 'visibilityState', {get: () => window.unseen ? 'hidden' : 'visible'})"""
TURN_AWAY = "unseen => { window.unseen = unseen; document.dispatchEvent(new Event('visibilitychange')); }"


def test_pages_that_nobody_sees_take_no_connection_and_catch_up(browser: Any, service: Service) -> None:
    """A browser has six connections to a host over HTTP/1.1: seven that listen would keep all others from loading."""
    trial = service.new_trial(policy="thompson")
    with visiting(browser, service, "statistician") as visitor:
        context = visitor.page.context
        context.add_init_script(HIDDEN)
        opened = [context.new_page() for _ in range(7)]
        for page in opened:
            page.goto(f"{service.url}/app/trials/{trial}/monitor")
            page.get_by_text("Live", exact=True).wait_for()
            page.evaluate(TURN_AWAY, True)
        service.client("site").recommend(trial, "S-1")
        opened[0].evaluate(TURN_AWAY, False)
        opened[0].locator("#n-patients", has_text="1").wait_for()


def test_a_monitor_whose_session_has_ended_leads_to_the_sign_in(browser: Any, service: Service) -> None:
    trial = service.new_trial(policy="thompson")
    with visiting(browser, service, "statistician") as visitor:
        page = visitor.page
        page.add_init_script(HIDDEN)
        visitor.open(f"/app/trials/{trial}/monitor")
        page.get_by_text("Live", exact=True).wait_for()
        page.evaluate(TURN_AWAY, True)
        page.context.clear_cookies()
        page.evaluate(TURN_AWAY, False)
        page.wait_for_url("**/app/sign-in?next=*")


@pytest.mark.slow
def test_a_monitor_that_may_not_listen_shows_its_numbers_and_tries_again_later(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adhere.service.pages.monitor.page._RETRY", 1500)
    with in_file(tmp_path / "trials.db", ServiceSettings(token_streams=1)) as service:
        trial, site = service.new_trial(policy="thompson"), service.client("site")
        listening = _listen(service, sign_in(service, "statistician"), trial)
        assert "event-stream" in _until(listening, "event-stream")
        with visiting(browser, service, "statistician") as visitor:
            visitor.expected = ("console: Failed to load resource",)  # 429
            page, asked = visitor.page, []
            page.on("request", lambda sent: asked.append(sent.url))
            visitor.open(f"/app/trials/{trial}/monitor")
            page.locator("#live", has_text="Not live").wait_for()
            page.wait_for_event("request", lambda sent: sent.url.endswith("/events"))
            site.recommend(trial, "S-1")
            page.locator("#n-patients", has_text="1").wait_for()  # with the next try, though it is refused as well
            n_tries = sum(url.endswith("/events") for url in asked)
            listening.close()
            page.get_by_text("Live", exact=True).wait_for()
            assert 2 <= n_tries <= 10
            site.recommend(trial, "S-2")
            page.locator("#n-patients", has_text="2").wait_for()


def test_listeners_are_told_of_changes_and_let_go_at_the_end(tmp_path: Any) -> None:
    with in_file(tmp_path / "trials.db") as service:
        trial = service.new_trial(policy="uniform")
        person = sign_in(service, "statistician")
        listening, leaving = _listen(service, person, trial), _listen(service, person, trial)
        head = service.send("GET", f"/trials/{trial}").json["head"]
        assert head in _until(listening, head)
        leaving.close()
        service.client("site").recommend(trial, "S-1")
        new = service.send("GET", f"/trials/{trial}").json["head"]
        assert f"event: changed\ndata: {new}" in _until(listening, new)
        begun = time.monotonic()
    assert time.monotonic() - begun < 5
    assert _until(listening, "never").endswith("0\r\n\r\n")  # the end of the answer, not a connection that broke
    listening.close()


def test_a_listener_is_let_go_when_its_session_ends(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adhere.service.changes._QUIET", 0.05)
    trial = service.new_trial(policy="uniform")
    person = sign_in(service, "statistician")
    listening = _listen(service, person, trial)
    assert "nothing new" in _until(listening, "nothing new")
    assert person.send("/app/sign-out").status == 303
    assert _until(listening, "never").endswith("0\r\n\r\n")
    wait_until(lambda: person.get(f"/app/trials/{trial}/monitor/events").status == 303, 5)
    listening.close()


def test_files_to_take_along(populated: Service) -> None:
    person = sign_in(populated, "statistician")
    for form, beginning in (("csv", b"STUDYID"), ("log", b"{"), ("json", b"{")):
        reply = person.get(f"/app/trials/{OPEN}/monitor/file?format={form}")
        assert reply.status == 200
        assert reply.headers["content-disposition"].startswith("attachment")
        assert reply.body.startswith(beginning)


def _listen(service: Service, person: Person, trial: str) -> socket.socket:
    listening = socket.create_connection(("127.0.0.1", service.port), timeout=10)
    path = f"/app/trials/{trial}/monitor/events"
    listening.sendall(
        f"GET {path} HTTP/1.1\r\nHost: adhere.test\r\nCookie: {COOKIE}={person.secret}\r\n\r\n".encode()
    )
    return listening


def _until(listening: socket.socket, text: str) -> str:
    """What comes, up to a text or to the end of the answer."""
    found = ""
    while text not in found and not found.endswith("0\r\n\r\n"):
        part = listening.recv(1 << 16).decode()
        if not part:
            return found
        found += part
    return found
