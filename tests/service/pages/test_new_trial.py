"""New trial in a browser: by form and by file, what is wrong beside its field, and how it would behave."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from service.holding import hold, release_until_more_are_done
from service.serving import Service, in_file

from .person import sign_in
from .visitor import Visitor, assert_fits, visiting

FILE = 'name = "from a file"\npolicy = "thompson"\narms = ["walk", "aspirin"]\nn_patients = 100\n'


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with in_file(tmp_path_factory.mktemp("new-trial") / "trials.db") as running:
        yield running


@pytest.fixture(scope="module")
def admin(browser: Any, empty: Service) -> Iterator[Visitor]:
    with visiting(browser, empty, "admin") as visitor:
        visitor.page.on("dialog", lambda dialog: dialog.accept())
        yield visitor


def send(page: Any, button: str) -> None:
    """Send a form, and wait until the page that answers it is ready."""
    with page.expect_navigation(wait_until="load"):
        page.get_by_role("button", name=button).click()


def test_a_mistake_stands_beside_its_field_and_what_was_typed_stays(admin: Visitor, empty: Service) -> None:
    page = admin.page
    admin.expected = ("console: Failed to load resource: the server responded with a status of 422",)
    admin.open("/app/new-trial")
    page.get_by_label("Name", exact=True).fill("by form")
    page.get_by_label("Arms, one on each line").fill("walk\naspirin")
    page.get_by_label("Largest number of patients").fill("many")
    page.get_by_label("Blinded").check()
    send(page, "Check the design")
    wrong = page.get_by_label("Largest number of patients")
    assert wrong.get_attribute("aria-invalid") == "true"
    assert wrong.get_attribute("aria-describedby").split()[0] == "problem-n_patients"
    assert page.locator("[id='problem-n_patients']").inner_text() == (
        "“many” is not a whole number; write digits, such as 400."
    )
    summary = page.get_by_role("alert")
    assert summary.evaluate("one => one === document.activeElement")
    assert summary.inner_text().splitlines()[0] == "One thing is not right yet."
    page.get_by_role("link", name="Largest number of patients:").click()
    assert wrong.evaluate("one => one === document.activeElement")
    assert wrong.input_value() == "many"
    assert page.get_by_label("Arms, one on each line").input_value() == "walk\naspirin"
    assert page.get_by_label("Blinded").is_checked()
    assert admin.axe_issues() == []

    wrong.fill("40")
    page.get_by_label("Blinded").uncheck()
    page.get_by_label("Floor", exact=True).fill("0.7")
    send(page, "Check the design")
    assert "0.7" in page.locator("[id='problem-floor.share']").inner_text()
    page.get_by_label("Floor", exact=True).fill("0.2")
    page.get_by_label("Words for them").fill("alive = 1")
    send(page, "Check the design")
    assert (
        "one word for each of the values an outcome can have"
        in page.locator("[id='problem-outcome_words']").inner_text()
    )
    page.get_by_label("Words for them").fill("alive = 0\ndied = 1")
    page.get_by_label("Lower is better").check()
    page.get_by_label("Burn-in").fill("8")
    send(page, "Check the design")
    assert "patients are randomised in permuted blocks of 4, 6 or 8." in page.locator("#review").inner_text()
    assert page.get_by_label("Effects").input_value() == "-0.1, -0.2"  # benefits, as lower is better

    for guard in ("Floor", "Burn-in"):  # which would take seconds to compile
        page.get_by_label(guard, exact=True).fill("")
    page.get_by_label("Which arm an outcome is credited to").first.select_option("actual")
    send(page, "Check the design")
    assert "by form" not in empty.client().trials()
    digest = re.search(r"[0-9a-f]{64}", page.locator("#review").inner_text())
    page.get_by_role("button", name="Create trial").click()
    page.wait_for_url("**/app/trials/by%20form")
    made = empty.client().trial("by form")
    assert made.design is not None
    assert (made.design.policy, made.design.n_patients, made.blinded) == ("thompson/actual", 40, False)
    assert made.outcome_words == {"died": 1, "alive": 0}
    assert made.lower_is_better
    assert digest is not None
    assert made.design_digest == digest.group()
    assert admin.faults == []


def read_file(admin: Visitor) -> Any:
    """Take a design from a file, and type a small grid of scenarios; returns the page."""
    page = admin.page
    admin.open("/app/new-trial")
    page.get_by_text("From a design file").click()
    data = {"name": "design.toml", "mimeType": "text/plain", "buffer": FILE.encode()}
    page.get_by_label("File from this computer").set_input_files(data)
    expect(page.get_by_label("Text of the file")).to_have_value(FILE)
    send(page, "Check the file")
    page.get_by_label("Effects").fill("0.3")
    page.get_by_label("Shares who comply").fill("0.8")
    page.get_by_label("Confounding").fill("0")
    return page


def test_a_file_is_read_and_simulated(admin: Visitor, empty: Service) -> None:
    page = read_file(admin)
    page.get_by_label("Trials in each scenario").fill("200")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_text("Done: 200 trials in each of 3 scenarios").wait_for(timeout=60_000)
    rows = page.locator("#simulation tbody tr").first.inner_text()
    assert rows.startswith("sharp null, compliance 80%")
    assert admin.axe_issues() == []
    assert_fits(admin)
    with page.expect_download() as download:
        page.get_by_role("link", name="Full report").click()
    assert "from a file" in download.value.path().read_text()
    page.get_by_role("button", name="Create trial").click()
    page.wait_for_url("**/app/trials/from%20a%20file")
    assert empty.client().trials()["from a file"] == "open"
    assert admin.faults == []


@pytest.mark.slow
def test_a_simulation_shows_how_far_it_is_and_is_stopped(admin: Visitor) -> None:
    page = read_file(admin)
    page.get_by_label("Trials in each scenario").fill("66000")
    page.get_by_role("button", name="Simulate").click()
    release_until_more_are_done(hold(os.getpid()))
    page.locator("progress:not([value='0'])").wait_for(timeout=60_000)
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped.").wait_for()
    assert admin.faults == []


TYPED = {
    "source": "form",
    "name": "typed",
    "policy": "thompson",
    "arms": "walk\naspirin",
    "reward_values": "0, 1",
    "n_patients": "100",
}


@pytest.mark.parametrize(
    ("typed", "place", "said"),
    [
        ({"looks.numbers": "50"}, "looks.numbers", "Numbers are typed here, but"),
        ({"stopping.superiority": "0.95"}, "stopping.superiority", "nothing stops the trial"),
        ({"reward_values": "0 to 1"}, "reward_values", "“to” is not a number from 0 to 1"),
        ({"floor.share": "a tenth"}, "floor.share", "write it such as 0.2, 0,2 or 20%"),
        ({"floor.share": "70%"}, "floor.share", "0.7"),
        ({"burn-in.patients": "abc"}, "burn-in.patients", "“abc” is not a whole number"),
        ({"burn-in.patients": "300"}, "burn-in.patients", "more than the trial has, 100"),
        ({"n_patients": "", "looks": "every", "looks.numbers": "50"}, "n_patients", "the largest number of patients"),
        ({"n_patients": "1,000"}, "n_patients", "“1,000” can be read as 1000 or as 1.000"),
        ({"strata": "young\nold"}, "strata", "balanced in the blocks of a burn-in"),
        ({"outcome_words": "alive\ndied = 0"}, "outcome_words", "“alive” has no number"),
    ],
)
def test_what_is_typed_and_cannot_be_used_is_said_where_it_is_typed(
    empty: Service, typed: dict[str, str], place: str, said: str
) -> None:
    reply = sign_in(empty, "statistician").send("/app/new-trial", TYPED | typed)
    problem = re.search(rf'id="problem-{re.escape(place)}"[^>]*>([^<]*)<', reply.body.decode())
    assert (reply.status, problem is not None) == (422, True)
    assert problem is not None
    assert said in html.unescape(problem.group(1))


def test_scenarios_of_a_file_are_those_that_are_offered(empty: Service) -> None:
    person = sign_in(empty, "statistician")
    grid = "[scenarios]\neffect = [0.3]\ncompliance = [0.6, 1]\nbaseline = 0.45\n"
    shown = person.send("/app/new-trial", {"source": "file", "file": FILE + grid}).body.decode()
    typed = dict(re.findall(r'name="scenarios\.(\w+)" value="([^"]*)"', shown))
    assert typed == {"effect": "0.3", "compliance": "0.6, 1", "confounding": "0", "baseline": "0.45"}
    assert "The scenarios are those of the file." in shown
    without = person.send("/app/new-trial", {"source": "file", "file": FILE}).body.decode()
    assert "of the file." not in without
    by_arm = "[scenarios]\neffect = [{aspirin = 0.1}]\n"
    shown = person.send("/app/new-trial", {"source": "file", "file": FILE + by_arm}).body.decode()
    assert "The file has scenarios that cannot be typed here" in shown


def test_no_trials_are_not_a_thousand(empty: Service) -> None:
    asked = {"file": FILE, "scenarios.effect": "0.3", "scenarios.compliance": "1", "n_trials": "0"}
    reply = sign_in(empty, "statistician").send("/app/new-trial/simulation", asked)
    assert (reply.status, "a whole number of at least 1" in html.unescape(reply.body.decode())) == (422, True)


def test_who_may_not_create_one_may_still_design_it_and_others_may_not(browser: Any, empty: Service) -> None:
    empty.client().create_trial("taken", "uniform", ["walk", "aspirin"])
    with visiting(browser, empty, "statistician") as statistician:
        statistician.open("/app/new-trial")
        statistician.page.get_by_text("From a design file").click()
        statistician.page.get_by_label("Text of the file").fill(FILE.replace("from a file", "taken"))
        send(statistician.page, "Check the file")
        assert statistician.page.get_by_role("button", name="Simulate").count() == 1
        assert statistician.page.get_by_role("button", name="Create trial").count() == 0
        assert "There is a trial called taken already" in statistician.page.inner_text("#review")
        assert statistician.person.send("/app/new-trial/trial", {"file": FILE}).status == 403
    with visiting(browser, empty, "site") as site:
        assert site.person.get("/app/new-trial").status == 403
