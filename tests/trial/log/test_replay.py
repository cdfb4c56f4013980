"""Replay derives each recommendation from the log as it stood, and names the first that comes out different."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from adhere.policies import Thompson, import_policies
from adhere.trial.domain.commands import Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import AnyEvent, Recommended, Reported
from adhere.trial.log.replay import ReplayResult, replay
from adhere.trial.writing import running_state

from ..live import ARMS, Live, number_of, replay_of


def played(policy: str = "thompson/actual", **design: Any) -> Live:
    live = Live(policy, **design)
    for n in range(12):
        made = live.recommend(f"s{n}").recommendation_id
        live.report(made, actual="walk" if n % 2 else "aspirin", reward=float(n % 3 == 0))
    return live


def replayed(live: Live) -> ReplayResult:
    with live.store.reading() as view:
        return replay(view, number_of(view))


def rewritten(live: Live, change: Any) -> ReplayResult:
    """The replay of a log that somebody wrote anew, with a good chain, after changing events."""
    return replay_of([change(event) for event in live.events()])


def test_every_recommendation_is_derived_again() -> None:
    found = replayed(played())
    assert found.difference is None
    assert (found.n_records, found.n_derived) == (25, 12)


def test_after_a_correction_each_is_derived_from_the_log_as_it_stood() -> None:
    live = played()
    live.correct(2, actual="walk", reward=0.0)
    live.recommend("after")
    assert replayed(live).difference is None


@pytest.mark.parametrize(
    "field", ["chosen", "probabilities", "memo", "learned_up_to", "epoch", "recommendation_index"]
)
def test_a_recommendation_that_differs_is_named(field: str) -> None:
    def change(event: AnyEvent) -> AnyEvent:
        if not isinstance(event, Recommended) or event.recommendation_index != 7:
            return event
        other = {"chosen": 1 - event.chosen, "probabilities": (0.4, 0.6), "memo": (0.5,)}
        other |= {"learned_up_to": 1, "epoch": "another", "recommendation_index": 8}
        return msgspec.structs.replace(event, **{field: other[field]})

    difference = rewritten(live := played(), change).difference
    assert difference is not None
    assert difference.position == 16
    assert f"recommendation {live.id_of(7)}" in difference.what


def test_without_the_secret_probabilities_are_derived_and_arms_are_not() -> None:
    live = played()
    found = replay_of(live.events(), secret=None)
    assert (found.difference, found.n_derived, found.n_by_log) == (None, 0, 12)

    def change(**fields: Any) -> ReplayResult:
        return replay_of(
            [
                msgspec.structs.replace(event, **fields)
                if isinstance(event, Recommended) and event.recommendation_index == 7
                else event
                for event in live.events()
            ],
            secret=None,
        )

    (made,) = (event for event in live.events() if getattr(event, "position", 0) == 16)
    assert isinstance(made, Recommended)
    assert change(chosen=1 - made.chosen).difference is None  # either arm may have been drawn
    difference = change(probabilities=(0.4, 0.6)).difference
    assert difference is not None
    assert (difference.position, "the probabilities" in difference.what) == (16, True)


def test_without_the_secret_an_arm_that_could_not_be_drawn_is_found() -> None:
    """The last place of a block of 4."""
    live = Live("burn-in(uniform, patients=8, block=4)")
    for n in range(8):
        live.recommend(f"s{n}")
    events = live.events()
    assert replay_of(events, secret=None).difference is None
    last = next(event for event in events if isinstance(event, Recommended) and 1.0 in event.probabilities)
    wrong = [msgspec.structs.replace(one, chosen=1 - last.chosen) if one is last else one for one in events]
    difference = replay_of(wrong, secret=None).difference
    assert difference is not None
    assert (difference.position, "but its probability was 0" in difference.what) == (last.position, True)


def test_a_report_that_was_changed_shows_in_the_next_recommendation() -> None:
    def change(event: AnyEvent) -> AnyEvent:
        if isinstance(event, Reported) and event.recommendation_index == 3:
            assert event.reward is not None
            return msgspec.structs.replace(event, reward=1.0 - event.reward)
        return event

    difference = rewritten(live := played(), change).difference
    assert difference is not None
    assert f"recommendation {live.id_of(4)}" in difference.what


def test_by_another_version_probabilities_are_checked_and_arms_not(monkeypatch: pytest.MonkeyPatch) -> None:
    live = played()
    monkeypatch.setattr(Thompson, "algorithm_version", 3)
    found = replayed(live)
    assert found.difference is None
    assert (found.n_derived, found.n_by_probabilities) == (0, 12)
    assert found.other_versions == {"thompson:2 randomness:1"}
    live.processor = type(live.processor)(live.store, live.clock)  # a service with the new version starts
    live.recommend("by the new version")
    assert (replayed(live).n_derived, replayed(live).difference) == (1, None)

    def change(event: AnyEvent) -> AnyEvent:
        wrong = isinstance(event, Recommended) and event.recommendation_index == 5
        return msgspec.structs.replace(event, probabilities=(0.1, 0.9)) if wrong else event

    difference = rewritten(live, change).difference
    assert difference is not None
    assert f"recommendation {live.id_of(5)}" in difference.what


def test_the_state_beside_the_log_is_only_a_cache() -> None:
    """A state that was damaged is named by replay; a missing one is worked out from the log."""
    live = played()
    before = live.snapshot()
    with live.store.writing() as writing:
        head = writing.head(1)
        writing.append(1, [], head._replace(snapshot=b""))
    assert replayed(live).difference is None
    live.impute_missing()
    assert live.snapshot() == before
    wrong = msgspec.structs.replace(before, policy_state=bytes(len(before.policy_state)))
    with live.store.writing() as writing:
        writing.append(1, [], writing.head(1)._replace(snapshot=msgspec.msgpack.encode(wrong)))
    difference = replayed(live).difference
    assert difference is not None
    assert "the state" in difference.what


FAILING = '''
from adhere.policies import Learner, Number, State, choose, implements, learn, policy

class FragileState(State):
    updates = Number()

@policy("fragile", state=FragileState)
class Fragile(Learner):
    """Breaks at its third update, and whenever it has seen two."""

@implements(choose, Fragile)
def choose_fragile(rule, state, memo, weight, rng):
    if state.updates == 2.0:
        raise ValueError("two is too much")
    return 1

@implements(learn, Fragile)
def learn_fragile(rule, state, memo, arm, reward, weight, rng):
    if state.updates == 3.0:
        raise ValueError("an update too many")
    state.updates += 1.0
'''


def test_a_policy_that_fails_falls_back_to_equal_chances(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "fragile.py"
    file.write_text(FAILING)
    import_policies(file)
    live = Live("fragile")
    for n in range(5):
        live.recommend(f"s{n}")
        live.report(n, reward=1.0)
        live.clock.pass_days(1)
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert [event.fallback != "" for event in made] == [False, False, True, True, True]
    assert "two is too much" in made[2].fallback
    assert made[2].probabilities == (0.5, 0.5)
    found = replayed(live)
    assert (found.n_derived, found.n_fallbacks, found.difference) == (2, 3, None)
    assert any(record.levelno >= logging.WARNING for record in caplog.records)


def test_fallback_draws_are_uniform_and_checked() -> None:
    engine = Live().engine()
    epoch = engine.keys.commitment
    drawn = [engine.fall_back(n, "why", epoch).chosen for n in range(4000)]
    assert abs(sum(drawn) / 4000 - 0.5) < 4 * 0.5 / 4000**0.5

    def change(event: AnyEvent) -> AnyEvent:
        if not isinstance(event, Recommended) or event.recommendation_index != 1:
            return event
        arm = 1 - engine.fall_back(1, "why", epoch).chosen
        return msgspec.structs.replace(event, fallback="made up", chosen=arm, probabilities=(0.5, 0.5))

    assert rewritten(played(), change).difference is not None


def test_the_arms_match_the_logged_probabilities() -> None:
    """Over 4,000 recommendations, made in batches while reports come in, each arm is as frequent as was logged."""
    live = Live("thompson-bounded(hierarchical(epsilon-greedy), recycle=true)", n_patients=4_000)
    n, batch = 4_000, 250
    rng = np.random.default_rng(8)
    for first in range(0, n, batch):
        asked = [Recommend(trial="t", request_id=f"q{k}", subject=f"s{k}") for k in range(first, first + batch)]
        made = [answer for answer in live.processor.execute(asked) if isinstance(answer, RecommendationResponse)]
        told = [
            {"actual": str(rng.choice(ARMS)), "reward": float(rng.random() < 0.5)}  # nothing to be sure of
            for _ in made
        ]
        live.processor.execute(
            [
                Report(trial="t", request_id=f"r{n.recommendation_id}", recommendation_id=n.recommendation_id, **said)  # type: ignore[arg-type]
                for n, said in zip(made, told, strict=True)
            ]
        )
    recommended = [event for event in live.events() if isinstance(event, Recommended)]
    assert len(recommended) == n
    chances = np.array([event.probabilities for event in recommended])
    chosen = np.array([event.chosen for event in recommended])
    # By how likely the second arm was said to be, it was drawn as often as that.
    for these in np.array_split(np.argsort(chances[:, 1], kind="stable"), 5):
        expected, variance = chances[these, 1].sum(), (chances[these, 1] * chances[these, 0]).sum()
        assert abs(chosen[these].sum() - expected) < 4 * variance**0.5, chances[these, 1].mean()
    assert chances[:, 1].std() > 0.02  # they did differ


def test_copies_of_the_state_are_compared_with_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 5)
    live = played()
    live.correct(3, actual="walk", reward=0.0)
    assert replayed(live).difference is None
    with live.store.writing() as writing:
        kept = writing.state_before(1, 12)
        assert kept is not None
        writing.drop_states(1, 10)
        writing.save_states(1, [(10, bytes(len(kept[1])))])
    difference = replayed(live).difference
    assert difference is not None
    assert (difference.position, "checkpoint" in difference.what) == (10, True)


def test_the_table_of_updates_is_compared_with_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_state, "CHECKPOINT_EVERY", 5)
    live = played()
    live.correct(3, actual="walk", reward=0.0)
    assert replayed(live).difference is None
    with live.store.writing() as writing:
        (block,) = writing.updates(1, 10, 15)
        writing.save_updates(1, block._replace(data=bytes(len(block.data))))
    difference = replayed(live).difference
    assert difference is not None
    assert (difference.position, "table of updates" in difference.what) == (15, True)
