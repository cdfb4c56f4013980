"""Forms with several fields: all mistakes at once, each beside its label, and numbers as people type them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from adhere.errors import InputError
from adhere.service.pages.forms.numbers import Kind, number, numbers
from service.serving import Reply, Service, in_file

from .person import Person, sign_in
from .visitor import PHONE, visiting

RIGHT = {
    "name": "typed",
    "policy": "thompson",
    "arms": "walk\naspirin",
    "control": "walk",
    "reward_values": "0, 1",
    "n_patients": "100",
}
WRONG = {
    "name": "a/b",
    "arms": "walk",
    "n_patients": "many",
    "floor.share": "99",
    "burn-in.patients": "1,000",
    "looks": "every",
    "stopping.by": "posterior",
    "stopping.superiority": "101%",
    "stopping.margin": "small",
    "outcome_words": "alive",
    "impute.reward": "2",
    "enrolment.per_day": "-1",
    "missing.outcome": "1,5",
}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with in_file(tmp_path_factory.mktemp("mistakes") / "trials.db") as running:
        yield running


@pytest.fixture(scope="module")
def statistician(empty: Service) -> Person:
    return sign_in(empty, "statistician")


def problems(reply: Reply) -> dict[str, str]:
    """The sentences beside the fields, by the field."""
    found = re.findall(r'<p class="field-problem" id="problem-([^"]*)"[^>]*>([^<]*)</p>', reply.body.decode())
    return {place: html.unescape(sentence) for place, sentence in found}


def test_every_mistake_is_beside_its_label_and_what_was_typed_stays(browser: Any, empty: Service) -> None:
    with visiting(browser, empty, "statistician") as visitor:
        page = visitor.page
        visitor.expected = ("console: Failed to load resource: the server responded with a status of 422",)
        visitor.open("/app/new-trial")
        page.get_by_text("More rules").click()
        for name, typed in WRONG.items():
            field = page.locator(f"[id='{name}']")
            field.select_option(typed) if name in ("looks", "stopping.by") else field.fill(typed)
        with page.expect_navigation():
            page.get_by_role("button", name="Check the design").click()
        expected = {*WRONG, "looks.numbers", "impute.after_days"} - {"looks", "stopping.by"}
        shown = page.locator(".field-problem")
        assert {one.get_attribute("id").removeprefix("problem-") for one in shown.all()} == expected
        for name in expected:
            field = page.locator(f"[id='{name}']")
            assert field.get_attribute("aria-invalid") == "true"
            assert f"problem-{name}" in field.get_attribute("aria-describedby").split()
            assert field.is_visible(), name
            if name in WRONG:
                assert field.input_value() == WRONG[name]
        summary = page.get_by_role("alert")
        assert summary.inner_text().startswith(f"{len(expected)} things are not right yet.")
        assert {one.get_attribute("href") for one in summary.get_by_role("link").all()} == {f"#{n}" for n in expected}
        assert visitor.axe_issues() == []
        assert visitor.outside(PHONE) == []
        assert visitor.faults == []


def test_a_field_is_not_judged_while_one_that_it_depends_on_is_wrong(statistician: Person) -> None:
    for typed, expected in (
        ({"arms": "walk\nwalk"}, {"arms"}),  # and not the control
        ({"n_patients": "x", "looks": "at", "looks.numbers": "100, 200"}, {"n_patients"}),
        ({"reward_values": "0 2", "outcome_words": "alive = 1\ndied = 0"}, {"reward_values"}),
        ({"burn-in.patients": "x", "strata": "young\nold"}, {"burn-in.patients"}),
        ({"looks": "every", "looks.numbers": "x", "update": "at looks"}, {"looks.numbers"}),
        (
            {"stopping.by": "posterior", "stopping.superiority": "x", "stopping.mirrored": "1"},
            {"stopping.superiority"},
        ),
    ):
        reply = statistician.send("/app/new-trial", RIGHT | typed)
        assert (reply.status, set(problems(reply))) == (422, expected), typed


def test_numbers_are_taken_as_people_type_them(statistician: Person) -> None:
    typed = {
        "n_patients": "1 000",
        "policy": "exp3",
        "exp3.gamma": "0,2",
        "floor.share": "20 %",
        "reward_values": "0; 0,5; 1",
        "stopping.by": "posterior",
        "stopping.superiority": "99%",
        "stopping.margin": "0,02",
        "stopping.futility": "5%",
        "looks": "at",
        "looks.numbers": "100, 200",
        "enrolment.per_day": "1,5",
        "missing.outcome": "5 %",
    }
    reply = statistician.send("/app/new-trial", RIGHT | typed)
    assert (reply.status, problems(reply)) == (200, {})
    file = html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", reply.body.decode(), re.DOTALL)[1])  # type: ignore[index]
    for line in (
        "n_patients = 1000",
        'policy = "floor(exp3(gamma=0.2), share=0.2)"',
        "reward_values = [ 0.0, 0.5, 1.0, ]",
        "superiority = 0.99",
        "margin = 0.02",
        "futility = 0.05",
        "per_day = 1.5",
        "rate = 0.05",
    ):
        assert line in " ".join(file.split()), file


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("400", "whole", 400),
        ("1 000", "whole", 1000),
        ("12\u202f500", "whole", 12500),
        ("0,2", "share", 0.2),
        ("99%", "share", 0.99),
        ("99,5 %", "share", 0.995),
        ("0,125", "number", 0.125),
        ("1,25", "number", 1.25),
        ("−1,25", "number", -1.25),
        ("1e-3", "number", 0.001),
    ],
)
def test_one_number(text: str, kind: Kind, value: float) -> None:
    assert number(text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1,000", "whole"),
        ("1.000", "whole"),
        ("12,500", "whole"),
        ("1.5", "whole"),
        ("1,5", "whole"),
        ("10%", "whole"),
        ("0012", "whole"),
        ("1,000", "number"),
        ("1,250,000", "number"),
        ("5%", "number"),
        ("1.000,5", "number"),
        ("nan", "number"),
        ("inf", "share"),
        ("99", "share"),
        ("101%", "share"),
        ("0,2,3", "share"),
        ("１２", "share"),
        ("9" * 5000, "whole"),
    ],
)
def test_a_number_with_two_meanings_or_none_is_refused(text: str, kind: Kind) -> None:
    with pytest.raises(InputError) as refused:
        number(text, kind)
    assert refused.value.sentence.startswith("“")
    assert len(refused.value.sentence) < 250


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("100, 200, 300", "whole", [100, 200, 300]),
        ("100; 200", "whole", [100, 200]),
        ("60 120.5", "number", [60, 120.5]),
        ("50,75", "whole", [50, 75]),
        ("0, 1", "share", [0, 1]),
        ("0,2", "share", [0.2]),
        ("0,1; 0,2", "share", [0.1, 0.2]),
        ("0,1 0,2", "share", [0.1, 0.2]),
        ("0.999,0.99", "share", [0.999, 0.99]),
        ("99 %, 95%", "share", [0.99, 0.95]),
        ("1.96; 2,5", "number", [1.96, 2.5]),
    ],
)
def test_several_numbers(text: str, kind: Kind, values: list[float]) -> None:
    assert numbers(text, kind) == values


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0,1", "share"),
        ("1,000", "whole"),
        ("100,200", "whole"),
        ("1 000", "whole"),
        ("1 500", "whole"),
        ("1,96", "number"),
    ],
)
def test_several_numbers_with_two_meanings_are_refused(text: str, kind: Kind) -> None:
    with pytest.raises(InputError, match=r"can be read as .* or as .* Write "):
        numbers(text, kind)


def test_scenarios_are_checked_all_at_once_and_in_their_place(browser: Any, empty: Service) -> None:
    file = 'name = "simulated"\npolicy = "uniform"\narms = ["walk", "aspirin"]\nn_patients = 100\n'
    typed = {"scenarios.effect": "two", "scenarios.compliance": "70", "n_trials": "1,000"}
    with visiting(browser, empty, "statistician") as visitor:
        page = visitor.page
        visitor.open("/app/new-trial")
        page.get_by_text("From a design file").click()
        page.get_by_label("Text of the file").fill(file)
        with page.expect_navigation():
            page.get_by_role("button", name="Check the file").click()
        for name, text in typed.items():
            page.locator(f"[id='{name}']").fill(text)
        page.get_by_role("button", name="Simulate").click()
        page.get_by_text("3 things are not right yet.").wait_for()
        for name, text in typed.items():
            assert page.locator(f"[id='problem-{name}']").is_visible()
            assert page.locator(f"[id='{name}']").input_value() == text
        assert "“70” is more than 1; write 0.7 or 70%." in page.locator("#scenarios").inner_text()
        assert visitor.axe_issues() == []
        assert visitor.faults == []


def test_a_correction_lists_all_that_is_wrong_with_it(service: Service) -> None:
    site, trial = sign_in(service, "site"), service.new_trial()
    made = service.client("site").recommend(trial, "S-1")
    here = f"/app/trials/{trial}/recommendations/{made.id}"
    assert site.send(f"{here}/report", {"key": "one", "actual": "walk"}).status == 303
    assert site.send(f"{here}/report", {"key": "two", "reward": "20%"}).status == 303
    assert service.client("site").recommendation(trial, made.id).reward == 0.2
    for typed, expected in (
        ({"taken": "took_other", "outcome": "other"}, {"took_other", "reward", "reason"}),
        ({"words": "tea", "outcome": "other", "reward": "2,5", "reason": "x"}, {"took_other", "reward"}),
        ({}, {"correction", "reason"}),
        ({"outcome": "other", "reward": "1,2", "reason": ""}, {"reward", "reason"}),
    ):
        reply = site.send(f"{here}/correction", {"key": "three", **typed})
        found = set(re.findall(r'id="problem-correction-(\w+)"', reply.body.decode()))
        assert reply.status == 422
        assert found == expected - {"correction"}, typed
        assert (b"Nothing was changed. Choose what to correct." in reply.body) == ("correction" in expected)
        described = re.findall(
            r'aria-invalid="true" aria-describedby="problem-correction-(\w+)"', reply.body.decode()
        )
        assert set(described) == found
    corrected = {"key": "four", "outcome": "other", "reward": "0,5", "reason": "misread"}
    assert site.send(f"{here}/correction", corrected).status == 303
    assert service.client("site").recommendation(trial, made.id).reward == 0.5


def test_an_unblinding_asks_for_code_and_reason_at_once(service: Service) -> None:
    site, trial = sign_in(service, "site"), service.new_trial(blinded=True)
    made = service.client("site").recommend(trial, "S-1")
    reply = site.send(f"/app/trials/{trial}/recommendations/{made.id}/unblinding", {"key": "one"})
    assert reply.status == 422
    assert set(re.findall(r'id="problem-unblinding-(\w+)"', reply.body.decode())) == {"kit", "reason"}
    assert not service.client().accesses(trial) or all(
        line.kind != "unblinding" for line in service.client().accesses(trial)
    )


def test_an_incomplete_form_is_not_kept_on_the_device(browser: Any, service: Service) -> None:
    trial, client = service.new_trial(), service.client("site")
    made = client.recommend(trial, "S-1")
    client.report(trial, made.id, actual="walk", reward=1)
    with visiting(browser, service, "site", phone=True) as visitor:
        page = visitor.page
        visitor.expected = ("console: Failed to load resource",)
        visitor.open(f"/app/trials/{trial}/recommendations/{made.id}")
        page.get_by_text("Correct a report").click()
        page.locator("#correct-outcome").select_option("retract")
        page.context.set_offline(True)
        page.get_by_role("button", name="Correct", exact=True).click()
        focused = "document.querySelector('#reason-correction') === document.activeElement"
        page.wait_for_function(focused)
        assert page.evaluate("localStorage.getItem('adhere-unsent')") in (None, "[]")
        page.context.set_offline(False)
        with page.expect_navigation():
            page.get_by_role("button", name="Correct", exact=True).click()
        assert page.locator("#problem-correction-reason").inner_text() == "Give a reason."
        assert page.locator("#correct-outcome").input_value() == "retract"
        assert page.evaluate("localStorage.getItem('adhere-unsent')") in (None, "[]")


def test_access_lists_all_that_is_wrong_and_makes_nothing(browser: Any, service: Service) -> None:
    before = len(service.client().tokens())
    with visiting(browser, service, "admin", phone=True) as visitor:
        page = visitor.page
        visitor.expected = ("console: Failed to load resource: the server responded with a status of 422",)
        visitor.open("/app/access")
        page.get_by_label("Days until it ends").fill("soon")
        with page.expect_navigation():
            page.get_by_role("button", name="Make a link to sign in").click()
        assert page.get_by_role("alert").inner_text().startswith("3 things are not right yet.")
        for name, said in (("label", "Say whose it is."), ("site", "Name the site."), ("days", "from 1 to 3650.")):
            field = page.locator(f"#{name}")
            assert field.get_attribute("aria-invalid") == "true"
            assert field.get_attribute("aria-describedby") == f"problem-{name}"
            assert page.locator(f"#problem-{name}").inner_text().endswith(said)
        assert page.get_by_label("Days until it ends").input_value() == "soon"
        assert visitor.axe_issues() == []
        assert visitor.outside(PHONE) == []
        assert visitor.faults == []
    assert len(service.client().tokens()) == before


def test_an_entry_without_code_and_stratum_asks_for_both(service: Service) -> None:
    strata = {"policy": "burn-in(uniform, patients=4)", "n_patients": 40, "strata": ("under 60", "60 and over")}
    trial = service.new_trial(**strata)
    reply = sign_in(service, "site").send(f"/app/trials/{trial}/site", {"key": "one"})
    assert reply.status == 422
    found = dict(re.findall(r'id="problem-recommend-(\w+)"[^>]*>([^<]*)<', reply.body.decode()))
    assert found == {"subject": "Type the subject’s code.", "stratum": "Choose the stratum."}
    assert service.ids(trial) == []
