"""A trial's own page in a browser: what its design says, a pause, and an end that names the reports it gives up."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adhere.store import open_store
from service.serving import ARMS, Service, in_file, serving_again

from .person import sign_in
from .populated import OPEN
from .visitor import Visitor, assert_fits, visiting


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with in_file(tmp_path_factory.mktemp("overview") / "trials.db") as running:
        yield running


def test_a_trial_is_paused_resumed_and_closed_without_the_reports_it_waits_for(browser: Any, small: Service) -> None:
    small.client().create_trial("rehearsed", "uniform", ARMS, rehearsal=True)
    small.client("site").recommend("rehearsed", "S-007")
    with visiting(browser, small, "admin") as admin:
        page = admin.page
        page.on("dialog", lambda dialog: dialog.accept())
        admin.expected = ("console: Failed to load resource: the server responded with a status of 422",)
        admin.open("/app/trials")
        assert page.locator("tbody tr").inner_text().split("\t")[1:] == ["open rehearsal", "1", "1", "–"]
        page.get_by_role("link", name="rehearsed").click()
        assert "Rehearsal." in page.locator("main").inner_text()
        assert "Patients are randomised to walk or aspirin." in page.locator("main").inner_text()
        for change, status in (("Pause", "paused"), ("Resume", "open")):
            page.get_by_label("Reason").first.fill("the ward moves")
            with page.expect_navigation():
                page.get_by_role("button", name=change).click()
            assert small.client().trials()["rehearsed"] == status
        page.get_by_label("Reason").last.fill("done")
        with page.expect_navigation():
            page.get_by_role("button", name="Close").click()
        assert page.get_by_label("Reason").last.input_value() == "done"
        page.get_by_text("1 waiting report").click()
        assert "S-007, A" in page.locator("main").inner_text()
        assert admin.axe_issues() == []
        page.get_by_label("Do without these reports").check()
        with page.expect_navigation():
            page.get_by_role("button", name="Close").click()
        assert small.client().trials()["rehearsed"] == "closed"
        assert page.get_by_role("button", name="Close").count() == 0
        assert admin.faults == []


def test_the_secret_of_a_closed_trial_is_revealed_by_an_admin(browser: Any, small: Service) -> None:
    small.client().create_trial("to reveal", "uniform", ARMS)
    path, card = "/app/trials/to%20reveal", "Reveal the secret"
    commitment, secret = small.client().trial("to reveal").commitments[0], small.secret("to reveal").hex()
    with visiting(browser, small, "admin", phone=True) as admin:
        page = admin.page
        page.on("dialog", lambda dialog: dialog.accept())
        admin.expected = ("console: Failed to load resource: the server responded with a status of 422",)
        admin.open(path)
        assert f"Secret not revealed. Commitment {commitment}" in page.locator("main").inner_text()
        assert page.get_by_role("button", name=card).count() == 0  # while it goes on
        small.client().end_trial("to reveal", "done")
        for role in ("statistician", "coordinator", "site"):
            assert card.encode() not in sign_in(small, role).get(path).body
        admin.open(path)
        assert_fits(admin)
        assert admin.axe_issues() == []
        page.get_by_label("Reason").evaluate("one => one.removeAttribute('required')")
        with page.expect_navigation():
            page.get_by_role("button", name=card).click()
        assert page.get_by_role("alert").count() == 1  # without a reason
        page.get_by_label("Reason").fill("the last outcome was assessed")
        with page.expect_navigation():
            page.get_by_role("button", name=card).click()
        said = page.locator("main").inner_text()
        assert f"Secret revealed. Commitment {commitment}" in said
        assert secret not in page.content()  # it is in the log
        assert page.get_by_role("button", name=card).count() == 0
        assert admin.faults == []
    assert small.client().verify("to reveal").secret == "revealed"
    told = sign_in(small, "statistician").get(f"{path}/audit/verification").body.decode()
    assert "is revealed in the log and fits its commitment: anybody who has the log can draw them again" in told


def test_the_commitments_of_all_epochs_are_shown_in_order(tmp_path: Path) -> None:
    path = tmp_path / "trials.db"
    with in_file(path) as before:
        token, trial = before.admin, before.new_trial()
    backup = shutil.copy(path, tmp_path / "copy.db")
    with serving_again(open_store(backup), token) as service:
        first, second = service.client().trial(trial).commitments
        shown = " ".join(
            re.sub(r"<[^>]*>", " ", sign_in(service, "admin").get(f"/app/trials/{trial}").body.decode()).split()
        )
        assert f"Secrets not revealed. Commitments of the 2 epochs, in order: {first} , {second}" in shown


def test_a_recommended_stop_is_explained_to_those_who_may_know(small: Service) -> None:
    design: dict[str, Any] = {
        "n_patients": 40,
        "looks": {"at": [4]},
        "stopping": {"by": "posterior", "superiority": 0.5},
    }
    trial, site = small.new_trial(**design), small.client("site")
    for number in range(4):
        advice = site.recommend(trial, f"S-{number}")
        site.report(trial, advice.id, actual=advice.arm, reward=advice.arm == "walk")
    for role, is_told in (("admin", True), ("statistician", True), ("coordinator", False), ("site", False)):
        person = sign_in(small, role)
        assert (b"Look 1 recommends to stop" in person.get(f"/app/trials/{trial}").body) == is_told, role
        assert (b"stop recommended" in person.get("/app/trials").body) == is_told, role


def test_many_trials_are_listed_on_several_pages(small: Service) -> None:
    client, person = small.client(), sign_in(small, "coordinator")
    for number in range(51):
        client.create_trial(f"list {number:02}", "uniform", ARMS)
    first = person.get("/app/trials").body.decode()
    assert len(re.findall(r"<tr>", first.partition("<tbody>")[2])) == 50
    assert "Compliance" not in first
    (older,) = re.findall(r'href="([^"]+)"[^>]*>Older', first)
    assert "list 00" in person.get(older).body.decode()
    assert "list 00" not in first


def test_a_site_sees_what_it_may_of_the_design(as_role: Callable[[str | None], Visitor]) -> None:
    site = as_role("site")
    site.open(f"/app/trials/{OPEN}")
    said = site.page.locator("main").inner_text()
    assert "Patients are recommended usual care or stroke unit." in said
    assert "Digest" not in said
    assert site.page.get_by_role("button", name="Close").count() == 0
