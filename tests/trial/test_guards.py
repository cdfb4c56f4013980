"""Guards in a live trial: what is logged, explained, learned late, corrected and derived again."""

from __future__ import annotations

import msgspec
import pytest

from adhere.analysis.adaptive.randomisation_test import randomisation_tests
from adhere.trial.domain.events import Created, Recommended
from adhere.trial.domain.evolve import updates_of
from adhere.trial.domain.history import evolve_history
from adhere.trial.log.explain import _decided_by, explain
from adhere.trial.log.replay import replay
from adhere.trial.log.replay_schedule import logged_allocation
from adhere.trial.policy.updates import CHOICE
from oracle.permuted import PermutedBlocks

from .live import Live, number_of

POLICY = "burn-in(floor(exp3(gamma=0.1), share=0.2), patients=9)"


def played() -> Live:
    live = Live(POLICY)
    for n in range(24):
        live.recommend(f"s{n}")
        if n % 3:  # the others' reports are late, and come in two parts
            live.report(n, actual="walk", reward=float(n % 2))
    for n in range(0, 24, 3):
        live.report(n, reward=1.0)
        live.report(n, actual="aspirin")
    return live


def test_a_guarded_trial_is_derived_again_after_late_reports_and_corrections() -> None:
    live = played()
    live.correct(1, actual="aspirin", reward=1.0)  # of the burn-in
    live.correct(20, actual="walk", reward=1.0)
    live.recommend("after")
    made = [event for event in live.events() if isinstance(event, Recommended)]
    assert live.design.policy == "burn-in(floor(exp3(gamma=0.1), share=0.2), patients=9)"
    assert made[0].algorithm_version.startswith("burn-in:2 exp3:1 floor:1 ")
    assert not any(event.estimated for event in made)
    seen = PermutedBlocks(2, (4, 6, 8))
    for event in made[:9]:
        assert event.probabilities == pytest.approx([float(share) for share in seen.shares()])
        seen.add(event.chosen)
    assert all(min(event.probabilities) >= 0.2 for event in made[9:])
    with live.store.reading() as view:
        assert replay(view, number_of(view)).difference is None


@pytest.mark.slow
def test_blocks_go_on_where_they_were_when_a_correction_makes_the_policy_learn_again() -> None:
    live, seen = Live("burn-in(floor(thompson, share=0.2), patients=24)", seed=5), PermutedBlocks(2, (4, 6, 8))
    for n in range(24):
        live.recommend(f"s{n}")
        live.report(n, actual="walk", reward=float(n % 2))
        if n % 5 == 4:
            live.correct(n // 2, reward=1.0 - float(n // 2 % 2))
    for event in live.events():
        if isinstance(event, Recommended):
            assert event.probabilities == pytest.approx([float(share) for share in seen.shares()])
            seen.add(event.chosen)
    assert len(seen.arms) == 24  # no arm began a new block
    with live.store.reading() as view:
        assert replay(view, number_of(view)).difference is None
        logged = logged_allocation(view, number_of(view))
    (test,) = randomisation_tests(logged, n_redraws=50)  # which draws the logged arms again first
    assert test.exact, test.reason


def test_an_arm_drawn_because_the_policy_failed_takes_no_place_in_a_block() -> None:
    live = Live("burn-in(thompson, patients=4)")
    live.recommend("s")
    (made,) = (event for event in live.events() if isinstance(event, Recommended))
    engine, history = live.engine(), evolve_history(None, made)
    assert [row[3] for row in updates_of(engine, history)] == [CHOICE]
    assert updates_of(engine, msgspec.structs.replace(history, memo=(), fallback="it failed")) == ()
    assert updates_of(engine, msgspec.structs.replace(history, recommendation_index=4)) == ()  # after the burn-in


def test_an_explanation_says_who_decided() -> None:
    live, said = played(), set[str]()
    with live.store.reading() as view:
        for n in range(24):
            (line,) = (line for line in explain(view, number_of(view), live.id_of(n)) if "decided by" in line)
            said.add(line.strip())
            assert ("decided by burn-in" in line) == (n < 9)
    assert said == {"decided by burn-in", "decided by floor", "decided by exp3(gamma=0.1)"}


def test_of_one_learner_or_a_policy_that_is_not_here_nothing_is_said() -> None:
    live = Live("thompson/actual")
    live.recommend("s")
    with live.store.reading() as view:
        assert "decided by" not in "\n".join(explain(view, number_of(view), live.id_of(0)))
    created, made, *_ = live.events()
    assert isinstance(created, Created)
    assert isinstance(made, Recommended)
    design = msgspec.structs.replace(live.design, policy="floor(somebodys-own)")
    assert _decided_by(msgspec.structs.replace(created, design=design), made) == ""
