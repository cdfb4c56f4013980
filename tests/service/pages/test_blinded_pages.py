"""Two blinded trials of one secret and clock, one that gives arm 0 and one arm 1, are alike to the blind.

Every answer to a site and a coordinator, of the API and of every page that they can open, is compared byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from adhere import Trial
from adhere.service.api.requests import NewReport
from adhere.service.api.route import COORDINATOR, SITE, Route
from adhere.service.pages.page_request import PageRoute
from adhere.service.pages.routes import PAGES, ROUTES
from adhere.store import open_store
from service.serving import Reply, Service, in_thread, path_of
from service.test_roles import BODIES

from .forms import forms_of
from .person import Person, sign_in
from .pinned import Pinned

TRIAL, ARMS = "headache", ("placebo", "verum")
Answers = dict[str, tuple[int, dict[str, str], bytes]]


def test_every_answer_to_the_blind_is_the_same_whatever_the_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    # Compiled beforehand, as the names of files that are then written are drawn too.
    warm = Trial("always(placebo)", ARMS, seed=1)
    warm.report(warm.recommend().id, actual=ARMS[0], reward=1)
    pinned = Pinned(monkeypatch)
    heard = []
    for arm in (0, 1):
        pinned.restart()
        with in_thread(open_store()) as service:
            service.client().create_trial(TRIAL, f"always({ARMS[arm]})", ARMS, n_patients=20, blinded=True)
            heard.append(_everything_the_blind_hear(service, pinned))
            kit = json.loads(heard[-1]["recommend (0)"][2])["kit"]
            assert service.client().unblind(TRIAL, kit, "to see that they differ").arm == ARMS[arm]
    _assert_alike(*heard)


@pytest.mark.parametrize("blinded", [pytest.param(False, marks=pytest.mark.slow), True])
def test_no_answer_to_the_blind_tells_that_a_look_was_made(monkeypatch: pytest.MonkeyPatch, blinded: bool) -> None:
    """As a gap in positions of the log or in numbers of recommendations would, to a site that is alone in a trial."""
    warm = Trial("uniform", ARMS, seed=1)
    warm.report(warm.recommend().id, actual=ARMS[0], reward=1)
    pinned = Pinned(monkeypatch)
    heard, stopping = [], {"by": "posterior", "superiority": 0.5}
    for look_at in (1, 19):  # at the first outcome, and not while it goes on
        pinned.restart()
        with in_thread(open_store()) as service:
            design: dict[str, Any] = {"looks": {"at": [look_at]}, "stopping": stopping, "n_patients": 20}
            service.client().create_trial(TRIAL, "uniform", ARMS, blinded=blinded, **design)
            heard.append(_everything_the_blind_hear(service, pinned))
            assert len(service.client().looks(TRIAL)) == (look_at == 1)
    _assert_alike(*heard)


def _assert_alike(one: Answers, other: Answers) -> None:
    """Whatever was asked of two services was answered alike, and everything was asked."""
    assert list(one) == list(other)
    assert {what: answer for what, answer in one.items() if answer != other[what]} == {}
    for role in (SITE, COORDINATOR):
        shown = {what for what, (status, _, _) in one.items() if status == 200 and what.startswith(f"{role} GET")}
        pages = {what.split()[2] for what in shown}
        assert pages >= {page.path for page in PAGES if page.method == "GET" and role in page.roles and page.calls}
    accepted = {what.split()[-2].rpartition("/")[2] for what in one if one[what][0] == 303}
    assert accepted >= {"site", "report", "withdrawal"}


def _everything_the_blind_hear(service: Service, pinned: Pinned) -> Answers:
    service.token(SITE)
    heard: Answers = {}

    def hear(what: str, reply: Reply) -> Reply:
        headers = {name: value for name, value in reply.headers.items() if name != "date"}
        heard[f"{what} ({len(heard)})"] = (reply.status, headers, reply.body)
        pinned.tick()
        return reply

    for number in range(3):
        reply = service.send("POST", f"/trials/{TRIAL}/recommendations", {"subject": f"S-{number}"}, role="site")
        made = hear("recommend", reply).json
    for role in (SITE, COORDINATOR):
        service.token(role)
        routes = [route for route in ROUTES if role in route.roles or not route.roles]
        for route in [*routes, *routes]:  # again, once there are reports
            hear(f"{role} {route.method} {route.path}", _ask(service, route, made.get("kit") or made["arm"], role))
        person = sign_in(service, role)
        pages = [page for page in PAGES if page.method == "GET" and not page.public and role in page.roles]
        for page in pages:
            _send_forms(person, hear(f"{role} GET {page.path}", person.get(_filled(service, page))), hear)
        for page in pages:
            hear(f"{role} GET {page.path}", person.get(_filled(service, page)))
    return heard


def _send_forms(person: Person, opened: Reply, hear: Callable[[str, Reply], Reply], *, again: bool = True) -> None:
    """Send every form of a page, and those of the pages to which they lead."""
    for form in forms_of(opened.body.decode()) if b"<form" in opened.body else []:
        if form.action.endswith("/sign-out"):
            continue
        reply = hear(f"POST {form.action}", person.send(form.action, form.fields))
        if reply.status == 303:
            led_to = hear(f"GET {reply.headers['location']}", person.get(reply.headers["location"]))
            if again:
                _send_forms(person, led_to, hear, again=False)


def _ask(service: Service, route: Route, given: str, role: str) -> Reply:
    body = BODIES[route.body] if route.body is not None else None
    body = {"actual": given, "reward": 1} if route.body is NewReport else body
    return service.send(route.method, _filled(service, route), body, role=role)


def _filled(service: Service, route: Route | PageRoute) -> str:
    return path_of(route, TRIAL, service.ids(TRIAL)[2], 2)
