"""What a policy learns from a recommendation, and at which place, however reports come and are corrected."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adhere.design.arms import TOOK_NOTHING, TOOK_OTHER
from adhere.trial.domain.events import AnyEvent, Corrected, Imputed, Recommended, Reported, UpdateRefused
from adhere.trial.domain.evolve import changed_updates
from adhere.trial.domain.history import History, Part, evolve_history

K = 3
AT = datetime(2026, 3, 1, tzinfo=UTC)


def recommended(fallback: str = "") -> History:
    known = {"probabilities": (1 / 3,) * 3, "algorithm_version": "", "software": ""}
    event = Recommended(
        position=10,
        at=AT,
        recommendation_index=4,
        recommendation_id="4K7T-9QXA-M98F-RJCB",
        subject="s",
        site="Leeds",
        learned_up_to=9,
        chosen=1,
        fallback=fallback,
        **known,  # type: ignore[arg-type]
    )
    return evolve_history(None, event)


FIRST = recommended()


def after(history: History, kind: type[Any], position: int, **values: Any) -> History:
    event: AnyEvent = kind(position=position, at=AT, recommendation_index=4, **values)
    return evolve_history(history, event)


def reported(history: History, position: int, actual: int | None, reward: float | None) -> History:
    return after(history, Reported, position, actual=actual, reward=reward)


def corrected(history: History, position: int, **values: Any) -> History:
    return after(history, Corrected, position, reason="typing error", **values)


def updates(history: History) -> list[tuple[int, int, float]]:
    """Place, feedback and reward of each update."""
    rows = history.updates(K)
    assert all(row[1:3] == (4, 1) for row in rows)
    return [(row[0], row[3], row[4]) for row in rows]


def test_nothing_is_learned_without_a_reward() -> None:
    assert updates(reported(FIRST, 11, 2, None)) == []


def test_parts_that_come_together_or_actual_first_are_one_update_at_the_reward() -> None:
    assert updates(reported(FIRST, 11, 2, 1.0)) == [(11, 2, 1.0)]
    assert updates(reported(reported(FIRST, 11, 2, None), 12, None, 1.0)) == [(12, 2, 1.0)]


def test_a_late_actual_arm_is_a_update_of_its_own() -> None:
    late = reported(reported(FIRST, 11, None, 0.5), 15, 2, None)
    assert updates(late) == [(11, K, 0.5), (15, K + 1 + 2, 0.5)]


@pytest.mark.parametrize("taken", [TOOK_NOTHING, TOOK_OTHER])
def test_learners_that_need_an_arm_wait_if_none_was_taken(taken: int) -> None:
    assert updates(reported(FIRST, 11, taken, 1.0)) == [(11, K, 1.0)]
    assert updates(reported(reported(FIRST, 11, None, 1.0), 12, taken, None)) == [(11, K, 1.0)]


@pytest.mark.parametrize(("taken", "together", "later"), [(TOOK_NOTHING, -2, 2 * K + 1), (TOOK_OTHER, -3, 2 * K + 2)])
def test_a_policy_that_sees_both_arms_learns_that_none_was_taken(taken: int, together: int, later: int) -> None:
    def seen(history: History) -> list[tuple[int, int]]:
        return [(place, feedback) for place, _, _, feedback, *_ in history.updates(K, sees_both_arms=True)]

    at_once, late = reported(FIRST, 11, taken, 1.0), reported(reported(FIRST, 11, None, 1.0), 12, taken, None)
    assert seen(at_once) == [(11, together)]
    assert seen(late) == [(11, K), (12, later)]
    refused = after(at_once, UpdateRefused, 13, place=11, algorithm_version="1", reason="")
    assert seen(refused) == []
    assert updates(refused) == []
    other = corrected(refused, 14, actual=TOOK_NOTHING + TOOK_OTHER - taken)
    assert len(seen(other)) == 1  # which says something else
    assert updates(other) == []  # to whom it says the same
    assert len(seen(corrected(refused, 14, retract=("actual",)))) == 1
    assert updates(corrected(refused, 14, retract=("actual",))) == []


def test_a_correction_keeps_the_place() -> None:
    history = corrected(reported(FIRST, 11, 2, 1.0), 20, actual=0)
    assert updates(history) == [(11, 0, 1.0)]
    assert updates(corrected(history, 21, reward=0.0)) == [(11, 0, 0.0)]


def test_what_is_retracted_was_never_reported_and_may_be_reported_anew() -> None:
    history = corrected(reported(FIRST, 11, 2, 1.0), 20, retract=("reward",))
    assert updates(history) == []
    assert history.is_open
    assert updates(reported(history, 30, None, 0.0)) == [(30, 2, 0.0)]


def test_a_report_replaces_what_was_imputed_at_its_place() -> None:
    assumed = after(FIRST, Imputed, 11, actual=TOOK_NOTHING, reward=0.0)
    assert updates(assumed) == [(11, K, 0.0)]
    true = reported(assumed, 40, 2, None)
    assert true.actual == Part(2, 11)
    assert updates(true) == [(11, 2, 0.0)]
    assert updates(reported(true, 41, None, 1.0)) == [(11, 2, 1.0)]


def test_a_report_is_not_replaced_by_another_or_by_an_imputation() -> None:
    history = reported(FIRST, 11, 2, 1.0)
    assert reported(history, 12, 0, 0.0) == history
    assert updates(after(history, Imputed, 12, actual=0, reward=0.0)) == updates(history)


def test_nothing_is_learned_from_a_fallback() -> None:
    assert reported(recommended(fallback="it failed"), 11, 1, 1.0).updates(K) == ()


@given(st.permutations([(None, 1.0), (2, None), (None, 1.0), (2, None)]))
def test_duplicates_and_order_change_only_the_places(reports: list[tuple[int | None, float | None]]) -> None:
    history = FIRST
    for position, (actual, reward) in enumerate(reports, 11):
        history = reported(history, position, actual, reward)
    assert history.actual is not None
    assert history.reward is not None
    assert (history.actual.value, history.reward.value) == (2, 1.0)
    learned = [feedback for _, feedback, _ in updates(history)]
    assert learned == ([2] if history.actual.place < history.reward.place else [K, K + 1 + 2])


def test_changed_updates_are_those_to_learn_again() -> None:
    class FakeEngine:
        n_arms, memo_size, sees_both_arms, n_changing = K, 0, False, 0
        benefit = staticmethod(float)

    def changed(before: History, after: History) -> Mapping[int, Any]:
        return changed_updates(FakeEngine, before, after)  # type: ignore[arg-type]

    late = reported(reported(FIRST, 11, None, 1.0), 15, 2, None)
    assert changed(late, late) == {}
    assert changed(late, corrected(late, 20, actual=1)) == {15: (15, 4, 1, K + 1 + 1, 1.0, ())}
    assert set(changed(late, corrected(late, 20, reward=0.0))) == {11, 15}
    assert changed(late, corrected(late, 20, actual=TOOK_NOTHING)) == {15: None}
