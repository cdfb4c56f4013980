"""No second patient without a question: look-alike codes and sites, second entries, subjects without a site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import pytest

from adhere.errors import ConflictError, InputError
from adhere.store import open_store
from service.serving import ARMS, Service, in_file, in_thread

from .person import Person, sign_in
from .visitor import LAPTOP, PHONE, visiting

DONE: dict[str, Any] = {"took_nothing": True, "reward": 1}
STRATA: dict[str, Any] = {
    "policy": "burn-in(thompson, patients=20)",
    "n_patients": 100,
    "strata": ["under 60", "60 and over"],
}


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
        assert nurse.send(here, {"subject": typed, "key": "second", "someone_new": "yes"}).status == 303
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
    assert "shown only now" in text_of(person.send("/app/access", {**typed, "use": "Edinburgh"}).body)
    assert admin.tokens()[-1].site == "Edinburgh"
    # Another name typed after the question is asked about again.
    assert "Is it the same site?" in text_of(person.send("/app/access", {**typed, "new_site": "edin burgh"}).body)
    assert "shown only now" in text_of(person.send("/app/access", {**typed, "new_site": "edinburgh"}).body)
    assert admin.tokens()[-1].site == "edinburgh"
    assert admin.make_token("site", "their own", site="EDINBURGH", new_site=True).site == "EDINBURGH"


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
    with pytest.raises(ConflictError, match="a subject is entered once in this trial") as caught:
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
    assert 'name="again" value="yes"' in asked.body.decode()
    assert service.ids(trial) == [first]
    with pytest.raises(ConflictError, match="send again=true") as caught:
        site.recommend(trial, "L-001")
    assert caught.value.recommendation_id == first
    assert nurse.send(here, {"subject": "L-001", "key": "one", "again": "yes"}).status == 303
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
    assert f"Recommendation {second} of the same subject is open, and only one may be." in text_of(refused.body)
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
            page.click("text=Make a link to sign in")
            page.click("text=Yes, use A")
            page.wait_for_selector("text=A link to sign in, once")
            for size in (PHONE, LAPTOP):
                page.set_viewport_size(size)
                assert visitor.outside(size) == []
            assert visitor.faults == []
        assert len(service.ids(trial)) == 1
