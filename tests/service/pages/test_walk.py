"""A trial from its design to its end by clicking, with two browsers: a nurse's phone and the office's laptop."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from service.serving import Service

from .visitor import Visitor, visiting

TRIAL = "walked"
N_PATIENTS = 3  # after whose outcomes there is a look
TIMEOUT = 60_000  # milliseconds until an open monitor shows what is new


def test_from_the_design_to_the_end(browser: Any, service: Service) -> None:
    with (
        visiting(browser, service, "admin") as office,
        visiting(browser, service, "statistician") as statistician,
        visiting(browser, service, "site", phone=True) as phone,
    ):
        office.page.on("dialog", lambda dialog: dialog.accept())
        create(office)
        watch(statistician)
        for number in range(1, N_PATIENTS + 1):
            report(phone, recommend(phone, f"S-{number}"), outcome=1)
        shows(statistician, "#n-outcomes", N_PATIENTS)
        correct(phone)
        expect(statistician.page.locator("#part-looks tbody tr").first).to_contain_text("1 of 2", timeout=TIMEOUT)
        close(office)
        expect(statistician.page.locator("#part-head")).to_contain_text("closed", timeout=TIMEOUT)
        phone.open(f"/app/trials/{TRIAL}/site")
        assert "The trial has ended" in phone.page.locator("main").inner_text()
        assert office.faults == statistician.faults == phone.faults == []
    events = [record.event for record in service.client().records(TRIAL).records]
    assert events.count("recommended") == N_PATIENTS
    assert events.count("corrected") == 1
    assert events[-1] == "closed"


def create(office: Visitor) -> None:
    """From the list of trials, by the form."""
    page = office.page
    office.open("/app/trials")
    page.get_by_role("link", name="New trial").first.click()
    page.get_by_label("Name", exact=True).fill(TRIAL)
    page.get_by_label("Arms, one on each line").fill("paracetamol\nibuprofen")
    page.get_by_label("Largest number of patients").fill("20")
    page.get_by_label("The trial is looked at").select_option("at")
    page.get_by_label("Numbers").fill(str(N_PATIENTS))
    page.get_by_label("A look decides by").select_option("posterior")
    page.get_by_label("Superior from").fill("0.99")
    page.get_by_role("button", name="Check the design").click()
    page.get_by_role("button", name="Create trial").click()
    page.wait_for_url(f"**/app/trials/{TRIAL}")


def watch(statistician: Visitor) -> None:
    statistician.open(f"/app/trials/{TRIAL}/monitor")


def shows(statistician: Visitor, what: str, number: int) -> None:
    """The open page shows a number, without being loaded again."""
    expect(statistician.page.locator(what)).to_have_text(str(number), timeout=TIMEOUT)


def recommend(phone: Visitor, subject: str) -> str:
    """Enter a subject; returns the arm that the phone shows."""
    phone.open(f"/app/trials/{TRIAL}/site")
    phone.page.get_by_label("Subject’s code").first.fill(subject)
    phone.page.get_by_role("button", name="Recommend").tap()
    expect(phone.page.locator("h1")).to_contain_text(subject)
    return str(phone.page.locator(".answer").first.inner_text())


def report(phone: Visitor, arm: str, outcome: int) -> None:
    """In two taps."""
    phone.page.get_by_role("button", name=arm).tap()
    expect(phone.page.locator(".recorded")).to_have_count(1)
    phone.page.get_by_role("button", name=f"Outcome {outcome}").tap()
    expect(phone.page.locator(".recorded")).to_have_count(2)


def correct(phone: Visitor) -> None:
    """The outcome that was tapped last was the wrong one."""
    phone.page.get_by_text("Correct a report").tap()
    phone.page.get_by_role("combobox", name="Outcome").select_option(label="Outcome 0")
    phone.page.locator("#reason-correction").fill("tapped the wrong button")
    phone.page.get_by_role("button", name="Correct", exact=True).tap()
    expect(phone.page.locator(".recorded").last).to_contain_text("Outcome 0")


def close(office: Visitor) -> None:
    office.open(f"/app/trials/{TRIAL}")
    form = office.page.locator("form", has=office.page.get_by_role("heading", name="Close"))
    form.get_by_label("Reason").fill("the look recommends it")
    form.get_by_role("button", name="Close").click()
    expect(office.page.locator("h1")).to_contain_text("closed")
