"""Sentences on the pages in the words of the person who reads them, with the next step."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from service.serving import ARMS, Service, in_file

from .person import Person, sign_in

STRATA = ("under 60", "60 and over")


@pytest.fixture
def site(service: Service) -> Person:
    return sign_in(service, "site")


def text_of(body: bytes) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body.decode())).split())


def recommended(service: Service, trial: str) -> str:
    """The page of a new recommendation."""
    made = service.client("site").recommend(trial, "S-1")
    return f"/app/trials/{trial}/recommendations/{made.id}"


@pytest.mark.parametrize(("words", "said"), [({}, "Outcome 1"), ({"died": 0, "alive": 1}, "alive")])
def test_an_outcome_that_is_recorded_is_named_with_the_way_to_change_it(
    service: Service, site: Person, words: dict[str, float], said: str
) -> None:
    here = recommended(service, service.new_trial(outcome_words=words))
    assert site.send(f"{here}/report", {"key": "one", "reward": "1"}).status == 303
    again = site.send(f"{here}/report", {"key": "two", "reward": "0"})
    assert again.status == 409
    assert f"{said} is already recorded. To change it, use Correct a report below." in text_of(again.body)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"actual": "walk"}, {"actual": "aspirin"}, "walk is already recorded. To change it,"),
        ({"took_nothing": "yes"}, {"actual": "aspirin"}, "Nothing taken is already recorded. To change it,"),
        ({"took_other": "tea"}, {"took_other": "rum"}, "Something else: tea is already recorded. To change it,"),
    ],
)
def test_what_was_taken_and_is_recorded_is_named_with_the_way_to_change_it(
    service: Service, site: Person, first: dict[str, str], second: dict[str, str], said: str
) -> None:
    here = recommended(service, service.new_trial())
    assert site.send(f"{here}/report", {"key": "one", **first}).status == 303
    again = site.send(f"{here}/report", {"key": "two", **second})
    assert again.status == 409
    assert said in text_of(again.body)


def test_a_correction_of_nothing_says_so(service: Service, site: Person) -> None:
    here = recommended(service, service.new_trial())
    site.send(f"{here}/report", {"key": "one", "reward": "1"})
    refused = site.send(f"{here}/correction", {"key": "two", "reason": "a slip"})
    assert refused.status == 422
    assert "Nothing was changed. Choose what to correct." in text_of(refused.body)


@pytest.mark.parametrize("part", ["report", "unblinding", "correction"])
def test_a_code_that_is_no_kit_sends_one_to_the_pack(service: Service, site: Person, part: str) -> None:
    here = recommended(service, service.new_trial(blinded=True))
    fields = {"report": {"actual": "ABCD-1234"}, "unblinding": {"kit": "ABCD-1234", "reason": "coma"}}
    if part == "correction":
        site.send(f"{here}/report", {"key": "one", "took_nothing": "yes"})
    sent = fields.get(part, {"taken": "actual", "words": "ABCD-1234", "reason": "a slip"})
    refused = site.send(f"{here}/{part}", {"key": "two", **sent})
    said = "a kit of this site, nor one that this subject took" if part == "unblinding" else "a kit of this trial"
    assert refused.status == (404 if part == "unblinding" else 422)
    assert f"ABCD-1234 is not {said}. Check the pack." in text_of(refused.body)


def test_closing_with_open_reports_points_at_the_box(service: Service) -> None:
    trial = service.new_trial()
    service.client("site").recommend(trial, "S-1")
    body = (
        sign_in(service, "admin")
        .send(f"/app/trials/{trial}/state", {"change": "close", "reason": "done", "key": "one"})
        .body
    )
    assert "pause it until they are in, or tick the box below." in text_of(body)
    assert b"accept_open to" not in body


def test_a_policy_is_described_without_symbols(service: Service) -> None:
    shown = text_of(sign_in(service, "admin").get("/app/new-trial").body)
    assert "thompson Recommends an arm as often as it is likely to be the best." in shown
    descriptions = re.findall(r'name="policy" value="([^"]*)"[^>]*> <b>[^<]*</b> ([^<]*)', _new_trial(service))
    assert len(descriptions) >= 12
    for name, words in descriptions:
        assert not re.search(r"[θεηργδ_~∼=]|\bk\b", words), (name, words)


def _new_trial(service: Service) -> str:
    return html.unescape(sign_in(service, "admin").get("/app/new-trial").body.decode())


def test_looks_without_a_number_are_asked_for_it(service: Service) -> None:
    typed = {"name": "x", "policy": "thompson", "arms": "walk\naspirin", "n_patients": "100"}
    for kind, said in (("every", "after how many outcomes?"), ("at", "after how many outcomes?"), ("days", "days?")):
        refused = sign_in(service, "admin").send("/app/new-trial", {**typed, "looks": kind})
        shown = text_of(refused.body)
        assert refused.status == 422
        assert "Numbers : " in shown or "Numbers: " in shown
        assert said in shown.lower(), kind


@pytest.mark.parametrize("role", ["site", None])
def test_a_page_that_does_not_exist_says_so(service: Service, role: str | None) -> None:
    person = sign_in(service, role) if role else Person(service.port)
    reply = person.get("/app/trails")
    assert reply.status == 404
    assert "This page does not exist." in text_of(reply.body)
    assert "GET /" not in text_of(reply.body)


def test_one_record_is_called_the_one_record(service: Service) -> None:
    trial = service.new_trial()
    admin = sign_in(service, "admin")
    assert "The one record of this log has a hash" in text_of(admin.get(f"/app/trials/{trial}/audit").body)
    service.client("site").recommend(trial, "S-1")
    assert "Each of the 2 records of this log has a hash" in text_of(admin.get(f"/app/trials/{trial}/audit").body)


def test_who_read_what_says_that_its_times_are_rounded(service: Service) -> None:
    shown = text_of(sign_in(service, "admin").get(f"/app/trials/{service.new_trial()}/audit").body)
    assert "Times of reads that are counted together are rounded down to ten minutes" in shown


def test_people_sign_in_with_an_access_code(service: Service) -> None:
    nobody = Person(service.port)
    shown = nobody.get("/app/sign-in").body.decode()
    assert '<label for="token">Access code</label>' in shown
    refused = text_of(nobody.send("/app/sign-in", {"token": "adh_wrong"}, csrf=False).body)
    assert "This access code is not valid: it was revoked, has expired, or was mistyped." in refused
    access = text_of(sign_in(service, "admin").get("/app/access").body)
    for body in (text_of(shown.encode()), refused, access):
        assert not re.search(r"\btokens?\b", body, re.IGNORECASE), body


def test_what_does_not_exist_yet_is_named_in_a_file(service: Service) -> None:
    file = 'name = "x"\npolicy = "thompson"\narms = ["a", "b"]\nn_patients = 100\n[stopping]\nby = "posterior"\n'
    refused = sign_in(service, "admin").send(
        "/app/new-trial", {"source": "file", "file": f"{file}noninferiority = 0.1\n"}
    )
    assert refused.status == 422
    assert "is not supported: adhere has no non-inferiority tests; equivalence and futility have a margin" in text_of(
        refused.body
    )


def test_an_admin_of_a_trial_with_sites_chooses_the_site(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        service.client().create_trial("with sites", "uniform", ARMS)
        service.client("site").recommend("with sites", "S-1")
        shown = text_of(sign_in(service, "admin").get("/app/trials/with%20sites/site").body)
        assert "Site choose A Recommend" in shown
        assert "for no site" not in shown
