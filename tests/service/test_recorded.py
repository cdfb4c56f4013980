"""Records about a recommendation are shown to its site: what, when, by whom, and no arm that is hidden."""

from __future__ import annotations

from typing import Any

from adhere_client.responses.recommendations import RecordedLine
from service.serving import Service

ARMS = ("verum-xyz", "placebo-xyz")


def lines(service: Service, trial: str, made: str, role: str = "site") -> tuple[RecordedLine, ...]:
    return service.client(role).recommendation(trial, made).recorded


def test_a_site_is_shown_each_report_correction_and_mark(service: Service) -> None:
    trial, site = service.new_trial(policy="uniform"), service.client("site")
    made = site.recommend(trial, "S-1").id
    assert lines(service, trial, made) == ()
    site.report(trial, made, actual="walk")
    site.report(trial, made, actual="walk")  # with nothing new
    service.client().report(trial, made, reward=1)
    site.correct(trial, made, took_other="tea", reason="the wrong line")
    site.correct(trial, made, reward=0, retract=["actual"], reason="another slip")
    site.withdraw(trial, made, "moved away")
    site.correct(trial, made, retract=["withdrawal"], reason="came back")
    shown = lines(service, trial, made)
    own = "the site of the tests"
    assert [
        (one.event, one.by, one.actual, one.took_other, one.reward, one.retract, one.reason) for one in shown
    ] == [
        ("reported", own, "walk", None, None, (), None),
        ("reported", "an admin", None, None, 1, (), None),
        ("corrected", own, None, "tea", None, (), "the wrong line"),
        ("corrected", own, None, None, 0, ("actual",), "another slip"),
        ("withdrawn", own, None, None, None, (), "moved away"),
        ("corrected", own, None, None, None, ("withdrawal",), "came back"),
    ]
    assert [one.by for one in lines(service, trial, made, "admin")][:2] == [own, "the first admin"]


def test_in_a_blinded_trial_kits_stand_for_arms_and_words_of_others_are_left_out(service: Service) -> None:
    trial, site = service.new_trial(policy="uniform", arms=ARMS, blinded=True), service.client("site")
    own, other = site.recommend(trial, "S-1"), site.recommend(trial, "S-2")
    theirs = service.client("other").recommend(trial, "S-3")
    site.report(trial, own.id, actual=str(theirs.kit).lower())
    told = site.recommendation(trial, own.id)
    assert (told.took, told.actual) == ("kit", theirs.kit)
    site.correct(trial, own.id, actual=other.kit, reason="misread")
    service.client().correct(trial, own.id, actual=ARMS[0], reason=f"it was {ARMS[0]}")
    service.client().correct(trial, own.id, took_other=f"half a {ARMS[0]}", reason="x")
    reply = service.send("GET", f"/trials/{trial}/recommendations/{own.id}", role="site")
    assert b"xyz" not in reply.body
    shown = lines(service, trial, own.id)
    assert [(one.took, one.actual, one.kit, one.reason) for one in shown] == [
        ("kit", theirs.kit, theirs.kit, None),
        ("kit", other.kit, other.kit, "misread"),
        ("kit", None, None, None),
        ("other", None, None, None),
    ]
    to_admin = lines(service, trial, own.id, "admin")
    assert [one.kit for one in to_admin] == [theirs.kit, other.kit, None, None]
    assert {one.actual for one in to_admin} <= {*ARMS, None}
    assert to_admin[-1].took_other == f"half a {ARMS[0]}"


def test_a_site_is_shown_its_own_unblindings_and_no_arm(service: Service) -> None:
    trial, site = service.new_trial(policy="uniform", arms=ARMS, blinded=True), service.client("site")
    own, theirs = site.recommend(trial, "S-1"), service.client("other").recommend(trial, "S-2")
    site.report(trial, own.id, actual=theirs.kit)
    service.client("statistician").unblind(trial, str(own.kit), "a question of the board")
    service.client("other").unblind(trial, str(theirs.kit), "ill there")
    site.unblind(trial, str(own.kit), "ill")
    site.unblind(trial, str(theirs.kit), "ill again", id=own.id)
    shown = [one for one in lines(service, trial, own.id) if one.event == "unblinded"]
    assert [(one.kit, one.reason, one.actual) for one in shown] == [
        (own.kit, "ill", None),
        (theirs.kit, "ill again", None),
    ]
    assert b"xyz" not in service.send("GET", f"/trials/{trial}/recommendations/{own.id}", role="site").body
    everything = [one.reason for one in lines(service, trial, own.id, "admin") if one.event == "unblinded"]
    assert everything == ["a question of the board", "ill there", "ill", "ill again"]
    (at_theirs,) = lines(service, trial, theirs.id, "other")
    assert (at_theirs.by, at_theirs.reason) == ("the other of the tests", "ill there")


def test_words_that_were_erased_are_not_shown(service: Service) -> None:
    trial, site = service.new_trial(policy="uniform"), service.client("site")
    made = site.recommend(trial, "S-1").id
    site.report(trial, made, took_other="what my neighbour gave me")
    assert site.recommendation(trial, made).took_other == "what my neighbour gave me"
    service.client().erase(trial, "S-1", site="A")
    told = site.recommendation(trial, made)
    assert (told.took, told.took_other, told.recorded[0].took_other) == ("other", None, None)


def test_an_unblinding_that_is_asked_for_again_says_so(service: Service) -> None:
    trial, site = service.new_trial(policy="uniform", arms=ARMS, blinded=True), service.client("site")
    kit = str(site.recommend(trial, "S-1").kit)
    first, again = (site.unblind(trial, kit, "ill", request_id="one") for _ in range(2))
    assert (first.repeated, again.repeated, again.at, again.arm) == (False, True, first.at, first.arm)
    assert site.unblind(trial, kit, "ill", request_id="two").repeated is False


def test_the_types_of_the_answer(service: Service) -> None:
    trial, site = service.new_trial(policy="uniform"), service.client("site")
    made = site.recommend(trial, "S-1").id
    site.report(trial, made, actual="walk")
    reply: dict[str, Any] = service.send("GET", f"/trials/{trial}/recommendations/{made}", role="site").json
    assert set(reply["recorded"][0]) == {"event", "at", "by", "took", "actual"}
