"""A update at which a policy fails is refused by an event that names its place, and skipped from then on."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from adhere import Trial
from adhere.design.parts import Imputation
from adhere.policies import import_policies
from adhere.trial.domain.events import AnyEvent, Corrected, Reported, UpdateRefused
from adhere.trial.domain.evolve import evolve
from adhere.trial.domain.state import initial_state
from adhere.trial.log.explain import explain
from adhere.trial.log.replay import ReplayResult, replay
from adhere.trial.log.verify import verify
from adhere.trial.monitoring.results import results_of
from adhere.trial.writing import running_state
from adhere.trial.writing.running_state import project, scratch_cache

from .live import Live, number_of, replay_of

import_policies(Path(__file__).with_name("budget.py"))
BUDGET = 3.0


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 7)


def played(rewards: list[float]) -> Live:
    live = Live("budget", reward_values=(0.0, 0.5, 1.0))
    for number, reward in enumerate(rewards):
        live.recommend(f"s{number}")
        live.report(number, reward=reward)
    return live


def spent(live: Live) -> tuple[float, float]:
    state: list[float] = np.frombuffer(live.snapshot().policy_state).tolist()
    return state[0], state[1]


def counted(live: Live) -> tuple[float, float]:
    """The state by hand: rewards in the order of their places, less those refused as they are now."""
    rewards: dict[int, float] = {}
    places: dict[int, int] = {}
    refused: set[tuple[int, float]] = set()
    for event in live.events():
        if isinstance(event, Reported | Corrected) and event.reward is not None:
            places.setdefault(event.recommendation_index, event.position)
            rewards[event.recommendation_index] = event.reward
        elif isinstance(event, UpdateRefused):
            refused.add((event.place, rewards[event.recommendation_index]))
    kept = [reward for number, reward in rewards.items() if (places[number], reward) not in refused]
    return sum(kept), 0.0


def check(live: Live) -> ReplayResult:
    """The service's state is that of the log, of the log counted by hand, and of replay."""
    assert spent(live) == counted(live)
    with live.store.reading() as view, scratch_cache() as cache:
        number = number_of(view)
        derived = project(view, cache, number, live.design, live.engine())
        assert live.snapshot().policy_state == derived.state.policy_state.tobytes()
        assert live.snapshot().n_updates == derived.table.n_updates == view.count_updates(number)
        assert derived.state.refusals == ()
        assert verify(view, number).fault is None
        found = replay(view, number)
    assert found.difference is None
    return found


def refused(live: Live) -> list[int]:
    return [event.recommendation_index for event in live.events() if isinstance(event, UpdateRefused)]


def test_a_refused_update_is_an_event_right_behind_its_report() -> None:
    live = played([1.0, 1.0, 1.0, 1.0, 0.0])
    assert live.kinds()[-5:] == ["Recommended", "Reported", "UpdateRefused", "Recommended", "Reported"]
    event = live.events()[-3]
    assert isinstance(event, UpdateRefused)
    assert (event.position, event.recommendation_index, event.place) == (10, 3, 9)
    assert event.reason == "ValueError: over budget, see <path>"
    assert spent(live) == (3.0, 0.0)
    assert check(live).n_refused == 1


def test_trial_in_memory_and_service_learn_the_same() -> None:
    rewards = [1.0, 0.5, 1.0, 1.0, 0.5, 0.5, 0.0]
    live = played(rewards)
    trial = Trial("budget", live.design.arms, seed=5, reward_values=(0.0, 0.5, 1.0))
    for reward in rewards:
        trial.report(trial.recommend().id, reward=reward)
    assert trial.state == spent(live) == (3.0, 0.0)
    state = initial_state(live.design, live.engine())
    for event in live.events():
        state = evolve(state, event)
    assert tuple(state.policy_state.tolist()) == spent(live)


def test_a_correction_may_refuse_later_updates_and_accepts_none_again() -> None:
    live = played([0.0] * 8 + [1.0, 1.0, 1.0] + [0.0] * 8)
    assert refused(live) == []
    live.correct(1, reward=1.0)
    assert refused(live) == [10]
    check(live)
    live.correct(1, reward=0.0)
    assert (refused(live), spent(live)) == ([10], (2.0, 0.0))  # once refused, it stays so
    check(live)
    live.correct(10, reward=0.5)  # another update, which gets a try of its own
    assert spent(live) == (2.5, 0.0)
    live.correct(10, reward=1.0)  # the refused one again
    assert (refused(live), spent(live)) == ([10], (2.0, 0.0))
    live.recommend("after")
    check(live)


def test_anything_in_any_order() -> None:
    live, rng = played([]), random.Random(2)
    for number in range(60):
        live.recommend(f"s{number}")
        live.report(number, reward=rng.choice([0.0, 0.0, 0.5]))
        if number % 4 == 3:
            live.correct(rng.randrange(number), reward=rng.choice([0.0, 0.5, 1.0]))
            live.processor = type(live.processor)(live.store, live.clock)  # as after a restart
        if number % 20 == 19:
            check(live)
    assert len(refused(live)) > 3


def test_imputed_updates_may_be_refused() -> None:
    live = Live("budget", reward_values=(0.0, 1.0), impute=Imputation(after_days=1, reward=1.0, took_nothing=True))
    for number in range(6):
        live.recommend(f"s{number}")
    live.clock.pass_days(2)
    live.impute_missing()
    assert live.kinds()[-9:] == ["Imputed"] * 4 + [
        "UpdateRefused",
        "Imputed",
        "UpdateRefused",
        "Imputed",
        "UpdateRefused",
    ]
    assert spent(live) == (3.0, 0.0)
    with live.store.reading() as view:
        assert replay(view, number_of(view)).difference is None


def rewritten(live: Live, change: Callable[[list[AnyEvent]], list[AnyEvent]]) -> ReplayResult:
    """The replay of a log that somebody wrote anew, with a good chain."""
    events = []
    for position, event in enumerate(change(live.events()), 1):
        renumbered = msgspec.structs.replace(event, position=position)
        if hasattr(event, "learned_up_to"):
            renumbered = msgspec.structs.replace(renumbered, learned_up_to=position - 1)
        events.append(renumbered)
    return replay_of(events)


@pytest.mark.parametrize("corrected", [False, True])
def test_replay_misses_a_refusal(corrected: bool) -> None:
    live = played([0.0 if corrected else 1.0, 1.0, 1.0, 1.0])
    if corrected:
        live.correct(0, reward=1.0)
    live.recommend("after")
    found = rewritten(live, lambda events: [event for event in events if not isinstance(event, UpdateRefused)])
    assert found.difference is not None
    assert "refuses the update of record 9" in found.difference.what


def test_replay_finds_a_refusal_that_does_not_come_out() -> None:
    live = played([1.0, 1.0, 0.0])

    def change(events: list[AnyEvent]) -> list[AnyEvent]:
        wrong = UpdateRefused(
            position=1,
            at=events[-1].at,
            recommendation_index=1,
            place=5,
            algorithm_version=live.engine().algorithm_version,
            reason="made up",
        )
        return [*events, wrong]

    found = rewritten(live, change)
    assert found.difference is not None
    assert (found.difference.position, "does not refuse the update" in found.difference.what) == (8, True)


def test_explain_and_results_say_so() -> None:
    live = played([1.0, 1.0, 1.0, 1.0])
    with live.store.reading() as view:
        number = number_of(view)
        said = "\n".join(explain(view, number, live.id_of(3)))
        results = results_of(view, number, live.design, live.engine())
    assert "the policy refused the update of record 9" in said
    assert results.refused_updates == 1
