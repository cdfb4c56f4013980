"""What the replay test redraws from: whatever happened in a trial, its policy derives the same log again from it."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from adhere.analysis.adaptive.policy_play_kernel import FALL_BACK, FORGET
from adhere.analysis.adaptive.randomisation_test import LoggedAllocation, randomisation_tests
from adhere.design.parts import Imputation
from adhere.trial.domain.events import AnyEvent, Created, EpochBegun, Recommended
from adhere.trial.log.replay_schedule import allocation_of, logged_allocation
from adhere.trial.policy.engine import Choice, Engine, engine_of

from ..live import ARMS, Live, number_of

N, LATE = 60, 5


def eventful(policy: str = "thompson") -> Live:
    """A rehearsal whose reports come late, in parts or never, are imputed and replaced, corrected and retracted.

    It has a seed, so that the test first draws the logged arms again.
    """
    live = Live(policy, impute=Imputation(after_days=1, reward=0.0), seed=5)
    reward = np.random.default_rng(4).integers(0, 2, N).astype(float)
    for t in range(N):
        live.recommend(f"s{t}")
        live.clock.pass_days(0.1)
        live.impute_missing()  # of those who have said nothing for ten patients
        about = t - LATE
        if about < 0:
            continue
        if about % 4 != 3:
            live.report(about, reward=reward[about])
        if about % 3 == 0:
            live.report(about, actual=ARMS[about % 2])
        if about % 8 == 7:
            live.report(about - 4, reward=1.0)  # which was imputed, and used
        if about % 8 == 6:
            live.correct(about - 4, reward=1.0 - reward[about - 4])
        if about == 30:
            live.correct(0, retract=("reward",))
    return live


def test_reports_count_as_the_policy_knew_them_at_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Engine.choose

    def choose(engine: Engine, state: Any, index: int, epoch: str = "") -> Choice:
        if index in (20, 40):
            raise ValueError("an odd number was expected")
        return own(engine, state, index, epoch)

    monkeypatch.setattr(Engine, "choose", choose)
    live = eventful()
    with live.store.reading() as view:
        logged = logged_allocation(view, number_of(view))
    kinds = logged.schedule.steps[0, :, 1].tolist()
    assert kinds.count(FORGET) > 8
    assert kinds.count(FALL_BACK) == 2
    assert {"Imputed", "Corrected", "Reported"} <= set(live.kinds())
    assert np.isnan(logged.outcome[0])
    (test,) = randomisation_tests(logged, n_redraws=500)
    assert (test.treatment, test.control, test.reason, test.exact) == ("aspirin", "walk", "", True)
    known = ~np.isnan(logged.outcome)
    told = [logged.outcome[known & (logged.chosen == arm)].mean() for arm in (0, 1)]
    assert test.statistic == pytest.approx(told[1] - told[0])


def first_changed(events: list[AnyEvent], kind: type[AnyEvent], **fields: Any) -> LoggedAllocation:
    at = next(i for i, event in enumerate(events) if isinstance(event, kind))
    return allocation_of([*events[:at], msgspec.structs.replace(events[at], **fields), *events[at + 1 :]])


def test_what_cannot_be_redrawn_says_why() -> None:
    live = Live("thompson", seed=5)
    for t in range(12):
        live.recommend(f"s{t}")
        live.report(t, reward=float(t % 2))
    events = live.events()
    design = next(event.design for event in events if isinstance(event, Created))
    unknown = msgspec.structs.replace(design, policy="of-my-own")
    for logged, why in (
        (first_changed(events, Recommended, imported=True), "recommendations were imported from a table"),
        (first_changed(events, Recommended, algorithm_version="thompson:0"), "another version of the policy"),
        (first_changed(events, Created, design=unknown), "trial 't' cannot be run here"),
        (first_changed(events, Recommended, chosen=1 - next(e for e in events if isinstance(e, Recommended)).chosen),
         "the policy, run again from the log, gives other recommendations"),
        (first_changed(events, Recommended, probabilities=(0.4, 0.6)), "other recommendations or probabilities"),
    ):  # fmt: skip
        (test,) = randomisation_tests(logged, n_redraws=10)
        assert why in test.reason
        assert test.p_value is None


def test_arms_that_a_secret_drew_are_redrawn_without_being_drawn_again_first() -> None:
    """The log has no key to draw them by; of an epoch that was begun in a rehearsal neither."""
    live, rehearsal = Live("thompson"), Live("thompson", seed=5)
    for trial in (live, rehearsal):
        for t in range(12):
            trial.recommend(f"s{t}")
            trial.report(t, reward=float(t % 2))
    begun = EpochBegun(position=2, at=live.clock(), commitment="c", reason="restored")
    first, *others = rehearsal.events()
    for events, is_known in (
        (live.events(), False),
        (rehearsal.events(), True),
        ([first, begun, *others], False),
    ):
        logged = allocation_of(events)
        (test,) = randomisation_tests(logged, n_redraws=50)
        assert (logged.keys is not None, test.reason, test.exact) == (is_known, "", True)


def test_corrections_of_a_policy_that_recycles_cannot_be_redrawn() -> None:
    policy = "hierarchical(experts=[thompson, ucb1], top=thompson, recycle=true)"
    events: list[AnyEvent] = []
    for event in eventful().events():  # as if that policy had made them: what it would choose does not matter here
        if isinstance(event, Created):
            design = msgspec.structs.replace(event.design, policy=policy)
            version = engine_of(design, event.keys()).algorithm_version
            events.append(msgspec.structs.replace(event, design=design))
        elif isinstance(event, Recommended):
            events.append(msgspec.structs.replace(event, algorithm_version=version))
        else:
            events.append(event)
    assert "reports were corrected, and the policy recycles outcomes" in allocation_of(events).reason
