"""A rehearsal is marked on each of its pages, whoever opens it; another trial on none."""

from __future__ import annotations

import pytest

from adhere.service.pages.page_request import PageRoute
from service.serving import Service

from .addresses import READ, address, name_of
from .person import sign_in

MARK = b"<b>Rehearsal.</b>"
OF_TRIALS = [one for one in READ if "{trial}" in one.path and not one.path.endswith(("/file", "/events"))]


@pytest.fixture(scope="module")
def trials(service: Service) -> tuple[str, str]:
    """A rehearsal and another trial, with two subjects each."""
    rehearsal, other = service.new_trial(rehearsal=True), service.new_trial()
    for trial in (rehearsal, other):
        for subject in ("S-1", "T-2"):
            service.client("site").recommend(trial, subject)
    return rehearsal, other


@pytest.mark.parametrize("route", OF_TRIALS, ids=name_of)
def test_a_page_of_a_rehearsal(service: Service, trials: tuple[str, str], route: PageRoute) -> None:
    for role in route.roles:
        person = sign_in(service, role)
        for trial, marked in zip(trials, (True, False), strict=True):
            reply = person.get(address(service, route, trial))
            if reply.body.lstrip().startswith(b"<!doctype html"):
                assert (MARK in reply.body) == marked, (role, reply.status)


def test_what_is_refused_is_marked_too(service: Service, trials: tuple[str, str]) -> None:
    refused = sign_in(service, "site").send(f"/app/trials/{trials[0]}/site", {"subject": "", "key": "k"})
    assert refused.status == 422
    assert MARK in refused.body
