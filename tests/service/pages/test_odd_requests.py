"""Requests for pages that no page of ours makes: they are answered with a page that says what is wrong."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from adhere.service.pages.csrf import csrf_of
from adhere.service.pages.handle_page import COOKIE
from adhere.service.settings import ServiceSettings
from service.serving import Reply, Service, in_file

from .person import FORM, Person, sign_in

ODD_NAME = 'a?b#c%2F d&"<é>'


@pytest.fixture(scope="module")
def admin(service: Service) -> Person:
    return sign_in(service, "admin")


def ask(service: Service, path: str, cookie: str, method: str = "GET", body: bytes = b"", **more: str) -> Reply:
    return service.send(method, path, body, role=None, headers={"Cookie": cookie, **more})


def is_page(reply: Reply) -> bool:
    html = reply.headers["content-type"].startswith("text/html") and b"<h1>" in reply.body
    return html and "default-src 'none'" in reply.headers["content-security-policy"]


def test_too_many_requests_are_told_on_a_page(tmp_path: Path) -> None:
    with in_file(tmp_path / "a.db", ServiceSettings(token_rate=0.01, token_burst=1)) as service:
        person = sign_in(service, "admin")
        replies = [person.get("/app/trials") for _ in range(2)]
    assert [reply.status for reply in replies] == [200, 429]
    assert is_page(replies[1])
    assert b"too many requests" in replies[1].body.lower()
    assert b"Sign out" in replies[1].body  # one is signed in all the while


def test_too_many_parameters_are_told_on_a_page(admin: Person) -> None:
    reply = admin.get("/app/trials?" + "&".join(f"p{n}=1" for n in range(1001)))
    assert reply.status == 400
    assert is_page(reply)


def test_an_origin_that_is_none_is_refused(service: Service, admin: Person) -> None:
    body = f"csrf={csrf_of(admin.secret)}&role=statistician&label=forged".encode()
    sent = {"Content-Type": FORM, "Origin": "http://[bad"}
    reply = ask(service, "/app/access", f"{COOKIE}={admin.secret}", "POST", body, **sent)
    assert reply.status == 403
    assert is_page(reply)


def test_cookies_of_other_programs_on_the_host_do_not_matter(service: Service, admin: Person) -> None:
    others = 'seen={"a":1}; a[0]=b c'
    assert ask(service, "/app/trials", f"{others}; {COOKIE}={admin.secret}").status == 200


def test_a_form_without_its_key_does_nothing(service: Service) -> None:
    trial, person = service.new_trial(), sign_in(service, "site")
    for given in ({}, {"key": ""}, {"key": "é"}, {"key": "k" * 201}):
        reply = person.send(f"/app/trials/{trial}/site", {"subject": "S-1", **given})
        assert reply.status == 400
        assert is_page(reply)
    assert service.client().trial(trial).recommendations == 0


def test_one_comes_back_to_a_trial_with_an_odd_name(service: Service) -> None:
    service.client().create_trial(ODD_NAME, "uniform", ("a", "b"))
    path = f"/app/trials/{quote(ODD_NAME, safe='')}"
    wanted = parse_qs(urlsplit(Person(service.port).get(path).headers["location"]).query)["next"][0]
    back = Person(service.port).send("/app/sign-in", {"token": service.admin, "next": wanted}, csrf=False)
    assert back.headers["location"] == path
    assert sign_in(service, "admin").get(path).status == 200


def test_the_head_of_an_event_stream_is_sent_alone(service: Service, admin: Person) -> None:
    path = f"/app/trials/{service.new_trial()}/monitor/events"
    reply = ask(service, path, f"{COOKIE}={admin.secret}", "HEAD")
    assert (reply.status, reply.headers["content-type"], reply.body) == (200, "text/event-stream", b"")


def test_a_file_has_the_policy_of_a_page(service: Service, admin: Person) -> None:
    reply = admin.get(f"/app/trials/{service.new_trial()}/monitor/file?format=log")
    assert reply.status == 200
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
