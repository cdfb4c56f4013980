from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.analysis.cells import sums
from adhere.analysis.estimates import Validity, View
from adhere.analysis.fixed_sample.intervals import TwoProportions, score_difference
from adhere.analysis.fixed_sample.two_arms import compare_groups
from adhere.analysis.missing_outcomes.missing import missing
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, Records
from adhere.intervals import RewardSums

from .made_records import MISSING, Row, any_records, made

ROWS: list[Row] = [
    (0, 0, 1.0, 50),
    (0, 0, 0.0, 45),
    (0, 0, MISSING, 5),
    (1, 1, 1.0, 60),
    (1, 1, 0.0, 20),
    (1, 0, 0.0, 10),
    (1, 1, MISSING, 6),
    (1, NOT_KNOWN, MISSING, 4),
]


def test_extreme_cases_put_every_missing_outcome_at_its_worst_and_its_best() -> None:
    result = missing(made(ROWS), adaptive=False)
    assert result.outcomes == {"old": 5, "new": 10}
    assert result.taken == {"old": 0, "new": 4}
    by_assignment, compliers = result.extremes
    assert by_assignment.view is View.INTENTION_TO_TREAT
    assert by_assignment.low == pytest.approx(60 / 100 - 55 / 100)
    assert by_assignment.high == pytest.approx(70 / 100 - 50 / 100)
    assert by_assignment.limits.low == score_difference(TwoProportions(60, 100, 55, 100))[0]
    assert by_assignment.limits.high == score_difference(TwoProportions(70, 100, 50, 100))[1]
    assert compliers.view is View.COMPLIERS
    assert compliers.low == pytest.approx(0.05 / 0.90)
    assert compliers.high == pytest.approx(0.20 / 0.86)
    assert result.sentence.startswith(
        "15 of 200 outcomes are missing (old: 5, new: 10). "
        "It is not known what 4 of 200 patients took (old: 0, new: 4). "
        "Whatever the missing values are, the intention-to-treat difference of new against old lies between +0.050 "
        "and +0.200, with sampling error in [-0.087, 0.329]."
    )


def test_limits_contain_the_interval_of_complete_data_whatever_they_are() -> None:
    for known in product(range(6), range(5)):
        rows: list[Row] = [(1, 1, 1.0, known[0]), (1, 1, 0.0, 5 - known[0]), (1, 1, MISSING, 2)]
        rows += [(0, 0, 1.0, known[1]), (0, 0, 0.0, 4 - known[1]), (0, 0, MISSING, 3)]
        _contains_every_completion(
            rows,
            [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0)],
            [(1.0, 1.0, 1.0), (1.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)],
        )


@pytest.mark.parametrize("known", [(0.5, 0.5, 0.5, 0.5), (0.1, 0.0, 0.5, 0.9), (0.0, 0.0, 0.2, 0.0)])
def test_they_do_so_too_where_outcomes_are_not_0_or_1(known: tuple[float, ...]) -> None:
    rows: list[Row] = [(1, 1, known[0], 1), (1, 1, known[1], 4), (1, 1, MISSING, 2)]
    rows += [(0, 0, known[2], 1), (0, 0, known[3], 3), (0, 0, MISSING, 2)]
    fills = list(product((0.0, 0.5, 1.0), repeat=2))
    _contains_every_completion(rows, fills, fills)


def _contains_every_completion(
    rows: list[Row], treated: list[tuple[float, ...]], controls: list[tuple[float, ...]]
) -> None:
    by_assignment, compliers = missing(made(rows), adaptive=False).extremes
    assert compliers.limits == by_assignment.limits  # everybody took what they were assigned
    for fill, control_fill in product(treated, controls):
        found = compare_groups(_completed(rows, 1, fill), _completed(rows, 0, control_fill)).difference.sets[0]
        assert by_assignment.limits.low - 1e-9 <= found.low
        assert found.high <= by_assignment.limits.high + 1e-9


def _completed(rows: list[Row], arm: int, fill: tuple[float, ...]) -> RewardSums:
    values = [(value, n) for chosen, _, value, n in rows if chosen == arm and value == value]
    values += [(value, 1) for value in fill]
    return sums(
        sum(n for _, n in values), sum(value * n for value, n in values), sum(value**2 * n for value, n in values)
    )


def test_where_allocation_adapts_limits_hold_whenever_one_stops() -> None:
    fixed, any_time = (missing(made(ROWS), adaptive=adaptive).extremes[0].limits for adaptive in (False, True))
    assert any_time.validity is Validity.ANY_TIME
    assert any_time.low < fixed.low
    assert any_time.high > fixed.high


def test_nothing_is_missing() -> None:
    result = missing(made([(0, 0, 1.0, 5), (1, 1, 0.0, 5)]), adaptive=False)
    assert result.extremes == ()
    assert result.sentence == "Every outcome and treatment taken is known."


def test_of_many_arms_those_with_most_missing_are_named() -> None:
    rows: list[Row] = [(arm, arm, MISSING, arm + 1) for arm in range(9)]
    sentence = missing(made(rows, [f"dose {arm}" for arm in range(9)]), adaptive=False).sentence
    assert sentence.startswith("45 of 45 outcomes are missing (dose 8: 9, dose 7: 8, dose 6: 7 and 6 more arms).")
    assert "For no pair of arms is that range wider than 2.000." in sentence


def test_imputed_values_are_counted_and_named() -> None:
    imputed = np.array([True, False])
    records = made([(0, 0, 1.0, 1), (1, 1, 0.0, 5)], imputed_actual=imputed, imputed_reward=imputed)
    result = missing(records, adaptive=False)
    assert result.imputed_outcomes == result.imputed_taken == {"old": 1, "new": 0}
    assert result.sentence.endswith(
        "The trial's rule for missing reports filled in 1 outcome and what 1 patient took; "
        "they are counted as reported."
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((1, TOOK_NOTHING, 0.0, 2), "some patients took nothing or something else"),
        ((0, 1, 0.0, 2_000), "it is not certain that more of those assigned new took it than of those assigned old"),
    ],
)
def test_no_extreme_case_for_compliers_where_there_may_be_none_or_more_than_two_choices(row: Row, why: str) -> None:
    found = missing(made([*ROWS, row]), adaptive=False)
    assert [case.view for case in found.extremes] == [View.INTENTION_TO_TREAT]
    assert f"There are no worst-case bounds for compliers: {why}" in found.sentence


@settings(max_examples=40, deadline=None)
@given(any_records(), st.booleans())
def test_whatever_is_missing_lies_within(records: Records, adaptive: bool) -> None:
    result = missing(records, adaptive=adaptive)
    assert result.sentence
    assert sum(result.outcomes.values()) == records.patients[~records.has_reward].sum()
    arms = {name: number for number, name in enumerate(records.arms)}
    for case in result.extremes:
        assert -1.0 <= case.limits.low <= case.low + 1e-12
        assert case.low <= case.high + 1e-12
        assert case.high <= case.limits.high + 1e-12 <= 1.0 + 2e-12
        if case.view is View.INTENTION_TO_TREAT:
            for filled in product((0.0, 0.3, 1.0), repeat=2):
                treated, control = map(_mean, (records, records), (arms[case.treatment], arms[case.control]), filled)
                assert case.low - 1e-9 <= treated - control <= case.high + 1e-9


def _mean(records: Records, arm: int, fill: float) -> float:
    of_arm = records.chosen == arm
    rewards = np.where(records.has_reward, records.reward, fill)[of_arm]
    return float(np.average(rewards, weights=records.patients[of_arm]))
