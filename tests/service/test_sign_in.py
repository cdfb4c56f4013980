"""Sign in with a token or a one-time link; what a session may do, and when it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from adhere.service.pages.csrf import csrf_of
from adhere.service.settings import ServiceSettings
from service.serving import Reply, Service, in_file

FORM = "application/x-www-form-urlencoded"


@dataclass
class Browser:
    """Keeps the cookie, as a browser does."""

    service: Service
    secret: str = ""

    def get(self, path: str, **headers: str) -> Reply:
        return self.service.send("GET", path, role=None, headers=self._headers(headers))

    def post(self, path: str, csrf: str | None = None, headers: dict[str, str] | None = None, **fields: str) -> Reply:
        sent = {"csrf": csrf_of(self.secret) if csrf is None else csrf, **fields}
        more = {"Content-Type": FORM, **(headers or {})}
        body = urlencode(sent).encode()
        reply = self.service.send("POST", path, body, role=None, headers=self._headers(more))
        if found := re.match(r"adhere_session=([^;]*)", reply.headers.get("set-cookie", "")):
            self.secret = found[1].strip('"')
        return reply

    def sign_in(self, token: str, **fields: str) -> Reply:
        return self.post("/app/sign-in", "", None, token=token, **fields)

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"Cookie": f"adhere_session={self.secret}" if self.secret else "", **more}


@pytest.fixture
def browser(service: Service) -> Browser:
    return Browser(service)


def test_with_a_token_and_out_again(browser: Browser) -> None:
    assert browser.get("/app/trials").headers["location"] == "/app/sign-in?next=%2Fapp%2Ftrials"
    reply = browser.sign_in(browser.service.admin, next="/app/access")
    assert (reply.status, reply.headers["location"]) == (303, "/app/access")
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "max-age=43200" in cookie
    assert "secure" not in cookie  # this is plain HTTP
    page = browser.get("/app/trials")
    assert page.status == 200
    assert page.headers["cache-control"] == "no-store"
    old = browser.secret
    assert browser.post("/app/sign-out").status == 303
    browser.secret = old
    assert browser.get("/app/trials").status == 303


@pytest.mark.parametrize("wanted", ["https://evil.example", "//evil.example", "/\\evil", "/trials", "/app/x\ny", ""])
def test_nobody_is_sent_elsewhere(browser: Browser, wanted: str) -> None:
    assert browser.sign_in(browser.service.admin, next=wanted).headers["location"] == "/app/trials"


def test_signing_in_once_more_ends_the_session_before(browser: Browser) -> None:
    """From a page of no session, as it lies in another tab; that of another host is refused all the same."""
    browser.sign_in(browser.service.admin)
    before = browser.secret
    assert browser.post("/app/sign-in", "", {"Origin": "https://evil.example"}, token="adh_x").status == 403
    assert browser.secret == before
    assert browser.sign_in(browser.service.token("statistician")).status == 303
    assert b"statistician" in browser.get("/app/trials").body
    browser.secret = before
    assert browser.get("/app/trials").status == 303


def test_what_is_not_valid_opens_nothing(browser: Browser) -> None:
    for token in ("adh_nothing", "", "x" * 5000, "lnk_nothing", browser.service.token("metrics")):
        assert browser.sign_in(token).status == 403
        assert not browser.secret


def test_a_link_works_once(browser: Browser) -> None:
    path, _, secret = browser.service.client().make_link(1).path.partition("#link=")
    assert browser.get(path).status == 200  # a preview uses nothing up, and is not told the secret
    assert browser.get(f"{path}?link={secret}").body == browser.get(path).body
    assert browser.post("/app/sign-in", csrf="", link=secret).status == 303
    assert browser.get("/app/access").status == 200
    again = Browser(browser.service).post("/app/sign-in", csrf="", link=secret)
    assert again.status == 403
    assert b"used already" in again.body


def test_a_whole_link_may_be_typed_as_an_access_code(browser: Browser) -> None:
    link = browser.service.client().make_link(1)
    assert browser.sign_in(f" https://trials.example{link.path} ").status == 303
    again = Browser(browser.service).sign_in(f"https://trials.example{link.path}")
    assert again.status == 403
    assert b"used already" in again.body


def test_a_session_has_the_rights_of_its_token_and_ends_with_it(browser: Browser) -> None:
    admin = browser.service.client()
    made = admin.make_token("site", "of a session", site="A")
    browser.sign_in(made.token)
    assert browser.get("/app/trials").status == 200
    refused = browser.get("/app/access")
    assert refused.status == 403
    assert b"this page is for the role admin" in refused.body.lower()
    admin.revoke_token(made.id)
    assert browser.get("/app/trials").status == 303


@pytest.mark.parametrize(
    ("csrf", "headers"),
    [
        ("", {}),
        ("0" * 64, {}),
        (None, {"Origin": "https://evil.example"}),
        (None, {"Origin": "null"}),
        (None, {"Content-Type": "text/plain"}),
        (None, {"Content-Type": "application/json"}),
    ],
)
def test_a_form_of_another_site_does_nothing(browser: Browser, csrf: str | None, headers: dict[str, str]) -> None:
    browser.sign_in(browser.service.admin)
    before = len(browser.service.client().tokens())
    reply = browser.post("/app/access", csrf, headers, role="statistician", label="forged")
    assert reply.status in (403, 415)
    assert len(browser.service.client().tokens()) == before
    assert browser.post("/app/access", role="statistician", label="real").status == 200
    assert len(browser.service.client().tokens()) == before + 1


def test_a_token_is_no_session_and_a_session_is_no_token(browser: Browser) -> None:
    browser.sign_in(browser.service.admin)
    assert browser.get("/trials").status == 401
    assert browser.service.send("GET", "/app/trials", role="admin").status == 303


def test_who_guesses_is_slowed_down(tmp_path: Path) -> None:
    with in_file(tmp_path / "a.db", ServiceSettings(failure_burst=3, failure_rate=0.01)) as service:
        browser = Browser(service)
        statuses = [browser.sign_in(f"{prefix}{n}").status for prefix in ("lnk_", "adh_") for n in range(3)]
        assert statuses == [403, 403, 403, 429, 429, 429]


def test_behind_a_proxy_with_https_below_a_path(tmp_path: Path) -> None:
    settings = ServiceSettings(root_path="/adhere", trusted_proxies=("127.0.0.1",))
    with in_file(tmp_path / "a.db", settings) as service:
        browser = Browser(service)
        said = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
        reply = browser.post("/adhere/app/sign-in", "", said, token=service.admin)
        assert reply.headers["location"] == "/adhere/app/trials"
        assert "secure" in reply.headers["set-cookie"].lower()
        assert "path=/adhere/" in reply.headers["set-cookie"].lower()
        page = browser.get("/adhere/app/trials").body.decode()
        links = re.findall(r'(?:href|src|action)="([^"#][^"]*)"', page)
        assert links
        assert all(link.startswith("/adhere/") for link in links)
