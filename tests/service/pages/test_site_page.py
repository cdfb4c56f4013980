"""The site page on a phone: a recommendation, two taps, a correction, a slip; what it asks and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from service.serving import Service
from trial.live import UNKNOWN_ID

from .forms import forms_of
from .person import Person, sign_in
from .visitor import PHONE, Visitor, visiting

SMALL_TARGETS = """() => [...document.querySelectorAll('.site :is(a, button, input, select, summary)')]
  .filter(one => one.checkVisibility() && one.type !== 'hidden' && one.type !== 'radio')
  .filter(one => one.getBoundingClientRect().height < 43.5).map(one => one.outerHTML)"""


@pytest.fixture(scope="module")
def phone(browser: Any, service: Service) -> Iterator[Visitor]:
    with visiting(browser, service, "site", phone=True) as visitor:
        yield visitor


@pytest.fixture
def person(service: Service) -> Person:
    return sign_in(service, "site")


def text_of(body: bytes) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", body.decode()).split())


def test_two_taps_then_a_correction_and_a_slip(service: Service, phone: Visitor) -> None:
    trial, page = service.new_trial(), phone.page
    phone.open(f"/app/trials/{trial}/site")
    page.fill("#subject", "S-1")
    page.click("button:has-text('Recommend')")
    arm = page.inner_text(".answer")
    (made,) = service.ids(trial)
    assert arm == service.client("site").recommendation(trial, made).arm
    assert page.inner_text(".given").splitlines()[-1] == f"Recommendation {made}"
    page.click(f"button.big:has-text('{arm}')")
    page.click("button:has-text('Outcome 1')")
    page.wait_for_selector(".badge:has-text('complete')")
    told = service.client("site").recommendation(trial, made)
    assert (told.actual, told.reward) == (arm, 1)
    page.click("summary:has-text('Correct a report')")
    page.select_option("#correct-outcome", label="Outcome 0")
    page.fill("#reason-correction", "typed in the wrong line")
    assert page.evaluate(SMALL_TARGETS) == []
    assert phone.outside(PHONE) == []
    page.click("button:text-is('Correct')")
    page.wait_for_selector(".recorded:has-text('Outcome 0')")
    history = service.client().recommendation(trial, made).derivation
    assert history is not None
    assert (history.history[-1].reward, history.history[-1].reason) == (0, "typed in the wrong line")
    page.click("text=Print a slip")
    assert page.inner_text(".slip .answer") == arm
    assert "S-1" in page.inner_text(".slip")
    assert made in page.inner_text(".slip")
    assert phone.outside(PHONE) == []
    phone.open(f"/app/trials/{trial}/site")
    assert page.evaluate(SMALL_TARGETS) == []
    assert phone.faults == []


def test_outcomes_are_called_as_the_design_calls_them(service: Service, person: Person) -> None:
    third = 1 / 3
    trial = service.new_trial(reward_values=(0, third, 1), outcome_words={"alive": 1, "ill": third, "<died>": 0})
    made = service.client("site").recommend(trial, "S-1").id
    here = f"/app/trials/{trial}/recommendations/{made}"
    shown = person.get(here).body.decode()
    buttons = dict(re.findall(r'name="reward" value="([^"]*)">([^<]*)<', shown))
    assert buttons == {"0.0": "&lt;died&gt;", str(third): "ill", "1.0": "alive"}
    assert "Outcome 1" not in shown
    assert "Another value" not in shown
    assert person.send(f"{here}/report", {"key": "one", "reward": str(third)}).status == 303
    assert service.client("site").recommendation(trial, made).reward == third
    assert "ill recorded" in text_of(person.get(here).body)
    corrected = person.send(f"{here}/correction", {"key": "two", "outcome": "1.0", "reason": "a slip"})
    assert (corrected.status, "alive recorded" in text_of(person.get(here).body)) == (303, True)
    assert "reward 1 (alive)" in service.client("statistician").records(trial).records[-1].says


@pytest.mark.parametrize(("lower", "best"), [(False, 1), (True, 0)])
def test_the_best_outcome_is_that_of_the_design(service: Service, person: Person, lower: bool, best: int) -> None:
    trial = service.new_trial(lower_is_better=lower)
    made = service.client("site").recommend(trial, "S-1").id
    shown = person.get(f"/app/trials/{trial}/recommendations/{made}").body.decode()
    assert re.findall(r"\d is best", shown) == [f"{best} is best"]
    assert service.client("site").trial(trial).lower_is_better is lower


def test_words_have_the_worst_first_also_where_lower_is_better(service: Service, person: Person) -> None:
    trial = service.new_trial(lower_is_better=True, outcome_words={"alive": 0, "died": 1})
    made = service.client("site").recommend(trial, "S-1").id
    shown = person.get(f"/app/trials/{trial}/recommendations/{made}").body.decode()
    assert re.findall(r'name="reward" value="([^"]*)">([^<]*)<', shown) == [("1.0", "died"), ("0.0", "alive")]
    assert "is best" not in shown


def test_a_new_code_that_looks_like_a_known_one_is_asked_about(service: Service, person: Person) -> None:
    trial, site = service.new_trial(), service.client("site")
    site.recommend(trial, "S-01")
    path = f"/app/trials/{trial}/site"
    asked = person.send(path, {"subject": "S-O1", "key": "one"})
    assert asked.status == 200
    assert "Yes, S-01 waiting since" in text_of(asked.body)
    assert len(site.waiting(trial)) == 1
    made = person.send(path, {"subject": "S-O1", "key": "one", "someone_new": "/S-O1"})
    assert made.headers["location"] == f"/app/trials/{trial}/recommendations/{service.ids(trial)[1]}"
    again = person.send(path, {"subject": "S-O1", "key": "one"})
    assert again.headers["location"] == made.headers["location"]


def test_what_waits_is_listed_oldest_first_and_found_when_complete(service: Service, person: Person) -> None:
    """Codes with a U, which no ID contains."""
    trial, site = service.new_trial(), service.client("site")
    first, *_ = [site.recommend(trial, subject).id for subject in ("U-2", "U-1", "U-3")]
    site.report(trial, first, actual="walk", reward=1)
    theirs = service.client("other").recommend(trial, "theirs").id
    shown = text_of(person.get(f"/app/trials/{trial}/site").body)
    assert shown.index("U-1") < shown.index("U-3")
    assert "U-2" not in shown
    assert "theirs" not in shown
    assert "U-2 complete" in text_of(person.get(f"/app/trials/{trial}/site?subject=U-2").body)
    assert "theirs has no recommendation" in text_of(person.get(f"/app/trials/{trial}/site?subject=theirs").body)
    for unknown in (theirs, UNKNOWN_ID, "3"):
        assert person.get(f"/app/trials/{trial}/recommendations/{unknown}").status == 404


@pytest.mark.parametrize(
    ("form", "fields", "says"),
    [
        ("report", {"reward": "2"}, 'id="reward"[^>]* value="2"[^>]*aria-invalid.*a number from 0 to 1'),
        ("report", {"took_other": ""}, 'id="took-other"[^>]*aria-invalid.*'),
        ("withdrawal", {"reason": ""}, 'id="reason-withdrawal"[^>]*aria-invalid'),
        ("report", {"reward": "1", "subject": "S-2"}, "not for subject"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(
    service: Service, person: Person, form: str, fields: dict[str, str], says: str
) -> None:
    trial = service.new_trial()
    made = service.client("site").recommend(trial, "S-1").id
    reply = person.send(f"/app/trials/{trial}/recommendations/{made}/{form}", {"key": "one", **fields})
    assert reply.status in (409, 422)
    assert re.search(says, reply.body.decode(), re.DOTALL)
    assert len(service.client("site").waiting(trial)) == 1


def test_a_slip_is_marked_as_entered_in_error_and_can_be_entered_again(service: Service, person: Person) -> None:
    trial = service.new_trial()
    made = service.client("site").recommend(trial, "S-1").id
    here = f"/app/trials/{trial}/recommendations/{made}"
    assert person.send(f"{here}/error", {"key": "one", "reason": "wrong code", "subject": "S-1"}).status == 303
    shown = person.get(here).body
    assert b"This was entered in error" in shown
    assert b"/report" not in shown
    assert service.client().results(trial).entered_in_error == 1
    again = person.send(f"/app/trials/{trial}/site", {"subject": "S-1", "key": "two"})
    assert again.headers["location"].endswith(f"/recommendations/{service.ids(trial)[1]}")


def test_who_was_lost_to_follow_up_may_be_heard_of_again(service: Service, person: Person) -> None:
    trial, site = service.new_trial(), service.client("site")
    here = f"/app/trials/{trial}/recommendations/{site.recommend(trial, 'S-1').id}"
    back = {"lost": "retract", "subject": "S-1", "reason": "came to the next visit"}
    early = person.send(f"{here}/correction", {**back, "key": "one"})
    assert (early.status, "is not marked as lost to follow-up" in text_of(early.body)) == (409, True)
    assert person.send(f"{here}/withdrawal", {"key": "two", "reason": "moved away"}).status == 303
    assert site.waiting(trial) == []
    (form,) = (one for one in forms_of(person.get(here).body.decode()) if one.action.endswith("/correction"))
    assert form.fields.items() >= {"lost": "retract", "subject": "S-1"}.items()
    wrong = person.send(form.action, {**form.fields, "reason": ""})
    assert (wrong.status, len(re.findall('id="reason-return"[^>]*aria-invalid', wrong.body.decode()))) == (422, 1)
    assert person.send(form.action, {**form.fields, **back}).status == 303
    assert [line.state for line in site.waiting(trial)] == ["waiting"]
    assert person.send(f"{here}/report", {"key": "three", "reward": "1"}).status == 303
    assert b'id="reason-return"' not in person.get(here).body


@pytest.mark.parametrize("typed", ["S\u200b-1", "S-1\t", "\u202eS-1", "S\t-\n1", "\ufeffS-1"])
def test_a_code_is_taken_as_it_looks(service: Service, person: Person, typed: str) -> None:
    trial, path = service.new_trial(), "/app/trials/{}/site"
    made = person.send(path.format(trial), {"subject": typed, "key": "one"})
    assert made.status == 303, text_of(made.body)
    (line,) = service.client("site").waiting(trial)
    assert line.subject == "S-1"
    found = person.get(f"{path.format(trial)}?{urlencode({'subject': typed})}").body.decode()
    assert 'aria-label="Recommendations of S-1"' in found


def test_a_site_is_taken_as_it_looks(service: Service) -> None:
    typed = {"role": "site", "label": "ward\u200b 3", "site": "Yo\u200brk\t", "as": "token"}
    assert "shown only now" in text_of(sign_in(service, "admin").send("/app/access", typed).body)
    made = service.client().tokens()[-1]
    assert (made.site, made.label) == ("York", "ward 3")


def test_a_code_that_is_too_long_is_refused_plainly(service: Service, person: Person) -> None:
    refused = person.send(f"/app/trials/{service.new_trial()}/site", {"subject": "x" * 250, "key": "one"})
    assert refused.status == 422
    assert ">At most 200 characters (got 250).<" in refused.body.decode()


def test_what_was_reported_cannot_be_entered_in_error_and_the_next_step_is_said(
    service: Service, person: Person
) -> None:
    trial, site = service.new_trial(), service.client("site")
    made = site.recommend(trial, "S-1").id
    site.report(trial, made, took_nothing=True, reward=1)
    here = f"/app/trials/{trial}/recommendations/{made}"
    refused = person.send(f"{here}/error", {"reason": "slip", "key": "one", "subject": "S-1"})
    assert refused.status == 409
    said = re.findall(r'class="problem" role="alert">(.*?)<', refused.body.decode())
    assert said == ["Something was reported. First correct it to “was never reported”, under Correct a report above."]


def test_who_is_lost_to_follow_up_is_asked_about_before_another_recommendation(
    service: Service, person: Person
) -> None:
    trial, site = service.new_trial(), service.client("site")
    path = f"/app/trials/{trial}/site"
    site.withdraw(trial, site.recommend(trial, "S-1").id, "moved away")
    asked = person.send(path, {"subject": "S-1", "key": "one"})
    assert (asked.status, site.waiting(trial)) == (200, [])
    assert "S-1 is lost to follow-up. Is this about the treatment recommended then?" in text_of(asked.body)
    assert f'/app/trials/{trial}/recommendations/{service.ids(trial)[0]}"' in asked.body.decode()
    (form,) = (one for one in forms_of(asked.body.decode()) if one.action == path)
    assert form.fields["subject"] == "S-1"
    made = person.send(path, {**form.fields, "someone_new": "/S-1"})
    assert made.headers["location"] == f"/app/trials/{trial}/recommendations/{service.ids(trial)[1]}"
    again = person.send(path, {"subject": "S-1", "key": "two"})
    assert again.headers["location"] == made.headers["location"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"taken": "", "words": "ibuprofen", "outcome": "0"}, "took_other"),
        ({"taken": "nothing", "words": "ibuprofen"}, "took_other"),
        ({"taken": "nothing", "outcome": "", "reward": "0.5"}, "reward"),
    ],
)
def test_what_is_typed_and_not_chosen_is_not_dropped(
    service: Service, person: Person, fields: dict[str, str], place: str
) -> None:
    trial, site = service.new_trial(), service.client("site")
    made = site.recommend(trial, "S-1").id
    site.report(trial, made, actual="walk", reward=1)
    here = f"/app/trials/{trial}/recommendations/{made}"
    reply = person.send(f"{here}/correction", {"key": "one", "reason": "a slip", **fields})
    assert reply.status == 422
    assert "is typed here, and not chosen above it" in text_of(reply.body)
    assert fields["words" if place == "took_other" else "reward"] in reply.body.decode()
    told = site.recommendation(trial, made)
    assert (told.actual, told.reward) == ("walk", 1)


def test_a_kit_that_is_mistyped_stays_in_its_field_with_the_problem_beside_it(
    service: Service, person: Person
) -> None:
    trial = service.new_trial(blinded=True)
    given = service.client("site").recommend(trial, "S-1")
    reply = person.send(f"/app/trials/{trial}/recommendations/{given.id}/report", {"actual": "AAAA-AAAA", "key": "k"})
    assert reply.status == 422
    assert re.search(rb'<details open><summary>Another kit.*value="AAAA-AAAA" aria-invalid="true"', reply.body, re.S)
    assert b'id="problem-taken-actual"' in reply.body


def test_a_kit_of_another_subject_is_unblinded_as_such(service: Service, person: Person) -> None:
    """In an emergency the pack at hand counts; that it is not this subject's is said."""
    trial, site = service.new_trial(blinded=True), service.client("site")
    own, other = site.recommend(trial, "S-1"), site.recommend(trial, "T-22")
    path, warning = (
        f"/app/trials/{trial}/recommendations/{own.id}/unblinding",
        "This is not the kit that S-1 was given",
    )
    told = person.send(path, {"kit": other.kit or "", "reason": "ill", "key": "other"})
    assert warning in text_of(told.body)
    told = person.send(path, {"kit": (own.kit or "").lower(), "reason": "ill", "key": "own"})
    assert told.status == 200
    assert warning not in text_of(told.body)


def test_a_kit_is_unblinded_once_with_its_reason_and_another_sites_is_not(service: Service, person: Person) -> None:
    trial = service.new_trial(arms=("verum-xyz", "placebo-xyz"), blinded=True)
    kit, theirs = (service.client(role).recommend(trial, "S-1").kit for role in ("site", "other"))
    assert kit is not None
    assert theirs is not None
    here = f"/app/trials/{trial}/recommendations/{service.ids(trial)[0]}"
    refused = person.send(f"{here}/unblinding", {"kit": theirs, "reason": "ill", "key": "one"})
    assert refused.status == 404
    assert b"xyz" not in refused.body
    told = person.send(f"{here}/unblinding", {"kit": kit, "reason": "ill", "key": "two"})
    assert re.search(b"(verum|placebo)-xyz", told.body)
    assert b"This was recorded" in told.body
    assert b"xyz" not in person.get(here).body
    derivation = service.client().recommendation(trial, service.ids(trial)[0]).derivation
    assert derivation is not None
    assert [(line.event, line.reason) for line in derivation.history[1:]] == [("unblinded", "ill")]
