"""Access: what it says of the roles is true by the table of routes; and how long a token lives."""

from __future__ import annotations

import pytest

from adhere.service.pages.access import ROLES
from adhere.service.pages.page_request import OPERATIONS
from service.serving import Service

from .person import sign_in

# The word on the page for each operation that changes something, or computes; an admin may use all of them.
DOES = {
    "recommend": "recommends",
    **dict.fromkeys(("report", "correct", "withdraw", "mark_in_error"), "reports for"),
    "unblind": "unblinds",
    **dict.fromkeys(("check_design", "start_simulation", "stop_simulation"), "simulates"),
}
SEES = {"results": "results", "list_looks": "looks", "list_records": "the log", "enrolment": "enrolment"}


@pytest.mark.parametrize(("role", "meaning"), [one for one in ROLES if one[0] != "admin"])
def test_what_is_said_of_a_role_is_true(role: str, meaning: str) -> None:
    changing = {name for name, route in OPERATIONS.items() if route.method != "GET" and role in route.roles}
    assert {DOES[name] for name in changing} == {word for word in DOES.values() if word in meaning}
    for name, word in SEES.items():
        assert word not in meaning or role in OPERATIONS[name].roles, word


@pytest.mark.parametrize("days", ["0003650999", "3651", "0", "000", "-1", "1e3", "²", "1" * 5000])
def test_days_that_are_no_number_up_to_ten_years_are_refused(service: Service, days: str) -> None:
    before = len(service.client().tokens())
    reply = sign_in(service, "admin").send("/app/access", {"role": "statistician", "label": "x", "days": days})
    assert reply.status == 422
    assert b"from 1 to 3650" in reply.body
    assert len(service.client().tokens()) == before


def test_days_may_begin_with_noughts(service: Service) -> None:
    reply = sign_in(service, "admin").send("/app/access", {"role": "statistician", "label": "x", "days": "0003650"})
    assert reply.status == 200
    assert service.client().tokens()[-1].expires_at is not None
