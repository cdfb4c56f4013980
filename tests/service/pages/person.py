"""Someone who is signed in, without a browser: requests for pages with the cookie of a session."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from adhere.service.pages.csrf import csrf_of
from adhere.service.pages.handle_page import COOKIE
from service.serving import Reply, Service

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Person:
    """A session's secret and where the service is; without a secret, somebody who is not signed in."""

    port: int
    secret: str = ""

    def get(self, path: str) -> Reply:
        return self._ask("GET", path)

    def send(self, path: str, fields: Mapping[str, str] | None = None, *, csrf: bool = True) -> Reply:
        """Send a form, as from a page of the session unless `csrf` is false."""
        given = {"csrf": csrf_of(self.secret)} if csrf else {}
        return self._ask("POST", path, urlencode({**(fields or {}), **given}))

    def _ask(self, method: str, path: str, body: str | None = None) -> Reply:
        headers = {"Host": "adhere.test"}  # so that no answer has the port
        if self.secret:
            headers["Cookie"] = f"{COOKIE}={self.secret}"
        if body is not None:
            headers["Content-Type"] = FORM
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            said = {name.lower(): value for name, value in answer.getheaders()}
            endless = said.get("content-type", "").startswith("text/event-stream")
            return Reply(answer.status, said, b"" if endless else answer.read())
        finally:
            connection.close()


def sign_in(service: Service, role: str) -> Person:
    """Sign in with a role's token, as the form does."""
    reply = Person(service.port).send("/app/sign-in", {"token": service.token(role)}, csrf=False)
    assert reply.status == 303, reply.body
    return Person(service.port, reply.headers["set-cookie"].partition(";")[0].partition("=")[2])
