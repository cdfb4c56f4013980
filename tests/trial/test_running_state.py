"""The caches beside a log: a correction learned from them gives the state that the whole log gives."""

from __future__ import annotations

import random
from typing import Any

import pytest

from adhere.store import Store
from adhere.trial.domain.events import AnyEvent, Reported
from adhere.trial.domain.evolve import updates_of
from adhere.trial.domain.history import history_of
from adhere.trial.log.replay import replay
from adhere.trial.policy.updates import Row, arrays, join, pack
from adhere.trial.writing import running_state
from adhere.trial.writing.cached_updates import learn
from adhere.trial.writing.running_state import project, scratch_cache

from .live import ARMS, Live, number_of

POLICIES = ("thompson/actual", "exp3/comply", "thompson-bounded(hierarchical(epsilon-greedy), recycle=true)")


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 7)


def played(policy: str, n: int = 40, store: Store | None = None) -> Live:
    live, rng = Live(policy, store, n_patients=100), random.Random(3)
    for number in range(n):
        live.recommend(f"s{number}")
        live.report(number, reward=float(rng.random() < 0.5))
        if number >= 3:
            live.report(number - 3, actual=rng.choice(ARMS))
    return live


def check_against_the_log(live: Live) -> None:
    """The state and the table of updates are those that come out of the log alone."""
    with live.store.reading() as view, scratch_cache() as cache:
        number = number_of(view)
        derived = project(view, cache, number, live.design, live.engine())
        assert live.snapshot().policy_state == derived.state.policy_state.tobytes()
        assert live.snapshot().n_updates == derived.table.n_updates == view.count_updates(number)
        assert replay(view, number).difference is None


@pytest.mark.parametrize("policy", POLICIES)
def test_corrections_anywhere_give_the_state_of_the_whole_log(policy: str) -> None:
    live, rng = played(policy), random.Random(5)
    for _ in range(12):
        number = rng.randrange(36)
        change = rng.choice(["reward", "actual", "nothing", "retract", "again"])
        if change == "reward":
            live.correct(number, reward=float(rng.random() < 0.5))
        elif change == "actual":
            live.correct(number, actual=rng.choice(ARMS))
        elif change == "nothing":
            live.correct(number, took_nothing=True)
        elif change == "retract":
            live.correct(number, retract=("actual",))
        if change in ("retract", "again"):
            live.correct(number, actual=rng.choice(ARMS))
        check_against_the_log(live)
        live.recommend(f"after {_}")


def test_a_correction_of_the_last_record_before_a_checkpoint_is_learned() -> None:
    """That checkpoint contains the wrong update: the one before it must be taken.

    Compared with all updates learned in a row, without checkpoints: deriving the caches relearns by them, too.
    """
    live = played("thompson")  # which learns from a reward at once
    reports = [event for event in live.events() if isinstance(event, Reported) and event.reward is not None]
    last = next(event for event in reports if event.position % running_state.CHECKPOINT_EVERY == 0)
    assert last.reward is not None
    live.correct(last.recommendation_index, reward=1.0 - last.reward)
    engine, histories = live.engine(), dict[int, list[AnyEvent]]()
    for event in live.events()[1:]:
        histories.setdefault(event.recommendation_index, []).append(event)  # type: ignore[union-attr]
    rows = [row for events in histories.values() for row in updates_of(engine, history_of(events))]
    learned = learn(engine, engine.first_state, join({row[0]: pack(row) for row in rows}), [])
    assert live.snapshot().policy_state == learned.tobytes()


@pytest.mark.parametrize("lost", ["all", "one block", "checkpoints"])
def test_caches_that_were_deleted_are_rebuilt(lost: str) -> None:
    live = played(POLICIES[0])
    with live.store.writing() as writing:
        number = number_of(writing)
        if lost == "checkpoints":
            writing.drop_states(number, 0)
        else:
            writing.drop_updates(number, 0, 2**40 if lost == "all" else 9)
    live.correct(1, reward=0.5)
    live.correct(2, reward=0.25)
    check_against_the_log(live)


def test_updates_since_the_last_checkpoint_are_derived_where_they_were_not_passed_on() -> None:
    """As after a restart, or where another process has written in between."""
    live = played(POLICIES[0])
    for number in (1, 38, 39):
        live.processor = type(live.processor)(live.store, live.clock)
        live.correct(number, reward=0.5)
        live.recommend(f"after {number}")
        check_against_the_log(live)


def test_a_update_at_which_a_policy_fails_is_left_out_of_a_stretch() -> None:
    """As if it had never been: the others are learned, before it and after it."""
    engine = Live("thompson").engine()
    rows: list[Row] = [(place, place, place % 2, place % 2, 1.0, ()) for place in range(6)]
    good = engine.learn(engine.first_state, arrays(b"".join(pack(row) for row in rows if row[0] != 3), 0)).state
    run, calls = engine._run, []

    def failing(kernel: Any, state: Any, memo: Any, rng: Any, facts: Any, values: Any, done: Any) -> None:
        ids = facts[:, 0].tolist()
        calls.append(len(ids))
        if 3 in ids:
            at = ids.index(3)
            run(kernel, state, memo, rng, facts[:at], values[:at], done)
            raise ValueError("not this one")
        run(kernel, state, memo, rng, facts, values, done)

    engine._run = failing  # type: ignore[method-assign]
    learned = engine.learn(engine.first_state, arrays(b"".join(map(pack, rows)), 0))
    assert learned.state.tobytes() == good.tobytes()
    assert learned.refused == [(3, "ValueError: not this one")]
    assert calls == [6, 3, 2]


def test_one_update_packed_or_not_is_the_same() -> None:
    engine = Live("exp3/comply", n_patients=10).engine()
    choice = engine.choose(engine.first_state, 3, engine.keys.commitment)
    row = (7, 3, choice.chosen, choice.chosen, 0.5, choice.memo)
    packed = engine.learn(engine.first_state, arrays(pack(row), len(choice.memo))).state
    assert (
        engine.learn_one(engine.first_state, row).state.tobytes() == packed.tobytes() != engine.first_state.tobytes()
    )


def test_a_policy_may_fail_at_every_update_of_a_stretch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as there are updates: a block has more of them than Python nests calls."""
    engine = Live("thompson").engine()
    rows: list[Row] = [(place, place, 0, 0, 1.0, ()) for place in range(1200)]

    def failing(kernel: Any, state: Any, memo: Any, rng: Any, facts: Any, values: Any, done: Any) -> None:
        if len(facts):
            state[:] = -1.0
            raise ValueError("none of them")

    monkeypatch.setattr(engine, "_run", failing)
    after = engine.learn(engine.first_state, arrays(b"".join(map(pack, rows)), 0))
    assert after.state.tobytes() == engine.first_state.tobytes()
    assert [index for index, _ in after.refused] == list(range(1200))
