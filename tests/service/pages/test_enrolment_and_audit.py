"""What Enrolment and Audit show, and to whom; a derivation and a verification come on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adhere.store import open_store
from service.serving import ARMS, Service, in_file, serving_again

from .populated import BLINDED, OPEN, SECOND
from .visitor import Visitor, assert_fits, visiting

AsRole = Callable[[str | None], Visitor]


def test_a_coordinator_sees_who_is_enrolled_and_what_waits_and_no_arm(as_role: AsRole, populated: Service) -> None:
    visitor = as_role("coordinator")
    for trial in (OPEN, BLINDED):
        assert visitor.open(f"/app/trials/{trial}/enrolment") == 200
        text = visitor.page.locator("main").inner_text()
        assert "10\nrecommended of 40 planned" in text
        waiting = visitor.page.locator("[aria-label='Waiting for a report'] tbody tr")
        ids = populated.ids(trial)
        assert [row.split("\t")[:2] for row in waiting.all_inner_texts()] == [[ids[4], "A"], [ids[9], "B"]]
        for one in ids:
            text = text.replace(one, "")  # its random letters may spell a code
        assert not any(word in text for word in ("usual care", "stroke unit", "placebo", "verum", "S-0"))
        visitor.page.wait_for_selector("figure[data-drawn]")
    assert visitor.faults == []
    assert visitor.person.get(f"/app/trials/{OPEN}/audit").status == 403


def test_a_site_opens_neither(as_role: AsRole, populated: Service) -> None:
    own = f"audit/{populated.ids(OPEN)[SECOND]}"
    for path in ("enrolment", "audit", "audit/verification", own, f"{own}/derivation"):
        assert as_role("site").person.get(f"/app/trials/{OPEN}/{path}").status == 403


def test_a_statistician_goes_from_the_log_to_why_and_back(as_role: AsRole, populated: Service) -> None:
    visitor = as_role("statistician")
    page = visitor.page
    visitor.open(f"/app/trials/{OPEN}/audit")
    assert "Who read what" not in page.locator("main").inner_text()  # which is for admins
    page.get_by_role("button", name="Verify now").click()
    page.get_by_text("The chain is whole.").wait_for()
    head = populated.client().trial(OPEN).head
    assert head is not None
    said = page.locator("#verification").inner_text()
    assert head in said
    assert "until it is revealed, nobody else can draw them again" in said
    corrected = populated.ids(OPEN)[7]
    page.get_by_role("region", name="The log").get_by_role("link", name=corrected).first.click()
    page.get_by_text("Derived again just now, with the same result").wait_for()
    assert corrected in page.locator("h1").inner_text()
    said = page.locator("#derivation").inner_text()
    assert "drawn by\tthe trial's secret" in said
    assert "thompson/actual, which had learned from records" in said
    assert "(typed in the wrong line)" in said
    assert visitor.faults == []


def test_without_the_secret_the_probabilities_are_derived_again_and_it_is_said_that_no_arm_is_drawn(
    browser: Any, tmp_path: Path
) -> None:
    path = tmp_path / "trials.db"
    with in_file(path) as before:
        trial, seeded, token = before.new_trial(), before.new_trial(rehearsal=True, seed=7), before.admin
        for name in (trial, seeded):
            before.client("site").recommend(name, "S-1")
    store = open_store(path)
    with store.writing() as writing:
        writing.run("DELETE FROM secrets")
    with serving_again(store, token) as service, visiting(browser, service, "admin") as visitor:
        for name, of_arms, of_chain in (
            (
                trial,
                "Its probabilities were derived again just now, with the same result.",
                "cannot draw them again.",
            ),
            (seeded, "Derived again just now, with the same result:", "drawn by a seed that is in the log"),
        ):
            visitor.open(f"/app/trials/{name}/audit/{service.ids(name)[0]}")
            visitor.page.get_by_text(of_arms).wait_for()
            said = visitor.page.locator("#derivation").inner_text()
            unknown = "The arm was not drawn again: the secret that drew the arm is not known here."
            assert (unknown in said) == (name == trial)
            assert said.count("0.500000") == 2 * len(ARMS)  # logged and derived again
            assert_fits(visitor)
            visitor.open(f"/app/trials/{name}/audit")
            visitor.page.get_by_role("button", name="Verify now").click()
            visitor.page.get_by_text("The chain is whole.").wait_for()
            assert of_chain in visitor.page.locator("#verification").inner_text()
        assert visitor.faults == []


def test_an_admin_sees_who_read_the_log(as_role: AsRole, populated: Service) -> None:
    second = populated.ids(BLINDED)[SECOND]
    as_role("statistician").person.get(f"/app/trials/{BLINDED}/audit/{second}")
    visitor = as_role("admin")
    visitor.open(f"/app/trials/{BLINDED}/audit")
    rows = visitor.page.get_by_role("region", name="Who read what").locator("tbody tr").all_inner_texts()
    assert any("the statistician of the tests" in row and f"\trecommendation\t{second}\t" in row for row in rows)
