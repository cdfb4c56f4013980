"""A site unblinds its own subject's kit in an emergency; every other kit is unknown to it."""

from __future__ import annotations

import pytest

from adhere.errors import InputError, UnknownError
from adhere.trial.domain.events import Unblinded, decode
from service.serving import Reply, Service
from trial.live import UNKNOWN_ID

ARMS = ("verum-xyz", "placebo-xyz")


@pytest.fixture(scope="module")
def trial(service: Service) -> str:
    """A blinded trial: two recommended at site A, then two at another.

    The second took the last one's kit, and the third, who is the other site's, took their own.
    """
    name = service.new_trial(arms=ARMS, blinded=True)
    for role in ("site", "other"):
        for number in range(2):
            service.client(role).recommend(name, f"{role}-{number}")
    service.client("site").report(name, service.ids(name)[1], actual=kit(service, name, 3))
    service.client("other").report(name, service.ids(name)[2], actual=kit(service, name, 2))
    return name


def kit(service: Service, trial: str, index: int) -> str:
    return str(service.client().recommendation(trial, service.ids(trial)[index]).kit)


def unblind(service: Service, trial: str, code: str, taken_by: str | None = None) -> Reply:
    body = {"kit": code, "reason": "an emergency"} | ({} if taken_by is None else {"recommendation_id": taken_by})
    return service.send("POST", f"/trials/{trial}/unblindings", body, role="site")


def test_its_own_kit_is_told_and_recorded_with_token_and_reason(service: Service, trial: str) -> None:
    first = service.ids(trial)[0]
    told = service.client("site").unblind(trial, kit(service, trial, 0), "anaphylaxis")
    derivation = service.client().recommendation(trial, first).derivation
    assert derivation is not None
    assert (told.id, told.arm) == (first, derivation.arm)
    assert (derivation.history[-1].event, derivation.history[-1].reason) == ("unblinded", "anaphylaxis")
    rows = [one for one in service.client().accesses(trial) if one.kind == "unblinding"]
    assert [(one.recommendation_id, one.label) for one in rows] == [(first, "the site of the tests")]
    assert service.store is not None
    with service.store.reading() as view:
        number = view.trials()[trial]
        events = [decode(record.body) for record in view.records(number, 0, 100)]
    (event,) = [one for one in events if isinstance(one, Unblinded)]
    assert event.by == f"token {rows[0].token}"


def test_the_kit_that_its_subject_took_is_told(service: Service, trial: str) -> None:
    taken, (first, second, *_) = kit(service, trial, 3), service.ids(trial)
    assert unblind(service, trial, taken).status == 404  # without saying who took it
    assert unblind(service, trial, taken, first).status == 404  # who did not
    reply = unblind(service, trial, taken, second.lower().replace("-", " "))
    assert (reply.status, reply.json["arm"] in ARMS) == (201, True)


def test_every_other_kit_is_unknown_in_the_same_words(service: Service, trial: str) -> None:
    theirs, nobodys = kit(service, trial, 2), "0000-0000"
    n_rows = len(service.client().accesses(trial))
    for taken_by in (None, *service.ids(trial), UNKNOWN_ID, "999"):
        answers = {code: unblind(service, trial, code, taken_by) for code in (theirs, nobodys, "no kit")}
        assert [one.status for one in answers.values()] == [404] * 3
        assert len({one.body.replace(code.encode(), b"") for code, one in answers.items()}) == 1
    reads = [row for row in service.client().accesses(trial)[n_rows:] if row.kind == "unblinding"]
    assert reads == []


def test_after_it_the_site_is_told_no_arm_elsewhere(service: Service, trial: str) -> None:
    unblind(service, trial, kit(service, trial, 0))
    first, second, *_ = service.ids(trial)
    for path in ("", f"/recommendations/{first}", f"/recommendations/{second}", "/waiting"):
        reply = service.send("GET", f"/trials/{trial}{path}", role="site")
        assert (reply.status, b"-xyz" in reply.body) == (200, False)


def test_a_reason_is_needed_and_a_trial_that_is_not_blinded_has_no_kits(service: Service, trial: str) -> None:
    with pytest.raises(InputError, match="reason"):
        service.client("site").unblind(trial, kit(service, trial, 0), "")
    plain = service.new_trial()
    service.client("site").recommend(plain, "S-1")
    for role in ("site", "statistician"):
        reply = service.send("POST", f"/trials/{plain}/unblindings", {"kit": "0000-0000", "reason": "x"}, role=role)
        assert reply.status == 409
    with pytest.raises(UnknownError):
        service.client("site").unblind(trial, "0000-0000", "an emergency")
