"""Enrolment, what waits for a report, and a subject's recommendations, as each role sees them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from adhere.design.make_design import make_design
from adhere.errors import InputError
from adhere.service import context
from adhere.service.api import follow_up
from adhere.service.api.route import COORDINATOR, SITE
from adhere.service.pages.routes import ROUTES
from adhere.store import open_store
from adhere.trial.domain.events import decode
from adhere.trial.domain.history import history_of
from adhere.trial.log.follow_up import FollowUp
from adhere.trial.policy.engine import Choice, Engine
from adhere.trial.secret.recommendation_ids import RecommendationIds
from adhere.trial.writing.processor import CommandProcessor
from service.both_clients import BOTH, MakeClient
from service.serving import ARMS, Service, in_thread, path_of
from trial.live import SECRET, UNKNOWN_ID


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    """A trial in which everything happens that a coordinator has to know of."""
    name = service.new_trial()
    service.client().recommend(name, "S-0")  # before there were sites
    ours, theirs = service.client("site"), service.client("other")
    made = [ours.recommend(name, f"S-{number}").id for number in range(6)]
    made.append(theirs.recommend(name, "S-0").id)
    ours.report(name, made[0], actual="walk", reward=1)  # complete
    ours.report(name, made[1], took_nothing=True)  # the outcome is missing
    ours.report(name, made[2], reward=0)  # what was taken is missing
    ours.withdraw(name, made[3], "moved away")
    ours.withdraw(name, made[5], "moved away")
    ours.correct(name, made[5], "came to a visit", retract=["withdrawal"])  # nothing is reported
    ours.report(name, made[4], actual="walk", reward=1)
    ours.correct(name, made[4], "a slip", retract=["reward"])  # waits again
    theirs.report(name, made[6], reward=1, actual="aspirin")
    theirs.recommend(name, "S-0")  # a second round, the ninth of all
    ours.mark_in_error(name, ours.recommend(name, "S-9").id, "typed twice")
    return name


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_enrolment_counts_each_site(service: Service, trial: str, make: MakeClient) -> None:
    with make(service.url, service.token("coordinator")) as coordinator:
        found = coordinator.enrolment(trial)
    assert (found.recommendations, found.complete, found.waiting, found.lost_to_follow_up) == (10, 2, 6, 1)
    assert [site.site for site in found.sites] == ["", "A", "B"]
    ours = found.sites[1]
    assert (ours.recommendations, ours.complete, ours.waiting, ours.lost_to_follow_up) == (7, 1, 4, 1)
    assert (ours.entered_in_error, found.entered_in_error) == (1, 1)
    assert (ours.nothing_reported, ours.only_taken_reported, ours.only_outcome_reported) == (1, 2, 1)
    waiting = {line.id: line for line in service.client("coordinator").waiting(trial)}
    ids = service.ids(trial)
    assert ours.oldest_waiting == waiting[ids[2]].at
    assert ours.last_activity > waiting[ids[6]].at
    assert sum(day.recommendations for day in found.days if day.site == "B") == 2
    assert {day.day for day in found.days} <= {
        waiting[ids[2]].at.date().isoformat(),
        datetime.now(UTC).date().isoformat(),
    }


def test_the_counts_are_those_of_the_histories(service: Service, trial: str) -> None:
    assert service.store is not None
    follow_up = FollowUp()
    with service.store.reading() as view:
        number = view.trials()[trial]
        bodies = view.histories(number, range(10))
        follow_up.catch_up(view, number)
    histories = {one: history_of(map(decode, own)) for one, own in bodies.items()}
    assert follow_up.pending() == [one for one, history in histories.items() if history.is_open]
    assert [follow_up.at(one) for one in range(10)] == [history.at for history in histories.values()]
    assert [follow_up.site(one) for one in range(10)] == [history.site for history in histories.values()]


def test_each_role_sees_what_waits_for_it(service: Service, trial: str) -> None:
    ours, ids = service.client("site").waiting(trial), service.ids(trial)
    assert [(line.id, line.subject, line.missing) for line in ours] == [
        (ids[2], "S-1", ("the outcome",)),
        (ids[3], "S-2", ("what was taken",)),
        (ids[5], "S-4", ("the outcome",)),
        (ids[6], "S-5", ("what was taken", "the outcome")),
    ]
    assert {line.arm for line in ours} <= set(ARMS)
    everything = service.client("admin").waiting(trial)
    rest = [(line.id, line.site, line.subject) for line in (everything[0], everything[-1])]
    assert rest == [(ids[0], "", "S-0"), (ids[8], "B", "S-0")]
    for role in ("coordinator", "statistician"):
        lines = service.client(role).waiting(trial)
        assert [line.id for line in lines] == [ids[index] for index in (0, 2, 3, 5, 6, 8)]
        assert all(line.subject is line.arm is line.kit is None for line in lines)


def test_what_waits_comes_in_pages(service: Service, trial: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_up, "_PAGE", 3)
    ids = service.ids(trial)
    first = service.send("GET", f"/trials/{trial}/waiting", role="coordinator").json
    assert [line["recommendation_id"] for line in first["waiting"]] == [ids[0], ids[2], ids[3]]
    assert (first["total"], first["next"]) == (6, ids[3])
    last = service.send("GET", f"/trials/{trial}/waiting?after={first['next']}", role="coordinator").json
    assert [line["recommendation_id"] for line in last["waiting"]] == [ids[5], ids[6], ids[8]]
    assert "next" not in last
    assert len(service.client("coordinator").waiting(trial)) == 6
    for unknown in ("4", UNKNOWN_ID):
        reply = service.send("GET", f"/trials/{trial}/waiting?after={unknown}", role="coordinator")
        assert (reply.status, reply.json["field"]) == (404, "recommendation")


def test_a_site_finds_its_own_subjects_recommendations(service: Service, trial: str) -> None:
    theirs, ids = service.client("other").recommendations(trial, "S-0"), service.ids(trial)
    assert [(line.id, line.state) for line in theirs] == [(ids[7], "complete"), (ids[8], "waiting")]
    assert [line.id for line in service.client("site").recommendations(trial, "S-0")] == [ids[1]]
    assert service.client("site").recommendations(trial, "S-3")[0].state == "lost to follow-up"
    assert service.client("site").recommendations(trial, "S-9")[0].state == "entered in error"
    assert service.client("site").recommendations(trial, "nobody") == []
    assert service.client().recommendations(trial, "S-0", site="B") == theirs
    assert [line.id for line in service.client().recommendations(trial, "S-0", site="")] == [ids[0]]
    everywhere = service.client().recommendations(trial, "S-0")
    assert [line.id for line in everywhere] == [ids[0], ids[1], ids[7], ids[8]]
    with pytest.raises(InputError, match="site"):
        service.client("site").recommendations(trial, "S-0", site="B")
    with pytest.raises(InputError, match="subject"):
        service.client("site").recommendations(trial, "")


def test_a_recommendation_leads_to_its_subject_at_the_same_site_only(service: Service, trial: str) -> None:
    path, ids = f"/trials/{trial}/recommendations?recommendation_id=", service.ids(trial)
    for role in ("other", "admin"):
        lines = service.send("GET", f"{path}{ids[7]}", role=role).json["recommendations"]
        found = [(line["recommendation_id"], line["subject"]) for line in lines]
        assert found == [(ids[7], "S-0"), (ids[8], "S-0")]
    hidden, missing = (service.send("GET", f"{path}{one}", role="site") for one in (ids[7], UNKNOWN_ID))
    assert hidden.status == missing.status == 404
    assert hidden.body.replace(ids[7].encode(), UNKNOWN_ID.encode()) == missing.body


def test_a_new_code_that_looks_like_a_known_one_is_noticed(service: Service) -> None:
    trial, site = service.new_trial(repeats=True), service.client("site")
    made = [site.recommend(trial, subject).id for subject in ("S-01", "S-2", "S-01")]
    service.client("other").recommend(trial, "s-o1")
    for code in ("S-O1", "s-01", "S-0l", "S- 0I"):
        assert site.recommendations(trial, code) == []
        assert [(one.subject, one.id) for one in site.alike(trial, code)] == [("S-01", made[2])]
    assert site.alike(trial, "S-01") == site.alike(trial, "S-02") == []


def test_an_erased_subject_is_found_no_more(service: Service) -> None:
    trial = service.new_trial()
    made = service.client("site").recommend(trial, "S-1")
    service.client().erase(trial, "S-1", site="A")
    assert service.client("site").recommendations(trial, "S-1") == []
    (line,) = service.client("site").waiting(trial)
    assert (line.id, line.subject) == (made.id, None)


def test_it_starts_anew_when_the_log_is_another_and_stays_when_a_view_is_older(service: Service, trial: str) -> None:
    known, other = FollowUp(), service.new_trial()
    assert service.store is not None
    with service.store.reading() as view:
        numbers = view.trials()
        known.catch_up(view, numbers[other])
        known.catch_up(view, numbers[trial])
        assert (known.n_recommendations, known.sites) == (10, ["", "A", "B"])
        longer = service.client("site").recommend(trial, "S-later").id
        with service.store.reading() as later:
            known.catch_up(later, numbers[trial])
        known.catch_up(view, numbers[trial])
    assert known.n_recommendations == len(service.ids(trial)) == 11
    service.client("site").mark_in_error(trial, longer, "for this test only")


def said_to(role: str, arm: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """Everything a role is told of a blinded trial in which everybody gets one arm."""
    moments = iter(range(10**6))
    clock = partial(CommandProcessor, now=lambda: datetime.fromtimestamp(1_700_000_000 + next(moments), UTC))
    choose = Engine.choose

    def always(self: Engine, state: Any, index: int, epoch: str = "") -> Choice:
        chosen = choose(self, state, index, epoch)
        return Choice(arm, chosen.probabilities, chosen.memo)

    monkeypatch.setattr(Engine, "choose", always)
    monkeypatch.setattr(RecommendationIds, "new", lambda ids, index: ids.with_bytes(index, bytes(10)))
    store = open_store(None)
    clock(store).create(make_design("twin", "uniform", ARMS, blinded=True), secret=SECRET)
    monkeypatch.setattr(context, "CommandProcessor", clock)
    with in_thread(store) as service:
        site = service.client("site")
        for number in range(4):
            made = site.recommend("twin", f"S-{number}")
            if number < 2:
                site.report("twin", made.id, actual=made.kit, reward=number)
        second = service.ids("twin")[1]
        derivation = service.client().recommendation("twin", second).derivation
        assert derivation is not None
        assert derivation.arm == ARMS[arm]
        for route in ROUTES:
            if role in route.roles and route.method == "GET":
                query = "?subject=S-1" if route.handler is follow_up.find_recommendations else ""
                yield service.send("GET", path_of(route, "twin", second, 1) + query, role=role).body


@pytest.mark.parametrize("role", [COORDINATOR, SITE])
def test_a_blinded_trial_tells_both_arms_alike(role: str) -> None:
    said = []
    for arm in (0, 1):
        with pytest.MonkeyPatch.context() as patched:
            said.append(list(said_to(role, arm, patched)))
    one, other = said
    assert len(one) >= 4
    assert one == other
