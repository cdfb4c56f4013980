"""What a live trial keeps to look at itself, event by event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from adhere.design.make_design import make_design
from adhere.design.parts import Looks, Stopping
from adhere.looks.judge import ACTIVE, INFERIOR, SUPERIOR
from adhere.trial.domain.events import Looked, Recommended
from adhere.trial.domain.history import History, Part
from adhere.trial.domain.look_state import (
    LookPlan,
    LookState,
    after_look,
    due_look,
    evolve_looks,
    first_look_state,
    has_looks,
    look_plan,
    stratum_shares,
)
from oracle.permuted import PermutedBlocks

START = datetime(2026, 3, 1, tzinfo=UTC)
ARMS = ("a", "b", "c")


def plan_of(**fields: Any) -> LookPlan:
    return look_plan(make_design("t", "burn-in(uniform, patients=12)", ARMS, n_patients=24, **fields))


def made(number: int, chosen: int, stratum: int | None = None) -> Recommended:
    return Recommended(
        position=number + 2, at=START, recommendation_index=number, recommendation_id="", subject="", site="",
        learned_up_to=1, chosen=chosen, probabilities=(), algorithm_version="", software="", stratum=stratum,
    )  # fmt: skip


def history(chosen: int, reward: float | None = None, **fields: Any) -> History:
    part = None if reward is None else Part(reward, 9)
    return History(0, "", 2, START, "", chosen, reward=part, **fields)


def looked(number: int, status: tuple[int, ...], decision: int = ACTIVE) -> Looked:
    return Looked(
        position=7, at=START, look=number, n_outcomes=1, n_recommendations=1, status=status, decision=decision,
        algorithm_version="", software="",
    )  # fmt: skip


def test_a_design_that_neither_looks_nor_prescribes_keeps_nothing() -> None:
    plain = make_design("t", "burn-in(thompson)", ARMS, n_patients=100)
    assert not has_looks(plain)
    for fields in (
        {"looks": Looks(every=10)},
        {"stopping": Stopping(by="posterior", superiority=0.99)},
        {"strata": ("young", "old")},
        {"update": "at looks", "looks": Looks(at=(50,))},
    ):
        assert has_looks(make_design("t", "burn-in(thompson)", ARMS, n_patients=100, **fields))


def test_outcomes_are_counted_by_the_arm_chosen_and_corrections_change_them() -> None:
    plan = plan_of(looks=Looks(at=(1, 2)))
    looks = evolve_looks(plan, first_look_state(plan), made(0, 1), None, history(1))
    assert (looks.n_awaited, looks.first_at, looks.n_outcomes) == (1, START, 0)
    looks = evolve_looks(plan, looks, made(0, 1), history(1), history(1, 0.5))  # any event about it
    assert (looks.n, looks.sums, looks.squares, looks.n_awaited) == ((0, 1, 0), (0, 0.5, 0), (0, 0.25, 0), 0)
    looks = evolve_looks(plan, looks, looked(0, (0, 0, 0)), history(1, 0.5), history(1, 1.0))
    assert (looks.n, looks.sums, looks.squares) == ((0, 1, 0), (0, 1.0, 0), (0, 1.0, 0))
    looks = evolve_looks(plan, looks, looked(0, (0, 0, 0)), history(1, 1.0), history(1))
    assert (looks.n, looks.sums, looks.n_awaited) == ((0, 0, 0), (0, 0.0, 0), 1)
    assert evolve_looks(plan, looks, looked(0, (0, 0, 0)), history(1), history(1, withdrawn=True)).n_awaited == 0


def with_outcomes(plan: LookPlan, n: int) -> LookState:
    return msgspec.structs.replace(first_look_state(plan), n=(n, 0, 0))


def test_a_look_by_number_is_due_once_and_the_last_one_when_nobody_is_awaited() -> None:
    plan = plan_of(looks=Looks(at=(2, 4)))
    assert due_look(plan, with_outcomes(plan, 1), 5, START) is None
    assert due_look(plan, with_outcomes(plan, 2), 5, START) == 0
    after = after_look(with_outcomes(plan, 2), looked(0, (0, 0, 0)))
    assert due_look(plan, after, 5, START) is None  # a look that was made stands
    assert due_look(plan, with_outcomes(plan, 0), 24, START) == 2  # all recommended, no outcome awaited: the end
    assert due_look(plan, after, 23, START, is_end=True) is None
    assert due_look(plan, after, 24, START, is_end=True) == 2
    assert due_look(plan, after_look(after, looked(2, (0, 0, 0))), 24, START, is_end=True) is None


def test_a_look_by_day_is_due_once_its_day_is_over() -> None:
    plan = plan_of(looks=Looks(days=(7.0, 14.0)))
    looks = evolve_looks(plan, first_look_state(plan), made(0, 1), None, history(1))
    assert due_look(plan, looks, 1, START + timedelta(days=7)) is None
    assert due_look(plan, looks, 1, START + timedelta(days=7, microseconds=1)) == 0
    assert due_look(plan, first_look_state(plan), 0, START + timedelta(days=99)) is None  # nobody has come


def test_a_recommended_stop_drops_no_arm() -> None:
    plan = plan_of(looks=Looks(at=(2, 4)))
    dropped = after_look(first_look_state(plan), looked(0, (ACTIVE, INFERIOR, ACTIVE)))
    assert (dropped.status, dropped.stop_at, dropped.made_at) == ((ACTIVE, INFERIOR, ACTIVE), None, (7,))
    stopped = after_look(dropped, looked(1, (SUPERIOR, INFERIOR, ACTIVE), SUPERIOR))
    assert (stopped.status, stopped.stop_at, stopped.next_look) == ((ACTIVE, INFERIOR, ACTIVE), 7, 2)


def test_each_stratum_has_blocks_of_its_own() -> None:
    plan = look_plan(
        make_design("t", "burn-in(uniform, patients=12, block=6)", ARMS, n_patients=24, strata=("young", "old"))
    )
    looks = first_look_state(plan)
    for number, (arm, stratum) in enumerate([(0, 0), (0, 0), (1, 1), (2, 0)]):
        looks = evolve_looks(plan, looks, made(number, arm, stratum), None, history(arm))
    assert stratum_shares(plan, looks, 0) == [0.0, 2 / 3, 1 / 3]
    assert stratum_shares(plan, looks, 1) == [2 / 5, 1 / 5, 2 / 5]
    failed = msgspec.structs.replace(made(4, 0, 1), fallback="it failed")
    assert evolve_looks(plan, looks, failed, None, history(0)).blocks == looks.blocks  # it takes no place
    for number, arm in enumerate([1, 1, 2], 4):
        looks = evolve_looks(plan, looks, made(number, arm, 0), None, history(arm))
    assert stratum_shares(plan, looks, 0) == [1 / 3] * 3  # a new block
    late = evolve_looks(plan, looks, made(12, 0, 0), None, history(0))  # after the burn-in
    assert late.blocks == looks.blocks


def test_shares_in_a_stratum_are_those_given_its_own_arms_over_all_lengths() -> None:
    plan, rng = plan_of(strata=("young", "old")), Random(3)
    looks, seen = first_look_state(plan), [PermutedBlocks(3, (6, 9, 12)) for _ in range(2)]
    for number in range(12):
        stratum = rng.randrange(2)
        shares = stratum_shares(plan, looks, stratum)
        assert shares == pytest.approx([float(share) for share in seen[stratum].shares()])
        arm = rng.choices(range(3), shares)[0]
        looks = evolve_looks(plan, looks, made(number, arm, stratum), None, history(arm))
        seen[stratum].add(arm)
    assert min(len(one.arms) for one in seen) > 3


def test_an_arm_dropped_in_the_burn_in_leaves_its_places_to_the_others_of_each_block() -> None:
    plan = look_plan(
        make_design("t", "burn-in(uniform, patients=12, block=6)", ARMS, n_patients=24, strata=("young", "old"))
    )
    looks = after_look(first_look_state(plan), looked(0, (ACTIVE, INFERIOR, ACTIVE)))
    for number, arm in enumerate([0, 2, 0]):
        assert stratum_shares(plan, looks, 0)[1] == 0.0
        looks = evolve_looks(plan, looks, made(number, arm, 0), None, history(arm))
    assert stratum_shares(plan, looks, 0) == [0.0, 0.0, 1.0]
    looks = evolve_looks(plan, looks, made(3, 2, 0), None, history(2))
    assert stratum_shares(plan, looks, 0) == [0.5, 0.0, 0.5]  # only places of the dropped arm were left
    looks = evolve_looks(plan, looks, made(4, 2, 0), None, history(2))
    assert stratum_shares(plan, looks, 0) == pytest.approx([2 / 3, 0.0, 1 / 3])  # of a new block
