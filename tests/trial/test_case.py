"""What a policy learns from a case, and where in the log, however the parts of a report came and were corrected."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adhere.trial.case import TOOK_NOTHING, TOOK_OTHER, Case, Lesson, Part, first_difference

K = 3
CASE = Case(decision=4, position=10, chosen=1)


def test_nothing_is_learned_without_a_reward() -> None:
    assert CASE.reported(11, actual=2, reward=None).lessons(K) == ()


def test_parts_that_come_together_or_actual_first_are_one_lesson_at_the_reward() -> None:
    assert CASE.reported(11, 2, 1.0).lessons(K) == (Lesson(11, 2, 1.0),)
    assert CASE.reported(11, 2, None).reported(12, None, 1.0).lessons(K) == (Lesson(12, 2, 1.0),)


def test_a_late_actual_arm_is_a_lesson_of_its_own() -> None:
    late = CASE.reported(11, None, 0.5).reported(15, 2, None)
    assert late.lessons(K) == (Lesson(11, K, 0.5), Lesson(15, K + 1 + 2, 0.5))


def test_what_is_no_arm_leaves_those_who_need_one_waiting() -> None:
    for taken in (TOOK_NOTHING, TOOK_OTHER):
        assert CASE.reported(11, taken, 1.0).lessons(K) == (Lesson(11, K, 1.0),)
        assert CASE.reported(11, None, 1.0).reported(12, taken, None).lessons(K) == (Lesson(11, K, 1.0),)


def test_a_correction_keeps_the_place() -> None:
    case = CASE.reported(11, 2, 1.0).corrected(20, actual=0, reward=None)
    assert case.lessons(K) == (Lesson(11, 0, 1.0),)
    assert case.corrected(21, None, 0.0).lessons(K) == (Lesson(11, 0, 0.0),)


def test_what_is_retracted_was_never_reported_and_may_be_reported_anew() -> None:
    case = CASE.reported(11, 2, 1.0).corrected(20, None, None, retract=("reward",))
    assert case.lessons(K) == ()
    assert case.is_open
    assert case.reported(30, None, 0.0).lessons(K) == (Lesson(30, 2, 0.0),)


def test_the_truth_replaces_what_was_imputed_at_its_place() -> None:
    assumed = CASE.reported(11, TOOK_NOTHING, 0.0, imputed=True)
    assert assumed.lessons(K) == (Lesson(11, K, 0.0),)
    truth = assumed.reported(40, 2, None)
    assert truth.actual == Part(2, 11)
    assert truth.lessons(K) == (Lesson(11, 2, 0.0),)
    assert truth.reported(41, None, 1.0).lessons(K) == (Lesson(11, 2, 1.0),)


def test_a_report_is_not_replaced_by_another_or_by_an_imputation() -> None:
    case = CASE.reported(11, 2, 1.0)
    assert case.reported(12, 0, 0.0) == case
    assert case.reported(12, 0, 0.0, imputed=True).lessons(K) == case.lessons(K)


def test_nothing_is_learned_from_a_fallback() -> None:
    assert Case(0, 1, 1, learns=False).reported(2, 1, 1.0).lessons(K) == ()


@given(st.permutations([(None, 1.0), (2, None), (None, 1.0), (2, None)]))
def test_duplicates_and_order_change_only_the_places(reports: list[tuple[int | None, float | None]]) -> None:
    case = CASE
    for position, (actual, reward) in enumerate(reports, 11):
        case = case.reported(position, actual, reward)
    assert case.actual is not None
    assert case.reward is not None
    assert (case.actual.value, case.reward.value) == (2, 1.0)
    learned = [lesson.feedback for lesson in case.lessons(K)]
    assert learned == ([2] if case.actual.place < case.reward.place else [K, K + 1 + 2])


def test_the_first_difference_is_where_a_fold_must_start() -> None:
    before = CASE.reported(11, None, 1.0).reported(15, 2, None)
    assert first_difference(before.lessons(K), before.lessons(K)) is None
    assert first_difference(before.lessons(K), before.corrected(20, 1, None).lessons(K)) == 15
    assert first_difference(before.lessons(K), before.corrected(20, None, 0.0).lessons(K)) == 11
