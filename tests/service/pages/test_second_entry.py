"""No second patient without a question: look-alike codes and sites, second entries, subjects without a site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest

from adhere.errors import ConflictError, InputError
from adhere.store import open_store
from service.serving import ARMS, Service, in_file, in_thread, serving_again
from service.test_races import at_once

from .forms import forms_of
from .person import Person, sign_in
from .visitor import LAPTOP, PHONE, visiting

DONE: dict[str, Any] = {"took_nothing": True, "reward": 1}
STRATA: dict[str, Any] = {
    "policy": "burn-in(thompson, patients=20)",
    "n_patients": 100,
    "strata": ["under 60", "60 and over"],
}


IN_SIGHT = (
    """one => { const { top, bottom } = one.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"""
)


def text_of(body: bytes) -> str:
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", body.decode()).split()))


def person_with(service: Service, role: str, token: str) -> Person:
    service.tokens[role] = token
    return sign_in(service, role)


@pytest.fixture(params=["sqlite", "postgres"])
def abroad(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Service]:
    """A service of its own, on each kind of database."""
    if request.param == "sqlite":
        with in_file(tmp_path / "trials.db") as service:
            yield service
        return
    store = open_store(cast(str, request.getfixturevalue("database_url")))
    try:
        with in_thread(store) as service:
            yield service
    finally:
        store.close()


def test_a_look_alike_is_asked_about_wherever_the_site_is(abroad: Service) -> None:
    trial = abroad.new_trial()
    for site, entered, typed in (
        ("Zürich", "L-001", "l 0o1"),
        ("İzmir", "İ-7", "ı7"),
        ("Straße", "Groß-1", "GROSS 1"),
        ("東京", "Zoë", "zoe"),
    ):
        before = len(abroad.ids(trial))
        made = abroad.client().make_token("site", site, site=site)
        nurse, here = person_with(abroad, site, made.token), f"/app/trials/{trial}/site"
        assert nurse.send(here, {"subject": entered, "key": "first"}).status == 303
        asked = nurse.send(here, {"subject": typed, "key": "second"})
        assert asked.status == 200
        question = f"{typed} is a new code that looks like one of this site. Is it the same person? Yes, {entered} "
        assert question in text_of(asked.body)
        assert len(abroad.ids(trial)) == before + 1
        client = abroad.client(site)
        assert [line.subject for line in client.alike(trial, typed)] == [entered]
        assert client.recommendations(trial, typed) == []
        found = abroad.send("GET", f"/trials/{trial}/recommendations?subject={quote(typed)}", role=site)
        assert "gr0ss1" not in found.body.decode()  # the folded form of one of them
        assert nurse.send(here, {"subject": typed, "key": "second", "someone_new": f"/{typed}"}).status == 303
        assert len(abroad.ids(trial)) == before + 2


def test_a_site_whose_name_looks_like_another_is_asked_about(abroad: Service) -> None:
    admin = abroad.client()
    admin.make_token("site", "the first", site="Edinburgh")
    for name in ("edinburgh", "EDINBURGH", "Edin-burgh", "Ed\u0131nburgh"):
        with pytest.raises(ConflictError, match="there is a site 'Edinburgh', which looks like") as caught:
            admin.make_token("site", "another", site=name)
        assert caught.value.field == "site"
    admin.make_token("site", "a colleague", site="Edinburgh")
    person = sign_in(abroad, "admin")
    shown = person.get("/app/access").body.decode()
    assert '<option value="Edinburgh"></option>' in shown
    typed = {"role": "site", "label": "the nurse", "site": "edinburgh", "as": "token"}
    asked = person.send("/app/access", typed)
    assert (asked.status, [one.site for one in admin.tokens()].count("edinburgh")) == (200, 0)
    assert "edinburgh looks like Edinburgh , a site that exists. Is it the same site? Yes, use Edinburgh No, " in (
        text_of(asked.body)
    )
    assert 'name="as" value="token"' in asked.body.decode()
    assert "shown only now" in text_of(
        person.send("/app/access", {**typed, "asked": "edinburgh", "use": "Edinburgh"}).body
    )
    assert admin.tokens()[-1].site == "Edinburgh"
    # Another name typed after the question is asked about again.
    other = {**typed, "asked": "edin burgh", "new_site": "yes"}
    assert "Is it the same site?" in text_of(person.send("/app/access", other).body)
    assert "shown only now" in text_of(person.send("/app/access", {**other, "asked": "edinburgh"}).body)
    assert admin.tokens()[-1].site == "edinburgh"
    assert admin.make_token("site", "their own", site="EDINBURGH", new_site=True).site == "EDINBURGH"


def test_an_answer_about_another_site_than_the_one_typed_does_not_count(tmp_path: Path) -> None:
    """Enter sends the form's first button, "Yes, use Edinburgh", whatever is typed by then."""
    with in_file(tmp_path / "trials.db") as service:
        admin, person = service.client(), sign_in(service, "admin")
        admin.make_token("site", "the first", site="Edinburgh")
        asked = person.send("/app/access", {"role": "site", "label": "nurse", "site": "edinburgh", "as": "token"})
        (form,) = (one for one in forms_of(asked.body.decode()) if one.action == "/app/access")
        typed = {"asked": form.fields.get("asked", ""), "as": "token", "role": "site", "label": "nurse"}
        typed |= {"site": "Leeds", "use": "Edinburgh"}
        assert "shown only now" in text_of(person.send("/app/access", typed).body)
        assert admin.tokens()[-1].site == "Leeds"
        question = person.send("/app/access", {**typed, "site": "EDINBURGH"})
        assert "EDINBURGH looks like Edinburgh" in text_of(question.body)


def test_an_answer_about_another_subject_than_the_one_sent_does_not_count(service: Service) -> None:
    trial, nurse, site = service.new_trial(entries="ask"), sign_in(service, "site"), service.client("site")
    here = f"/app/trials/{trial}/site"
    site.report(trial, site.recommend(trial, "L-001").id, **DONE)
    for answer in ("someone_new", "again"):
        asked = nurse.send(here, {"subject": "l001", "key": "one", answer: "/K-7"})
        assert "Is it the same person?" in text_of(asked.body)
        asked = nurse.send(here, {"subject": "L-001", "key": "two", answer: "/K-7"})
        assert "Is this about that recommendation?" in text_of(asked.body)
    assert "Is it the same person?" in text_of(
        nurse.send(here, {"subject": "l001", "key": "a", "again": "/l001"}).body
    )
    assert len(service.ids(trial)) == 1


def test_an_admin_finds_a_subject_of_any_site(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        trial, admin, person = service.new_trial(), service.client(), sign_in(service, "admin")
        made = [service.client(site).recommend(trial, "S-1").id for site in ("site", "other")]
        here = f"/app/trials/{trial}/site?subject="
        found = person.get(f"{here}S-1&site=").body.decode().partition('aria-label="Recommendations of S-1"')[2]
        assert re.findall(r"/recommendations/([-0-9A-Z]+)", found) == made
        assert "A" in text_of(found.encode())
        only = person.get(f"{here}S-1&site=B").body.decode().partition('aria-label="Recommendations of S-1"')[2]
        assert re.findall(r"/recommendations/([-0-9A-Z]+)", only) == made[1:]
        assert "These look like it:" in text_of(person.get(f"{here}s1").body)
        assert [line.site for line in admin.recommendations(trial, "S-1")] == ["A", "B"]
        assert [line.id for line in service.client("site").recommendations(trial, "S-1")] == made[:1]


@pytest.fixture(
    params=[*(pytest.param(one, marks=pytest.mark.slow) for one in ("memory", "postgres")), "sqlite", "two workers"]
)
def everywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Service]]:
    """Two ways to a service of its own on each kind of store; of two workers, one each."""
    if request.param in ("memory", "sqlite"):
        with in_thread(open_store(None if request.param == "memory" else tmp_path / "trials.db")) as service:
            yield [service, service]
        return
    url = cast(str, request.getfixturevalue("database_url"))
    with in_thread(open_store(url)) as first:
        if request.param == "postgres":
            yield [first, first]
        else:
            with serving_again(open_store(url), first.admin) as second:
                yield [first, second]


def test_look_alikes_at_the_same_moment_are_one_patient_and_a_question(everywhere: list[Service]) -> None:
    one, other = everywhere
    trial, admin = one.new_trial(policy="uniform"), one.client()
    other.tokens["site"] = one.token("site")
    nurses, here = [sign_in(service, "site") for service in everywhere], f"/app/trials/{trial}/site"
    for number in range(8):
        codes = f"R-{number:03}", f"r{number:03}"
        pairs = list(zip(nurses, codes, strict=True))
        replies = at_once([partial(who.send, here, {"subject": code, "key": code}) for who, code in pairs])
        assert sorted(reply.status for reply in replies) == [200, 303]
        asked = next(reply for reply in replies if reply.status == 200)
        assert "Is it the same person?" in text_of(asked.body)
        assert admin.enrolment(trial).recommendations == number + 1
    clients = [service.client("site") for service in everywhere]
    typed = ("Q-1", "q1", "Q 1", "Ql", "q-i", "Q.1")
    asking = zip(clients * 3, typed, strict=True)
    answers = at_once([partial(client.recommend, trial, code, refuse_alike=True) for client, code in asking])
    (made,) = (answer for answer in answers if not isinstance(answer, ConflictError))
    refused = [answer for answer in answers if isinstance(answer, ConflictError)]
    assert {(error.field, error.recommendation_id) for error in refused} == {("refuse_alike", made.id)}
    assert "resembles that of another subject of the site" in str(refused[0])
    known = next(code for code, answer in zip(typed, answers, strict=True) if answer is made)
    assert clients[0].recommend(trial, known, refuse_alike=True).id == made.id  # who is not new
    assert clients[0].recommend(trial, "q-l").id != made.id


def test_a_subject_is_entered_once(service: Service) -> None:
    trial, site, nurse = service.new_trial(entries="once", **STRATA), service.client("site"), sign_in(service, "site")
    here = f"/app/trials/{trial}/site"
    made = nurse.send(here, {"subject": "L-001", "stratum": "under 60", "key": "one"})
    (first,) = service.ids(trial)
    found = f"/app/trials/{trial}/recommendations/{first}"
    assert made.headers["location"] == found
    other = nurse.send(here, {"subject": "L-001", "stratum": "60 and over", "key": "two"})
    assert other.headers["location"] == f"{found}?entered=before"
    answer = site.recommend(trial, "L-001", stratum="60 and over")
    assert (answer.id, answer.stratum) == (first, "under 60")
    site.report(trial, first, **DONE)
    again = nurse.send(here, {"subject": "L-001", "stratum": "60 and over", "key": "three"})
    assert again.headers["location"] == f"{found}?entered=before"
    shown = nurse.get(again.headers["location"])
    assert re.search(
        r"L-001 was entered on [-0-9]+ [:0-9]+ UTC as under 60 ; this is that recommendation\.", text_of(shown.body)
    )
    with pytest.raises(ConflictError, match="a subject can be entered only once") as caught:
        site.recommend(trial, "L-001", stratum="under 60", again=True)
    assert caught.value.recommendation_id == first
    assert service.ids(trial) == [first]
    refused = service.send(
        "POST", f"/trials/{trial}/recommendations", {"subject": "L-001", "stratum": "under 60"}, role="site"
    )
    assert (refused.status, refused.json["recommendation_id"], refused.json["field"]) == (409, first, "subject")
    assert "A subject is entered once." in text_of(nurse.get(f"/app/trials/{trial}").body)


def test_a_second_entry_is_asked_about(service: Service) -> None:
    trial, site, nurse = service.new_trial(entries="ask"), service.client("site"), sign_in(service, "site")
    here = f"/app/trials/{trial}/site"
    first = site.recommend(trial, "L-001").id
    site.report(trial, first, **DONE)
    asked = nurse.send(here, {"subject": "L-001", "key": "one"})
    assert re.search(
        r"L-001 was entered on .* UTC \. Is this about that recommendation\? Yes, L-001", text_of(asked.body)
    )
    assert 'name="again" value="/L-001"' in asked.body.decode()
    assert service.ids(trial) == [first]
    with pytest.raises(ConflictError, match="send again=true") as caught:
        site.recommend(trial, "L-001")
    assert caught.value.recommendation_id == first
    assert nurse.send(here, {"subject": "L-001", "key": "one", "again": "/L-001"}).status == 303
    assert len(service.ids(trial)) == 2
    assert site.recommend(trial, "L-001").id == service.ids(trial)[1]


def test_a_retraction_while_another_round_is_open_is_refused_on_the_page(service: Service) -> None:
    trial, site, nurse = service.new_trial(), service.client("site"), sign_in(service, "site")
    first = site.recommend(trial, "L-001").id
    site.report(trial, first, **DONE)
    second = site.recommend(trial, "L-001").id
    here = f"/app/trials/{trial}/recommendations/{first}"
    refused = nurse.send(f"{here}/correction", {"outcome": "retract", "reason": "slip", "key": "one"})
    assert refused.status == 409
    assert f"Recommendation {second} of the same subject is open, and only one may be open." in text_of(refused.body)
    assert not site.recommendation(trial, first).open


def test_nobody_enters_a_subject_for_no_site(tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        admin, person = service.client(), sign_in(service, "admin")
        admin.create_trial("app", "uniform", ARMS)  # run by one application, without sites
        admin.recommend("app", "user-1")
        assert person.send("/app/trials/app/site", {"subject": "user-2", "key": "one"}).status == 303
        with pytest.raises(InputError, match="this trial has none; make a token of role site first"):
            admin.recommend("app", "user-3", site="Leeds")
        admin.create_trial("t", "uniform", ARMS)
        admin.make_token("site", "Leeds", site="Leeds", trial="t")
        admin.make_token("site", "York", site="York")
        assert admin.sites("t") == ["Leeds", "York"]
        with pytest.raises(InputError, match="name the site that the subject is entered for, one of Leeds"):
            admin.recommend("t", "S-1")
        with pytest.raises(InputError, match="did you mean 'Leeds'"):
            admin.recommend("t", "S-1", site="leeds")
        made = admin.recommend("t", "S-1", site="Leeds")
        assert admin.recommendation("t", made.id).derivation.site == "Leeds"  # type: ignore[union-attr]  # for an admin
        here = "/app/trials/t/site"
        assert "<option>Leeds</option>" in person.get(here).body.decode()
        refused = person.send(here, {"subject": "S-2", "key": "one"})
        assert (refused.status, "Choose the site." in text_of(refused.body)) == (422, True)
        asked = person.send(here, {"subject": "s1", "site": "Leeds", "key": "two"})
        assert "looks like one of this site" in text_of(asked.body)
        assert 'type="hidden" name="site" value="Leeds"' in asked.body.decode()
        assert person.send(here, {"subject": "S-1", "site": "York", "key": "three"}).status == 303
        assert person.send(here, {"subject": "S-2", "site": "Hull", "key": "four"}).status == 422
        assert [line.site for line in admin.waiting("t")] == ["Leeds", "York"]
        # Tokens for all trials do not forbid an application's own trial; on the page people are asked.
        admin.recommend("app", "user-4")
        assert person.send("/app/trials/app/site", {"subject": "user-5", "key": "five"}).status == 422
        leeds = admin.make_token("site", "Leeds too", site="Leeds", trial="t")
        service.tokens["Leeds"] = leeds.token
        with pytest.raises(InputError, match="none, or the site of the token"):
            service.client("Leeds").recommend("t", "S-9", site="York")
        assert service.client("Leeds").recommend("t", "S-1", site="Leeds").id == made.id


def test_in_a_browser(browser: Any, tmp_path: Path) -> None:
    with in_file(tmp_path / "trials.db") as service:
        trial = service.new_trial(entries="ask", **STRATA)
        site = service.client("site")
        site.report(trial, site.recommend(trial, "L-001", stratum="under 60").id, **DONE)
        with visiting(browser, service, "admin") as visitor:
            page = visitor.page
            visitor.open(f"/app/trials/{trial}/site")
            page.fill("#subject", "L-001")
            page.check("text=60 and over")
            page.select_option("#site", "A")
            page.click("button:has-text('Recommend')")
            page.wait_for_selector("text=Is this about that recommendation?")
            page.click("a.row")
            assert "L-001" in page.inner_text("h1")
            visitor.open("/app/access")
            page.fill("#label", "the nurse")
            page.fill("#site", "a")
            page.set_viewport_size(PHONE)
            page.click("text=Make a link to sign in")
            page.wait_for_selector("#question:focus")
            assert page.locator("#question").evaluate(IN_SIGHT)
            assert page.locator("text=Yes, use A").evaluate(IN_SIGHT)
            page.fill("#site", "Leeds")
            page.press("#site", "Enter")  # sends the first button of the form, the answer about a
            page.wait_for_selector("text=A link to sign in, once")
            assert service.client().tokens()[-1].site == "Leeds"
            page.fill("#label", "the nurse")
            page.fill("#site", "a")
            page.click("text=Make a link to sign in")
            page.click("text=Yes, use A")
            page.wait_for_selector("text=A link to sign in, once")
            assert service.client().tokens()[-1].site == "A"
            for size in (PHONE, LAPTOP):
                page.set_viewport_size(size)
                assert visitor.outside(size) == []
            assert visitor.faults == []
        assert len(service.ids(trial)) == 1
