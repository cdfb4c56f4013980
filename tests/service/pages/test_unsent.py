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
    page.wait_for_selector("#unsent li:has-text('outcome of S-1: Outcome 1'):has-text('recorded')")
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


REFUSED = "console: Failed to load resource: the server responded with a status of "
ONLINE = "dispatchEvent(new Event('online'))"
FOCUS = "document.activeElement.id"


def test_a_refusal_leaves_the_page_where_another_code_is_typed(service: Service, phone: Visitor, trial: str) -> None:
    phone.expected = (*phone.expected, f"{REFUSED}422")
    page, sent = phone.page, []
    made = service.ids(trial)[0]
    service.client("site").report(trial, made, took_nothing=True, reward=1)
    phone.open(f"/app/trials/{trial}/recommendations/{made}")
    page.click("summary:has-text('Correct a report')")
    page.select_option("#correct-taken", "took_other")  # without saying what
    page.fill("#reason-correction", "a slip")
    page.route("**/correction", lambda route: route.abort())
    page.click("button:text-is('Correct')")
    page.wait_for_selector("#unsent:has-text('Not sent yet')")
    phone.open(f"/app/trials/{trial}/site")
    page.type("#subject", "L-01")
    page.unroute("**/correction")
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    page.evaluate(ONLINE)
    page.wait_for_selector("#unsent:has-text('Not recorded'):has-text('correction of S-1')")
    page.keyboard.type("4")
    assert (page.inner_text("main h1"), page.input_value("#subject"), page.evaluate(FOCUS)) == (
        trial,
        "L-014",
        "subject",
    )
    assert "Say what was taken." in page.inner_text("#unsent li")
    page.evaluate(ONLINE)
    page.keyboard.press("Enter")
    page.wait_for_selector(".given h1:has-text('L-014')")
    assert [url.rpartition("/")[2] for url in sent] == ["correction", "site"]  # what was refused is not sent again
    assert len(reports(service, trial)) == 1
    page.click("#unsent a:has-text('Open the subject’s page')")
    page.wait_for_selector(".given h1:has-text('S-1')")
    page.click("#unsent button:has-text('Dismiss')")
    assert page.evaluate(KEPT) is None
    assert page.is_hidden("#unsent")


def test_a_question_about_a_code_leaves_the_next_code_that_is_typed(service: Service, phone: Visitor) -> None:
    trial, page = service.new_trial(), phone.page
    service.client("site").recommend(trial, "L-001")
    phone.expected = (*phone.expected, f"{REFUSED}409", f"{REFUSED}422")
    phone.open(f"/app/trials/{trial}/site")
    page.route("**/site", lambda route: route.abort())
    page.fill("#subject", "l001")
    page.click("button:has-text('Recommend')")
    page.wait_for_selector("#unsent:has-text('recommendation for l001')")
    page.fill("#subject", "K-77")
    page.unroute("**/site")
    page.evaluate(ONLINE)
    page.wait_for_selector("#unsent:has-text('Not recorded'):has-text('Is it the same person?')")
    assert page.input_value("#subject") == "K-77"
    page.click("button:has-text('Recommend')")
    page.wait_for_selector(".given h1:has-text('K-77')")
    assert [line.subject for line in service.client("site").waiting(trial)] == ["L-001", "K-77"]


def test_a_tap_that_is_deleted_may_be_recorded_and_the_next_one_is_another(
    service: Service, phone: Visitor, trial: str
) -> None:
    page, asked = phone.page, []
    phone.expected = (*phone.expected, f"{REFUSED}409")

    def agree(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.accept()

    page.on("dialog", agree)
    page.route("**/report", lambda route: (route.fetch(), route.abort()), times=1)
    page.click("button:has-text('Nothing')")
    page.click("#unsent button:has-text('Delete')")
    assert "it is recorded already" in asked[0]
    assert page.is_hidden("#unsent")
    page.click("button.big >> nth=0")
    page.wait_for_selector(".problem:has-text('is already recorded. To change it')")
    assert [line.actual for line in reports(service, trial)] == ["nothing"]


def test_a_key_that_was_used_before_is_explained_in_plain_words(phone: Visitor, trial: str) -> None:
    page = phone.page
    phone.expected = (*phone.expected, f"{REFUSED}409")
    key = page.input_value("form:has-text('Nothing') [name=key] >> nth=0")
    page.click("button:has-text('Nothing')")
    page.wait_for_selector(".recorded:has-text('othing')")
    page.eval_on_selector("form:has-text('Outcome 1') [name=key]", "(field, key) => { field.value = key; }", key)
    page.click("button:has-text('Outcome 1')")
    page.wait_for_selector(".problem:has-text('This form was sent before, with something else.')")


def test_a_page_about_another_subject_stays_when_a_tap_is_sent(service: Service, phone: Visitor, trial: str) -> None:
    page = phone.page
    other = service.client("site").recommend(trial, "S-2").id
    page.route("**/report", lambda route: route.abort())
    page.click("button:has-text('Outcome 1')")
    page.wait_for_selector("#unsent:has-text('Not sent yet')")
    phone.open(f"/app/trials/{trial}/recommendations/{other}")
    page.unroute("**/report")
    page.evaluate(ONLINE)
    page.wait_for_selector("#unsent li:has-text('outcome of S-1: Outcome 1'):has-text('recorded')")
    assert page.inner_text(".given h1").startswith("S-2")
    assert [line.reward for line in reports(service, trial)] == [1]
    page.click("text=Show it")
    page.wait_for_selector(".recorded:has-text('Outcome 1')")
