"""What is kept of a trial for lists: the same as counting all its recommendations, whatever happened to them."""

from __future__ import annotations

import msgspec
import pytest

from adhere.design.parts import Imputation
from adhere.store import ReadTransaction
from adhere.trial.domain.commands import MarkInError, Withdraw
from adhere.trial.domain.history import Counts
from adhere.trial.log.replay import replay
from adhere.trial.monitoring.results import results_of
from adhere.trial.writing.snapshot import summary_of

from .live import ARMS, Live, snapshot_in


@pytest.fixture
def live() -> Live:
    """A trial with a bit of everything."""
    live = Live("thompson", impute=Imputation(after_days=14, actual="walk"))
    arms = [live.recommend(f"s{n}").arm for n in range(10)]
    live.report(0, actual=arms[0], reward=1.0)
    live.report(1, actual=_other(arms[1]), reward=1.0)
    live.report(2, took_nothing=True)
    live.report(3, reward=0.0)
    live.report(4, actual=arms[4], reward=0.0)
    live.correct(4, actual=_other(arms[4]))
    live.report(5, actual=arms[5], reward=0.0)
    live.correct(5, retract=("actual",))
    live.send(Withdraw(trial="t", request_id="w", recommendation_id=live.id_of(6), reason="moved away"))
    live.send(MarkInError(trial="t", request_id="e", recommendation_id=live.id_of(7), reason="entered twice"))
    return live


def _other(arm: str | None) -> str:
    return ARMS[1 - ARMS.index(arm or "")]


def counted(view: ReadTransaction, live: Live) -> Counts:
    """By another way: all recommendations gone through."""
    results = results_of(view, 1, live.design, live.engine())
    taken = [sum(one.took.values()) + one.took_nothing + one.took_other for one in results.compliance]
    return Counts(
        results.waiting,
        sum(taken),
        sum(one.took[one.chosen] for one in results.compliance),
        results.entered_in_error,
    )


def test_counts_are_those_of_all_recommendations(live: Live) -> None:
    with live.store.reading() as view:
        assert summary_of(view, 1).counts == counted(view, live) == Counts(pending=5, known=4, followed=1, in_error=1)
    live.clock.pass_days(15)
    live.impute_missing()
    live.report(8, actual="aspirin", reward=1.0)
    with live.store.reading() as view:
        assert summary_of(view, 1).counts == counted(view, live)
        assert summary_of(view, 1).counts.known == 7  # 3, 8 and 9 more; what was retracted is not imputed
        assert replay(view, 1).difference is None


def test_replay_sees_counts_that_are_wrong(live: Live) -> None:
    with live.store.writing() as writing:
        head = writing.head(1)
        wrong = msgspec.structs.replace(snapshot_in(writing), counts=Counts(99))
        writing.append(1, [], head._replace(snapshot=msgspec.msgpack.encode(wrong)))
    with live.store.reading() as view:
        found = replay(view, 1).difference
    assert found is not None
    assert "the counts of reports stored beside the log differ from it" in str(found)


def test_where_no_snapshot_is_kept_it_is_counted_and_then_made_anew(live: Live) -> None:
    """As after an import or a restore."""
    assert live.snapshot().counts == Counts(5, 4, 1, 1)
    with live.store.writing() as writing:
        writing.append(1, [], writing.head(1)._replace(snapshot=b""))
    with live.store.reading() as view:
        assert summary_of(view, 1).counts == Counts(5, 4, 1, 1)
    live.report(8, actual="walk")
    assert live.snapshot().counts == Counts(5, 5, 2, 1)
    with live.store.reading() as view:
        assert replay(view, 1).difference is None
