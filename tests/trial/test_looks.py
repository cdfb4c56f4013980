"""Looks of a live trial: made when they are due, by whose report makes them so, and derived again from the log."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adhere import Trial
from adhere.design.make_design import make_design
from adhere.design.parts import Imputation, Looks, Stopping
from adhere.errors import InputError, UnavailableError
from adhere.looks.judge import ACTIVE, GO_ON, INFERIOR, SUPERIOR
from adhere.record_sources import records_of
from adhere.trial.domain.commands import ChangeStatus, Look, Withdraw
from adhere.trial.domain.events import Closed, Looked, Recommended
from adhere.trial.log.explain import explain
from adhere.trial.log.look_view import logged_looks
from adhere.trial.log.replay import replay
from adhere.trial.log.replay_schedule import logged_allocation
from adhere.trial.log.verify import verify
from adhere.trial.policy.engine import Choice, Engine, engine_of
from adhere.trial.secret.trial_keys import seeded_keys

from .live import Live, number_of, replay_of, verdict_of

THREE = ("placebo", "low", "high")
BY_POSTERIOR = Stopping(by="posterior", superiority=0.99, inferiority=0.01)
IN_BLOCKS: dict[str, Any] = {
    "policy": "burn-in(uniform, patients=12)", "arms": THREE, "n_patients": 60, "strata": ("young", "old"),
}  # fmt: skip


def looks_of(live: Live) -> list[Looked]:
    return [event for event in live.events() if isinstance(event, Looked)]


def made_after(live: Live, look: Looked) -> list[Recommended]:
    return [event for event in live.events() if isinstance(event, Recommended) and event.position > look.position]


def play(live: Live, n_patients: int, gain: dict[str, int], first: int = 0, **said: Any) -> None:
    """Patients who take what is recommended; every gain[arm]-th of an arm has a success."""
    seen: Counter[str] = Counter()
    for number in range(first, first + n_patients):
        made = live.recommend(f"s{number}", **said)
        arm = str(made.arm)
        seen[arm] += 1
        live.report(made.recommendation_id, actual=arm, reward=float(seen[arm] % gain[arm] == 0))


def check_log(live: Live) -> None:
    """Verify and replay find the log as it was written and as it comes out."""
    with live.store.reading() as view:
        assert verify(view, number_of(view)).fault is None
        result = replay(view, number_of(view))
        assert result.difference is None, result.difference
        assert result.n_looks == len(looks_of(live))
        assert result.n_derived == sum(isinstance(event, Recommended) for event in live.events())


def test_a_trial_drops_an_arm_and_recommends_a_stop_that_a_person_confirms() -> None:
    stopping = Stopping(by="posterior", superiority=0.999, inferiority=0.05)
    live = Live("thompson", arms=THREE, n_patients=200, looks=Looks(every=25), stopping=stopping)
    gain = {"placebo": 50, "low": 2, "high": 2}
    play(live, 100, gain)
    kinds = live.kinds()
    assert all(one != "Looked" or before == "Reported" for before, one in pairwise(kinds))  # in its transaction
    dropping = next(look for look in looks_of(live) if INFERIOR in look.status)
    assert (dropping.decision, dropping.status[0]) == (GO_ON, INFERIOR)
    after = made_after(live, dropping)
    assert after
    assert {event.probabilities[0] for event in after} == {0.0}
    assert {event.chosen for event in after} == {1, 2}
    play(live, 100, {**gain, "low": 1, "high": 50}, first=100)
    stop = next(look for look in looks_of(live) if look.decision != GO_ON)
    assert (stop.decision, stop.selected, stop.status[1]) == (SUPERIOR, 1, SUPERIOR)
    # It goes on as it was until a person has confirmed it.
    assert all(event.probabilities[2] > 0.0 for event in made_after(live, stop))
    live.send(ChangeStatus(trial="t", request_id="", status="closed", reason="superior at a look"))
    assert isinstance(live.events()[-1], Closed)
    assert live.snapshot().looks is not None
    with live.store.reading() as view:
        assert "an arm was dropped at a look" in logged_allocation(view, number_of(view)).reason
        told = list(explain(view, number_of(view), after[0].recommendation_id))
        said = "the policy's probabilities, among the arms left (dropped at a look: placebo)"
        assert f"  decided by {said}" in told
    check_log(live)


def test_frozen_shares_are_those_of_the_last_look() -> None:
    live = Live("thompson", arms=THREE, n_patients=60, looks=Looks(every=20), update="at looks")
    play(live, 60, {"placebo": 50, "low": 2, "high": 1})
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert made[0].probabilities == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    for first, look in zip((20, 40), looks_of(live), strict=False):
        assert {event.probabilities for event in made[first : first + 20]} == {look.shares}
    assert not any(event.estimated for event in made)  # drawn by these very shares
    assert [look.decision for look in looks_of(live)] == [GO_ON] * 3  # without stopping a look decides nothing
    check_log(live)


def test_it_is_said_what_prescribed_the_probabilities_and_they_are_not_redrawn() -> None:
    frozen = Live("thompson", arms=THREE, n_patients=60, looks=Looks(every=20), update="at looks")
    stratified = Live(**IN_BLOCKS)
    frozen.recommend("s")
    stratified.recommend("s", stratum="old")
    for live, said in ((frozen, "probabilities at the last look"), (stratified, "permuted block of the stratum")):
        with live.store.reading() as view:
            lines = list(explain(view, number_of(view), live.id_of(0)))
            assert any(line.startswith("  decided by") and said in line for line in lines), lines
            assert "prescribes" in logged_allocation(view, number_of(view)).reason
    assert "  stratum    old" in lines


def test_a_stratum_is_needed_where_there_are_some_and_refused_where_there_are_none() -> None:
    live = Live(**IN_BLOCKS)
    for wrong, said in (
        (None, "expected one of young, old, and none was given"),
        ("middle", "got 'middle', expected"),
    ):
        with pytest.raises(InputError, match=f"stratum: {said}"):
            live.recommend("s", stratum=wrong)
    first = live.recommend("s", stratum="old", request_id="one")
    assert live.recommend("s", stratum="old", request_id="one") == first
    with pytest.raises(InputError, match="was used before for another request"):
        live.recommend("s", stratum="young", request_id="one")
    with pytest.raises(InputError, match="expected none: the trial's design has no strata"):
        Live().recommend("s", stratum="old")


def test_a_look_by_day_comes_before_anything_of_a_later_day() -> None:
    live = Live("thompson", n_patients=40, looks=Looks(days=(7.0, 14.0)), stopping=BY_POSTERIOR)
    play(live, 5, {"walk": 1, "aspirin": 2})
    live.clock.pass_days(7)
    play(live, 1, {"walk": 1, "aspirin": 2}, first=5)
    assert not looks_of(live)  # the day is not over
    live.clock.pass_days(1)
    play(live, 1, {"walk": 1, "aspirin": 2}, first=6)
    assert live.kinds()[-3:] == ["Looked", "Recommended", "Reported"]
    assert looks_of(live)[0].n_outcomes == 6
    live.clock.pass_days(7)
    live.send(Look(trial="t", request_id="", by="service"))
    assert live.kinds()[-1] == "Looked"
    live.send(Look(trial="t", request_id="", by="service"))
    assert len(looks_of(live)) == 2  # the end is still to come
    check_log(live)


def test_corrections_count_at_the_next_look_and_leave_the_last_one() -> None:
    live = Live("thompson", n_patients=40, looks=Looks(at=(4, 8)), stopping=Stopping(by="belief", superiority=0.999))
    play(live, 4, {"walk": 1, "aspirin": 1})
    (first,) = looks_of(live)
    live.correct(0, reward=0.0)
    live.correct(1, retract=("reward",))
    live.correct(1, reward=1.0)
    assert looks_of(live) == [first]
    play(live, 4, {"walk": 1, "aspirin": 1}, first=4)
    assert looks_of(live)[1].n_outcomes == 8
    looks = live.snapshot().looks
    assert looks is not None
    assert sum(looks.sums) == 7.0
    check_log(live)


def test_the_last_look_does_without_those_who_are_lost() -> None:
    live = Live("thompson", n_patients=6, looks=Looks(at=(3, 6)), stopping=BY_POSTERIOR)
    play(live, 4, {"walk": 1, "aspirin": 1})
    for subject in ("lost", "late"):
        live.recommend(subject)
    live.send(Withdraw(trial="t", request_id="", recommendation_id=live.id_of(4), reason="moved away"))
    assert len(looks_of(live)) == 1
    live.report(5, reward=1.0)
    assert [look.look for look in looks_of(live)] == [0, 1]
    assert looks_of(live)[1].n_outcomes == 5
    check_log(live)


def test_closing_a_full_trial_makes_its_last_look_and_closing_another_does_not() -> None:
    for n_patients, expected in ((4, [1]), (5, [])):
        live = Live("thompson", n_patients=n_patients, looks=Looks(at=(4,)))
        for number in range(4):
            live.recommend(f"s{number}")
        with pytest.raises(InputError):
            live.send(ChangeStatus(trial="t", request_id="", status="closed", reason=""))
        assert not looks_of(live)
        live.send(ChangeStatus(trial="t", request_id="", status="closed", reason="planned"))
        assert [look.look + 1 for look in looks_of(live)] == expected
        check_log(live)


def test_an_imputed_outcome_makes_a_look_due_by_the_wealth_of_bets_too() -> None:
    live = Live(
        "thompson", n_patients=8, looks=Looks(at=(4,)), stopping=Stopping(by="wealth", alpha=0.05),
        impute=Imputation(after_days=3, reward=0.0),
    )  # fmt: skip
    play(live, 3, {"walk": 1, "aspirin": 1})
    live.recommend("silent")
    live.clock.pass_days(4)
    live.impute_missing()
    assert live.kinds()[-2:] == ["Imputed", "Looked"]
    assert looks_of(live)[0].values[1][0] is not None
    check_log(live)


def test_a_trial_in_memory_is_saved_with_its_looks_and_its_end(tmp_path: Path) -> None:
    days = Looks(days=(2.0,))
    design = make_design("t", "thompson", ("walk", "aspirin"), n_patients=6, looks=days, control="aspirin")
    trial, start = Trial.from_design(design, seed=3), datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(6):
        made = trial.recommend(at=start + timedelta(days=number))
        if number < 5:
            trial.report(made.id, reward=1, at=start + timedelta(days=number))
    with pytest.raises(InputError, match="at: got '2026-03-09T00:00:00', expected a time with its zone"):
        trial.close("planned", at=datetime(2026, 3, 9))
    trial.close("planned", at=start + timedelta(days=9))
    assert [(look.look, look.outcomes, look.decision) for look in trial.looks] == [(1, 3, "go on"), (2, 5, "go on")]
    assert trial.recommended_stop is None
    with pytest.raises(InputError, match="trial 't' is closed"):
        trial.report(made.id, reward=1)
    trial.save(tmp_path / "t.log")
    again = Trial.load(tmp_path / "t.log")
    assert (again.looks, again.events[-1]) == (trial.looks, trial.events[-1])
    for records in (trial.records(), records_of(tmp_path / "t.log")):
        assert records.control == 1  # the design's


def test_a_changed_a_missing_and_an_invented_look_are_found() -> None:
    live = Live("thompson", n_patients=8, looks=Looks(at=(4,)), stopping=BY_POSTERIOR)
    play(live, 6, {"walk": 1, "aspirin": 2})
    events = live.events()
    at = next(place for place, event in enumerate(events) if isinstance(event, Looked))
    look = events[at]
    assert isinstance(look, Looked)
    assert replay_of(events).difference is None
    for changed, what in (
        ({"decision": SUPERIOR}, "decision 1 was logged, and 0 comes out"),
        ({"status": (INFERIOR, ACTIVE)}, "status"),
        ({"n_outcomes": 5}, "counts 5 outcomes"),
        ({"look": 1}, "was not due here"),
        ({"values": ((0.5,) * 4,) * 2}, "the values"),
    ):
        wrong = [*events[:at], msgspec.structs.replace(look, **changed), *events[at + 1 :]]
        for difference in (replay_of(wrong).difference, verdict_of(wrong).fault):
            assert difference is not None
            assert what in str(difference), str(difference)
    without = [
        msgspec.structs.replace(event, position=place)
        for place, event in enumerate([*events[:at], *events[at + 1 :]], 1)
    ]
    for difference in (
        replay_of(without).difference,
        verdict_of(without).fault,
        replay_of(without[:at]).difference,
        verdict_of(without[:at]).fault,
    ):
        assert "look 1" in str(difference)
    with live.store.reading() as view:
        (seen,) = logged_looks(view, number_of(view), live.design)
    assert (seen.look, seen.outcomes, seen.decision, [one.status for one in seen.arms]) == (
        1,
        4,
        "go on",
        ["active"] * 2,
    )


def test_a_policy_that_fails_is_replaced_by_the_arms_that_are_left() -> None:
    engine = engine_of(make_design("t", "thompson", THREE), seeded_keys(5))

    def fails() -> Choice:
        raise ZeroDivisionError("no outcomes")

    made = [engine.choose_or_fall_back(engine.first_state, number, choose=fails, left=[0, 2]) for number in range(20)]
    assert {one.chosen for one in made} == {0, 2}
    assert {one.probabilities for one in made} == {(0.5, 0.0, 0.5)}
    assert {one.fallback for one in made} == {"ZeroDivisionError: no outcomes"}


def test_a_trial_whose_policy_does_not_compile_any_more_can_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live("thompson", n_patients=1, looks=Looks(at=(1,)), stopping=Stopping(by="belief", superiority=0.999))
    live.recommend("s")

    def fails(engine: Engine) -> None:
        raise UnavailableError("the policy does not compile on this machine")

    monkeypatch.setattr(Engine, "ensure_loaded", fails)
    live.send(ChangeStatus(trial="t", request_id="", status="closed", reason="planned"))
    assert live.kinds() == ["Created", "Recommended", "Closed"]
