"""The page of a recommendation shows what was recorded, when and by whom; an unblinded arm is shown once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adhere.service.pages.site.recommendation import entries
from adhere_client.responses.recommendations import RecommendationDetails, RecordedLine
from report.browser import executable
from service.serving import Service

from .person import Person, sign_in
from .visitor import Visitor, visiting

ARMS = ("verum-xyz", "placebo-xyz")
OWN = "the site of the tests"
AGAIN = "If the answer did not arrive, unblind again: that is recorded too."


@pytest.fixture
def person(service: Service) -> Person:
    return sign_in(service, "site")


def history(body: bytes) -> list[str]:
    """Texts of the entries, without their times."""
    found = re.findall(r"<li>(.*?)</li>", body.decode().partition('class="history"')[2], re.DOTALL)
    return [re.sub(r"<time.*?</time>", "…", one) for one in found]


def plain(entry: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", entry).split())


def test_reports_and_corrections_are_shown_with_what_was_there_before(service: Service, person: Person) -> None:
    words = {"alive": 1, "died": 0}
    trial, site = service.new_trial(policy="uniform", blinded=True, outcome_words=words), service.client("site")
    own, other = site.recommend(trial, "S-1"), site.recommend(trial, "S-2")
    here = f"/app/trials/{trial}/recommendations/{own.id}"
    assert history(person.get(here).body) == []
    site.report(trial, own.id, actual=other.kit, reward=1)
    assert f"Another kit, {other.kit}" in person.get(here).body.decode().partition('class="recorded"')[2]
    site.correct(trial, own.id, actual=own.kit, reward=0, reason="the wrong line")
    site.correct(trial, own.id, took_other="tea", retract=["reward"], reason="neither")
    service.client().correct(trial, own.id, took_nothing=True, reason="as the pharmacy says")
    site.withdraw(trial, own.id, "moved away")
    site.correct(trial, own.id, retract=["withdrawal"], reason="came back")
    site.unblind(trial, str(own.kit), "ill")
    shown = person.get(here).body
    assert [plain(one) for one in history(shown)] == [
        f"Taken: Another kit, {other.kit} Outcome: alive …, {OWN}",
        f"Taken corrected: Another kit, {other.kit} → This kit, {own.kit} Outcome corrected: alive → died "
        f"Reason: the wrong line …, {OWN}",
        f"Taken corrected: This kit, {own.kit} → Something else: tea Outcome corrected: died → not reported "
        f"Reason: neither …, {OWN}",
        "Taken corrected: Something else: tea → Nothing …, an admin",
        f"Lost to follow-up Reason: moved away …, {OWN}",
        f"Not lost to follow-up Reason: came back …, {OWN}",
        f"Kit {own.kit} unblinded Reason: ill {AGAIN} …, {OWN}",
    ]
    assert shown.count(b"<time") > 7


def test_an_admin_is_shown_arms_kits_and_names(service: Service) -> None:
    trial = service.new_trial(policy="uniform", arms=ARMS, blinded=True)
    made = service.client("site").recommend(trial, "S-1")
    service.client("site").report(trial, made.id, actual=made.kit)
    told = service.client().recommendation(trial, made.id)
    shown = sign_in(service, "admin").get(f"/app/trials/{trial}/recommendations/{made.id}").body
    assert [plain(one) for one in history(shown)] == [f"Taken: {told.actual} (kit {made.kit}) …, {OWN}"]


def test_a_tap_that_was_sent_later_says_when_it_happened() -> None:
    at = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    for minutes, is_shown in ((1, False), (10, True)):
        line = RecordedLine("reported", at, OWN, reward=1, happened=at - timedelta(minutes=minutes))
        (entry,) = entries(RecommendationDetails("ID", at, open=True, withdrawn=False, recorded=(line,)), {})
        assert (entry.happened is not None) == is_shown


@pytest.fixture
def blinded(service: Service) -> tuple[str, str, str]:
    """A blinded trial, the page of its recommendation, and the kit."""
    trial = service.new_trial(policy="uniform", arms=ARMS, blinded=True)
    made = service.client("site").recommend(trial, "S-1")
    return trial, f"/app/trials/{trial}/recommendations/{made.id}", str(made.kit)


def test_the_same_request_again_says_that_the_arm_was_shown(
    service: Service, person: Person, blinded: tuple[str, str, str]
) -> None:
    _, here, kit = blinded
    asked = {"kit": kit, "reason": "ill", "key": "one"}
    assert b"xyz" in person.send(f"{here}/unblinding", asked).body
    again = person.send(f"{here}/unblinding", asked)
    assert (again.status, b"xyz" in again.body) == (200, False)
    assert f"Kit {kit} was unblinded" in plain(again.body.decode())
    assert "It is not shown again" in plain(again.body.decode())
    assert re.search(rb"<details[^>]* open><summary>Emergency unblinding", again.body)
    new = person.send(f"{here}/unblinding", {**asked, "key": "two", "reason": "the connection broke"})
    assert b"xyz" in new.body
    assert [plain(one) for one in history(person.get(here).body)] == [
        f"Kit {kit} unblinded Reason: ill {AGAIN} …, {OWN}",
        f"Kit {kit} unblinded Reason: the connection broke {AGAIN} …, {OWN}",
    ]


def test_who_unblinded_is_told_that_it_can_be_done_again(
    service: Service, person: Person, blinded: tuple[str, str, str]
) -> None:
    trial, here, kit = blinded
    service.client("statistician").unblind(trial, kit, "a planned look")
    assert history(person.get(here).body) == []
    service.client("site").unblind(trial, kit, "ill")
    assert plain(history(person.get(here).body)[0]) == f"Kit {kit} unblinded Reason: ill {AGAIN} …, {OWN}"
    assert AGAIN not in sign_in(service, "admin").get(here).body.decode()  # who unblinded nothing


def unblind(phone: Visitor, here: str, kit: str) -> str:
    """Unblind a kit on the page; returns the arm that is shown."""
    page = phone.page
    phone.open(here)
    page.click("summary:has-text('Emergency unblinding')")
    page.fill("#kit", kit)
    page.fill("#reason-unblinding", "ill")
    page.click("button:text-is('Unblind')")
    arm: str = page.inner_text(".warning .answer")
    assert arm in ARMS
    return arm


def test_an_unblinded_arm_is_not_shown_again(browser: Any, service: Service, blinded: tuple[str, str, str]) -> None:
    trial, here, kit = blinded
    with visiting(browser, service, "site", phone=True) as phone:
        page = phone.page
        arm = unblind(phone, here, kit)
        page.reload()
        assert arm not in page.content()
        assert kit in page.inner_text(".history")
        arm = unblind(phone, here, kit)
        page.click("text=‹ Site")
        page.wait_for_url("**/site")
        page.go_back()
        page.wait_for_selector(".history")
        assert arm not in page.content()
        page.go_forward()
        page.go_back()
        page.wait_for_selector(".history")
        assert arm not in page.content()
        unblind(phone, here, kit)
        other = page.context.new_page()
        other.goto(page.url)
        assert arm not in other.content()
        assert phone.faults == []
    assert sum(one.kind == "unblinding" for one in service.client().accesses(trial)) == 3


@pytest.fixture
def keeping_browser(browser: Any) -> Iterator[Any]:
    """A Chromium that keeps pages to come back to, as people's do and those under test do not."""
    kept = browser.browser_type.launch(
        executable_path=executable(), ignore_default_args=["--disable-back-forward-cache"]
    )
    yield kept
    kept.close()


@pytest.mark.slow
def test_a_page_that_the_browser_kept_has_no_arm(
    keeping_browser: Any, service: Service, blinded: tuple[str, str, str]
) -> None:
    _, here, kit = blinded
    with visiting(keeping_browser, service, "site", phone=True) as phone:
        page = phone.page
        arm = unblind(phone, here, kit)
        page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
        assert arm not in page.content()
        assert page.inner_text("[data-shown-once]") == "This was shown once."
        page.goto(f"{service.url}/app/trials")
        page.go_back()
        assert arm not in page.content()


def test_loading_access_again_makes_no_second_code(browser: Any, service: Service) -> None:
    with visiting(browser, service, "admin") as admin:
        page = admin.page
        admin.open("/app/access")
        page.check("input[value=coordinator]")
        page.fill("#label", "shown once")
        page.click("button[value=token]")
        secret = page.inner_text(".once")
        n_tokens = len(service.client().tokens())
        page.reload()
        assert secret not in page.content()
        assert page.url.endswith("/app/access")
        assert len(service.client().tokens()) == n_tokens
