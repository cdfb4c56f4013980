"""Each role opens the pages whose operations of the API it may use, and no other; without a session there is none."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from adhere.service.pages.page_request import OPERATIONS, PEOPLE, PageRoute
from service.serving import Service

from .addresses import READ, SENT, address, addresses, name_of
from .person import Person, sign_in

# A script in the page itself, a handler or a style in an attribute: none of them works under the pages' policy.
INLINE = re.compile(
    rb"<script(?![^>]*\b(?:src|type=\"application/json\"))|<[^>]+\s(?:on[a-z]+|style)=", re.IGNORECASE
)


@pytest.fixture(scope="module")
def people(populated: Service) -> dict[str, Person]:
    return {role: sign_in(populated, "site" if role == "site" else role) for role in PEOPLE}


@pytest.mark.parametrize("route", READ, ids=name_of)
def test_a_page_opens_for_those_whom_the_api_answers(
    populated: Service, people: dict[str, Person], route: PageRoute
) -> None:
    may = {role for role in PEOPLE if all(role in OPERATIONS[name].roles for name in route.calls)}
    assert may, "a page that nobody can open"
    for role, person in people.items():
        for path in addresses(populated, route):
            reply = person.get(path)
            assert (reply.status, role) == (200 if role in may else 403, role), (path, reply.body[-400:])
            if reply.headers["content-type"].startswith("text/html"):
                assert "unsafe" not in reply.headers["content-security-policy"]
                assert not INLINE.findall(reply.body)


@pytest.mark.parametrize("route", READ, ids=name_of)
def test_without_a_session_one_is_sent_to_sign_in_and_then_back(populated: Service, route: PageRoute) -> None:
    path = f"{address(populated, route)}?a=b"
    reply = Person(populated.port).get(path)
    assert reply.status == 303
    assert reply.headers["location"] == f"/app/sign-in?next={quote(path, safe='')}"


@pytest.mark.parametrize("route", SENT, ids=name_of)
def test_a_form_counts_only_from_those_who_may_and_from_a_page_of_theirs(
    populated: Service, people: dict[str, Person], route: PageRoute
) -> None:
    records = {trial: populated.client().trial(trial).records for trial in populated.client().trials()}
    assert Person(populated.port).send(address(populated, route)).status == 401
    for role, person in people.items():
        may = all(role in OPERATIONS[name].roles for name in route.calls)
        refused = person.send(address(populated, route), csrf=not may)
        assert (refused.status, role) == (403, role)
        assert (b"session" if may else b"role") in refused.body
    assert {trial: populated.client().trial(trial).records for trial in populated.client().trials()} == records
