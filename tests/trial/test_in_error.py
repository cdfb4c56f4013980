"""A slip that is marked as entered in error: it takes no more reports, teaches nothing and counts in no analysis."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from adhere.analysis.flow import flow
from adhere.analysis.reading.from_table import read_records
from adhere.design.parts import Imputation, Looks
from adhere.errors import ConflictError, UnknownError
from adhere.populations.records import read_records as read_patients
from adhere.trial.domain.commands import MarkInError, Withdraw
from adhere.trial.domain.events import Looked
from adhere.trial.domain.log_records import read_histories
from adhere.trial.domain.look_state import look_plan
from adhere.trial.domain.looker import decisions_of
from adhere.trial.log.explain import explain
from adhere.trial.log.records import trial_records
from adhere.trial.log.replay import replay
from adhere.trial.log.replay_schedule import logged_allocation
from adhere.trial.log.table import write_table
from adhere.trial.log.verify import verify
from adhere.trial.monitoring.results import results_of
from adhere.trial.policy.engine import Engine
from same_records import assert_same_records

from .live import Live

RULE = Imputation(after_days=14, took_nothing=True, reward=0.0)
_ids = count()


def mark(live: Live, recommendation: int, **said: Any) -> None:
    said = {"reason": "wrong code", "site": "Leeds", "request_id": f"error-{next(_ids)}", **said}
    live.send(MarkInError(trial="t", recommendation_id=live.id_of(recommendation), **said))


def lose(live: Live, recommendation: int) -> None:
    lost = {"recommendation_id": live.id_of(recommendation), "reason": "moved away"}
    live.send(Withdraw(trial="t", request_id=f"lost-{next(_ids)}", **lost))


def check_log(live: Live) -> None:
    with live.store.reading() as view:
        assert verify(view, 1).fault is None
        assert replay(view, 1).difference is None


@pytest.fixture(scope="module")
def live() -> Live:
    """Ten recommendations: 2 and 5 were slips, 3 is lost to follow-up, 4 waits, the others are reported."""
    live = Live("thompson")
    for number in range(10):
        live.recommend(f"s{number}")
        if number in (0, 1, 6, 7, 8, 9):
            live.report(number, actual="walk", reward=float(number % 2))
    lose(live, 3)
    mark(live, 2)
    lose(live, 5)
    mark(live, 5, reason="entered twice")
    return live


def test_nothing_more_is_said_of_it_and_the_subject_is_entered_anew() -> None:
    live = Live("thompson")
    made = live.recommend("s").recommendation_id
    mark(live, 0)
    for say in (
        lambda: live.report(0, reward=1.0),
        lambda: live.correct(0, actual="walk"),
        lambda: live.correct(0, retract=("reward",)),
        lambda: lose(live, 0),
    ):
        with pytest.raises(ConflictError, match=f"recommendation {made} was entered in error; nothing more can be"):
            say()
    mark(live, 0)
    assert live.kinds()[-2:] == ["EnteredInError", "Repeated"]
    assert live.index_of(live.recommend("s")) == 1
    assert live.index_of(live.recommend("s")) == 1  # which is open
    check_log(live)


def test_only_its_own_site_and_its_own_subject() -> None:
    live = Live("thompson")
    live.recommend("s")
    with pytest.raises(UnknownError):
        mark(live, 0, site="York")
    with pytest.raises(ConflictError, match="is not for subject 'other'"):
        mark(live, 0, subject="other")
    mark(live, 0, subject="s")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"actual": "walk"}, "actual of recommendation {} was reported"),
        ({"reward": 1.0}, "reward of recommendation {} was reported"),
        ({"took_nothing": True, "reward": 0.0}, "actual and reward of recommendation {} were reported"),
    ],
)
def test_what_was_reported_is_retracted_first_and_forgotten(said: dict[str, Any], why: str) -> None:
    live, without = Live("thompson", impute=RULE), Live("thompson")
    for trial in (live, without):
        trial.recommend("first")
        trial.report(0, actual="walk", reward=1.0)
        trial.recommend("a slip")
    live.report(1, **said)
    with pytest.raises(ConflictError, match=f"{why.format(live.id_of(1))}.* retract what was reported first"):
        mark(live, 1)
    live.correct(1, retract=("actual",) * ("reward" not in said or len(said) > 1) + ("reward",) * ("reward" in said))
    mark(live, 1)
    assert live.snapshot().policy_state == without.snapshot().policy_state
    live.clock.pass_days(15)
    live.impute_missing()
    assert "Imputed" not in live.kinds()
    check_log(live)


def test_what_the_rule_assumed_of_it_is_unlearned() -> None:
    live, without = Live("thompson", impute=RULE), Live("thompson")
    for trial in (live, without):
        trial.recommend("a slip")
        trial.clock.pass_days(15)
        trial.impute_missing()
    assert live.snapshot().policy_state != without.snapshot().policy_state
    mark(live, 0)
    assert live.snapshot().policy_state == without.snapshot().policy_state
    assert live.index_of(live.recommend("a slip")) == 1
    check_log(live)
    with live.store.reading() as view:
        logged = logged_allocation(view, 1)
    assert (logged.reason, logged.outcome.tolist()) == ("", pytest.approx([float("nan")] * 2, nan_ok=True))


def test_it_keeps_its_place_among_the_patients_and_the_last_look_does_not_wait_for_it() -> None:
    live = Live("thompson", n_patients=3, looks=Looks(at=(3,)))
    for subject in ("a", "a slip", "b"):
        live.recommend(subject)
    live.report(0, reward=1.0)
    live.report(2, reward=1.0)
    assert not any(isinstance(event, Looked) for event in live.events())
    mark(live, 1)
    (look,) = [event for event in live.events() if isinstance(event, Looked)]
    assert (look.n_outcomes, look.n_recommendations) == (2, 3)
    with pytest.raises(ConflictError, match="has all of its 3 patients"):
        live.recommend("c")
    check_log(live)


def test_it_is_counted_apart_and_in_no_analysis_set(live: Live, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with live.store.reading() as view:
        records = trial_records(view, 1, live.design)
        write_table(view, 1, live.design, path, "csv")
        engine: Engine = live.engine()
        results = results_of(view, 1, live.design, engine)
        decisions = decisions_of(look_plan(live.design), read_histories(view, 1))
    found = flow(records)
    assert dict(found.left_out) == {"entered in error": 2}
    assert (found.total.assigned, found.total.lost, found.total.not_reported) == (8, 1, 1)
    assert found.notes[0] == "Left out: 2 rows entered in error."
    assert_same_records(read_records(path), records)
    assert (results.recommendations, results.complete, results.waiting) == (10, 6, 1)
    assert (results.lost_to_follow_up, results.entered_in_error) == (1, 2)
    assert sum(one.unknown for one in results.compliance) == 2
    assert len(decisions.chosen) == 8
    patients = read_patients(path)
    assert (patients.total(), patients.lost, patients.left_out()["entered in error"]) == (10, 1, 2)


def test_it_is_explained(live: Live) -> None:
    with live.store.reading() as view:
        assert list(explain(view, 1, live.id_of(5)))[-1].endswith("entered in error (entered twice)")
