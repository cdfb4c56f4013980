"""A lost connection: taps are kept on the phone and sent again under the same key, so that each counts once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from service.serving import Service

from .visitor import Visitor, visiting

KEPT = "localStorage.getItem('adhere-unsent')"


@pytest.fixture
def phone(browser: Any, service: Service) -> Iterator[Visitor]:
    with visiting(browser, service, "site", phone=True) as visitor:
        visitor.expected = ("console: Failed to load resource: net::ERR",)
        yield visitor
        assert visitor.faults == []


@pytest.fixture
def trial(service: Service, phone: Visitor) -> str:
    """A trial with one recommendation, which the phone shows."""
    name = service.new_trial()
    made = service.client("site").recommend(name, "S-1").id
    with phone.page.expect_response("**/healthz"):
        phone.open(f"/app/trials/{name}/recommendations/{made}")
    return name


def reports(service: Service, trial: str) -> list[Any]:
    derivation = service.client().recommendation(trial, service.ids(trial)[0]).derivation
    assert derivation is not None
    return derivation.history[1:]


def test_a_tap_without_connection_is_recorded_once_with_the_time_of_the_tap(
    service: Service, phone: Visitor, trial: str
) -> None:
    page = phone.page
    page.context.set_offline(True)
    page.click("button:has-text('Nothing')")
    page.wait_for_selector("#unsent:has-text('what was taken of S-1: Nothing')")
    assert page.is_disabled("button:has-text('Nothing')")
    page.click("button:has-text('Outcome 1')")
    page.wait_for_selector("#unsent:has-text('outcome of S-1: Outcome 1')")
    tapped = datetime.now(UTC)
    assert reports(service, trial) == []
    page.context.set_offline(False)
    page.wait_for_selector(".badge:has-text('complete')")
    lines = reports(service, trial)
    assert [(line.event, line.actual, line.reward) for line in lines] == [
        ("reported", "nothing", None),
        ("reported", None, 1),
    ]
    made = service.client("site").recommendation(trial, service.ids(trial)[0]).at
    assert all(made <= line.happened <= tapped < line.at for line in lines)
    assert page.evaluate(KEPT) is None


@pytest.mark.parametrize("in_another_page", [False, True])
def test_an_answer_that_is_lost_is_asked_for_again_under_the_same_key(
    service: Service, phone: Visitor, trial: str, in_another_page: bool
) -> None:
    page, keys = phone.page, []

    def lose(route: Any) -> None:
        keys.append(route.request.post_data)
        route.fetch()  # the service has executed it
        route.abort()

    page.route("**/report", lose, times=1)
    page.on("request", lambda asked: keys.append(asked.post_data) if asked.url.endswith("/report") else None)
    page.click("button:has-text('Outcome 0')")
    page.wait_for_selector("#unsent:has-text('Outcome 0')")
    assert len(reports(service, trial)) == 1
    if in_another_page:
        phone.open(f"/app/trials/{trial}/site")  # opened again, it sends what is left
    else:
        page.click("text=Send now")
    page.wait_for_selector(".recorded:has-text('Outcome 0')")
    assert len(keys) >= 2
    assert len(set(keys)) == 1
    assert [(line.event, line.reward) for line in reports(service, trial)] == [("reported", 0)]
    assert page.evaluate(KEPT) is None


def test_a_recommendation_whose_answer_is_lost_is_made_once(service: Service, phone: Visitor) -> None:
    trial, page = service.new_trial(repeats=True), phone.page  # in which S-1 could get another one
    phone.open(f"/app/trials/{trial}/site")
    page.route("**/site", lambda route: (route.fetch(), route.abort()), times=1)
    page.fill("#subject", "S-1")
    page.click("button:has-text('Recommend')")
    page.wait_for_selector("#unsent:has-text('recommendation for S-1')")
    page.click("text=Send now")
    page.wait_for_selector(".given")
    assert len(service.client("site").waiting(trial)) == 1


def test_what_is_being_typed_stays_when_a_tap_is_sent(service: Service, phone: Visitor, trial: str) -> None:
    page = phone.page
    page.context.set_offline(True)
    page.click("button:has-text('Outcome 1')")
    page.wait_for_selector("#unsent:has-text('Not sent yet')")
    page.click("summary:has-text('Lost to follow-up')")
    page.fill("#reason-withdrawal", "moved to another town")
    page.context.set_offline(False)
    page.wait_for_selector("#unsent:has-text('is recorded now')")
    assert page.input_value("#reason-withdrawal") == "moved to another town"
    assert [line.reward for line in reports(service, trial)] == [1]
    page.click("text=Show it")
    page.wait_for_selector(".recorded:has-text('Outcome 1')")


@pytest.mark.parametrize("name", ["adhere-unsent", "of-another-program"])
def test_a_device_that_can_keep_nothing_sends_a_tap_at_once(
    service: Service, phone: Visitor, trial: str, name: str
) -> None:
    page = phone.page
    page.evaluate(
        "name => localStorage.setItem(name, '{'.repeat(5 * 2 ** 20 - name.length))", name
    )  # all it can hold
    page.click("button:has-text('Outcome 0')")
    page.wait_for_selector(".recorded:has-text('Outcome 0')")
    assert [line.reward for line in reports(service, trial)] == [0]
    page.evaluate("localStorage.clear()")


def test_signing_out_leaves_what_somebody_else_has_tapped(phone: Visitor, trial: str) -> None:
    page = phone.page
    theirs = '[{"holder": "999", "key": "k", "what": "outcome of S-9", "at": "2026-03-01T09:00:00Z", "body": ""}]'
    page.evaluate("kept => localStorage.setItem('adhere-unsent', kept)", theirs)
    page.click("text=Sign out")  # nothing is asked
    page.wait_for_selector("#token")
    assert json.loads(page.evaluate(KEPT)) == json.loads(theirs)
    page.evaluate("localStorage.clear()")


def test_signing_out_asks_and_leaves_nothing_on_the_phone(service: Service, phone: Visitor, trial: str) -> None:
    page, asked = phone.page, []

    def agree(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.accept()

    page.route("**/report", lambda route: route.abort())
    page.click("button:has-text('Nothing')")
    page.wait_for_selector("#unsent:has-text('Not sent yet')")
    page.on("dialog", agree)
    page.click("text=Sign out")
    page.wait_for_selector("#token")
    assert "not sent" in asked[0]
    assert page.evaluate(KEPT) is None
    assert reports(service, trial) == []


def test_a_refusal_is_shown_and_not_sent_again(service: Service, phone: Visitor, trial: str) -> None:
    phone.expected = (*phone.expected, "console: Failed to load resource: the server responded with a status of 409")
    service.client("site").report(trial, service.ids(trial)[0], reward=1)
    phone.page.click("button:has-text('Outcome 0')")
    phone.page.wait_for_selector(".problem, .field-problem")
    assert phone.page.evaluate(KEPT) is None
    assert len(reports(service, trial)) == 1
