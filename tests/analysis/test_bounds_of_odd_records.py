"""Bounds where compliance is perfect or reversed, cells are empty or unknown, or the data refute the assumption."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.analysis.bounding.bounds import Bound, bounds
from adhere.analysis.estimates import Shape, Validity
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records

from .bound_checks import ARMS, ends, is_sensible, one
from .made_records import MISSING, Row, any_records, made


@settings(deadline=None, max_examples=10, derandomize=True)
@given(any_records(), st.booleans())
def test_whatever_is_recorded_gives_bounds_or_a_reason(records: Records, adaptive: bool) -> None:
    is_sensible(bounds(records, adaptive=adaptive))


@pytest.mark.parametrize("k", [2, 3, 6])
def test_with_perfect_compliance_bounds_collapse(k: int) -> None:
    rows = [(arm, arm, float(v), 10 + 5 * arm if v else 30) for arm in range(k) for v in (0, 1)]
    found = bounds(made(rows, ARMS[:k]), adaptive=False)
    is_sensible(found)
    means = [(10 + 5 * arm) / (40 + 5 * arm) for arm in range(k)]
    for bound in found.bounds:
        expected = means[ARMS.index(bound.treatment)] - (means[ARMS.index(bound.control)] if bound.control else 0.0)
        assert ends(bound) == pytest.approx((expected, expected), abs=1e-8)
    pairs = [
        (bound.treatment, bound.control) for bound in found.bounds if bound.control and bound.assumption == "none"
    ]
    assert pairs[: k - 1] == [(arm, "a") for arm in ARMS[1:k]]
    assert len(pairs) == k * (k - 1) / 2


def test_defiers_refute_monotonicity_alone() -> None:
    found = bounds(
        made([(0, 1, 0.0, 40), (0, 1, 1.0, 160), (1, 0, 0.0, 100), (1, 0, 1.0, 100)], "ab"), adaptive=False
    )
    is_sensible(found)
    effect = one(found, "effect", "b", "a")
    assert ends(effect) == pytest.approx((0.3, 0.3), abs=1e-8)
    assert found.inequality.refuted is False
    monotone = one(found, "effect", "b", "a", "monotonicity")
    assert monotone.limits is not None
    assert monotone.limits.shape is Shape.EMPTY
    assert "refute monotonicity" in monotone.reason


@pytest.mark.parametrize("adaptive", [False, True])
def test_an_effect_of_being_told_refutes_the_assumption(adaptive: bool) -> None:
    """Everybody takes arm a, but those told b do better: in many patients no chance, in few it may be."""
    many = bounds(
        made([(0, 0, 0.0, 180), (0, 0, 1.0, 20), (1, 0, 0.0, 20), (1, 0, 1.0, 180)], "ab"), adaptive=adaptive
    )
    is_sensible(many)
    assert many.inequality.refuted is True
    assert many.inequality.excess == pytest.approx(0.8)
    assert many.inequality.distance is not None
    assert many.inequality.distance > 1
    assert "changed outcomes in another way" in many.inequality.sentence
    assert all(bound.low is None and "refute the assumption" in bound.reason for bound in many.bounds)
    few = bounds(made([(0, 0, 0.0, 6), (0, 0, 1.0, 4), (1, 0, 0.0, 4), (1, 0, 1.0, 6)], "ab"), adaptive=adaptive)
    is_sensible(few)
    assert few.inequality.refuted is False
    assert few.inequality.excess == pytest.approx(0.2)
    assert 0 < (few.inequality.distance or 0) < 1
    assert "chance" in few.inequality.sentence
    mean = one(few, "mean", "a")
    # Halfway: the limits on both cells are symmetric, so that the nearest shares that fit are equal.
    assert ends(mean) == pytest.approx((0.5, 0.5), abs=1e-5)
    assert "nearest" in mean.reason
    assert "Nobody is known to have taken 'b'." in one(few, "mean", "b").reason


def test_unknown_outcomes_may_be_anything() -> None:
    """With perfect compliance a mean lies between all missing failing and all missing succeeding."""
    rows: list[Row] = [(0, 0, 0.0, 50), (0, 0, 1.0, 50), (1, 1, 0.0, 30), (1, 1, 1.0, 60), (1, 1, MISSING, 10)]
    found = bounds(made(rows, "ab"), adaptive=False)
    is_sensible(found)
    mean = one(found, "mean", "b")
    assert ends(mean) == pytest.approx((0.6, 0.7), abs=1e-8)
    assert any("unknown" in note for note in found.notes)
    # An imputed outcome is as unknown as a missing one.
    rows[-1] = (1, 1, 1.0, 10)
    imputed = bounds(made(rows, "ab", imputed_reward=np.array([False] * 4 + [True])), adaptive=False)
    assert imputed.bounds == found.bounds


@pytest.mark.parametrize("missing", [(NOT_KNOWN, 1.0), (NOT_KNOWN, MISSING), (1, MISSING)])
def test_bounds_with_unknown_cells_contain_those_of_every_completion(missing: tuple[int, float]) -> None:
    rows: list[Row] = [(0, 0, 0.0, 8), (0, 0, 1.0, 4), (0, 1, 1.0, 3), (1, 0, 1.0, 4), (1, 1, 1.0, 7), (1, 1, 0.0, 2)]
    actual, reward = missing
    found = one(
        bounds(made([*rows, (0, 0, MISSING, 1), (1, actual, reward, 3)], "ab"), adaptive=False), "effect", "b", "a"
    )
    completions: list[Bound] = []
    for taken in (0, 1, TOOK_OTHER) if actual == NOT_KNOWN else (actual,):
        for outcome in (0.0, 1.0) if reward != reward else (reward,):
            completed = bounds(made([*rows, (0, 0, 1.0, 1), (1, taken, outcome, 3)], "ab"), adaptive=False)
            completions.append(one(completed, "effect", "b", "a"))
    assert found.reason == ""
    for completion in completions:
        assert completion.reason == ""
        assert ends(found)[0] <= ends(completion)[0] + 1e-8
        assert ends(found)[1] >= ends(completion)[1] - 1e-8


def test_outcomes_between_0_and_1_count_as_shares_of_a_success() -> None:
    whole: list[Row] = [
        (0, 0, 0.0, 30),
        (0, 0, 1.0, 30),
        (0, 1, 1.0, 10),
        (1, 1, 1.0, 20),
        (1, 1, 0.0, 20),
        (1, 0, 1.0, 20),
    ]
    shares: list[Row] = [*whole[:3], (1, 1, 0.25, 16), (1, 1, 0.75, 16), (1, 1, 0.5, 8), (1, 0, 1.0, 20)]
    binary, fractional = (bounds(made(rows, "ab"), adaptive=False) for rows in (whole, shares))
    for one_, other in zip(binary.bounds, fractional.bounds, strict=True):
        assert ends(one_) == pytest.approx(ends(other), abs=1e-8)
        assert other.limits is not None
        assert one_.limits is not None
        assert other.limits.low <= one_.limits.low
        assert "Hoeffding" in other.limits.method
    assert any("not all 0 or 1" in note for note in fractional.notes)


@pytest.mark.parametrize(
    ("rows", "means"),
    [
        pytest.param([], None, id="nobody"),
        pytest.param([(0, 0, 1.0, 1)], {"a": (1, 1), "b": (0, 1)}, id="one patient"),
        pytest.param([(0, 0, 1.0, 3), (0, 0, 0.0, 1)], {"a": (0.75, 0.75), "b": (0, 1)}, id="an arm never assigned"),
        pytest.param([(0, 0, 1.0, 3), (1, 0, 1.0, 2)], {"a": (1, 1), "b": (0, 1)}, id="an arm never taken"),
        pytest.param([(0, 0, MISSING, 3), (1, 1, MISSING, 2)], {"a": (0, 1), "b": (0, 1)}, id="no outcomes"),
        pytest.param([(0, TOOK_NOTHING, 1.0, 3), (1, 1, 1.0, 2)], {"a": (0, 1), "b": (1, 1)}, id="took nothing"),
        pytest.param([(0, TOOK_OTHER, 1.0, 3), (1, 1, 0.0, 2)], {"a": (0, 1), "b": (0, 0)}, id="took something else"),
    ],
)
def test_peculiar_records(rows: list[Row], means: dict[str, Any] | None) -> None:
    for adaptive in (False, True):
        found = bounds(made(rows, "ab"), adaptive=adaptive)
        is_sensible(found)
        for bound in found.bounds:
            if means is None:
                assert bound.reason == "Nobody was assigned an arm."
                assert bound.limits is None
            else:
                assert bound.limits is not None
                assert bound.limits.validity is (Validity.ANY_TIME if adaptive else Validity.FIXED)
                if bound.quantity == "mean":
                    assert ends(bound) == pytest.approx(means[bound.treatment], abs=1e-8)
        if len({row[0] for row in rows}) < 2:
            assert found.inequality.refuted is None
            assert "cannot be tested" in found.inequality.sentence
