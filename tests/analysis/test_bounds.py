"""Bounds without assumptions: against two other ways to compute them, published numbers, and true effects."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.analysis.bounding import balke_pearl as programs
from adhere.analysis.bounding.bounds import bounds
from adhere.analysis.bounding.observed_cells import observed_cells

from .bound_checks import ARMS, ends, from_cells, is_sensible, one
from .made_records import made
from .response_types import balke_pearl, cells_of, response_types, type_bounds


def test_published_bounds() -> None:
    # Balke and Pearl 1997: cholestyramine in the Lipid Research Clinics trial, 0.39 to 0.78; the digits are those
    # of the R package noncompliance, as are those of the flu shots of McDonald, Hui and Tierney (1992).
    for y0x0z0, y1x0z0, y0x1z0, y1x1z0, y0x0z1, y1x0z1, y0x1z1, y1x1z1, low, high in (
        (158, 14, 0, 0, 52, 12, 23, 78, 0.3913319, 0.7792107),
        (99, 1027, 30, 233, 84, 935, 31, 422, -0.6420409, 0.2390209),
    ):
        counts = [[[y0x0z0, y1x0z0], [y0x1z0, y1x1z0]], [[y0x0z1, y1x0z1], [y0x1z1, y1x1z1]]]
        rows = [(z, d, float(v), counts[z][d][v]) for z in (0, 1) for d in (0, 1) for v in (0, 1)]
        found = one(bounds(made([row for row in rows if row[3]], "ab"), adaptive=False), "effect", "b", "a")
        assert ends(found) == pytest.approx((low, high), abs=5e-8)
    # Vitamin A and survival (Sommer and Zeger 1991; Balke and Pearl 1997, Table 1): -0.1946 to 0.0054.
    cells = np.array([[[0.0064, 0.9936], [0, 0]], [[0.0028, 0.1972], [0.0010, 0.7990]]])
    found = one(bounds(from_cells(cells, 10_000), adaptive=False), "effect", "b", "a")
    assert ends(found) == pytest.approx((-0.1946, 0.0054), abs=1e-8)


@pytest.mark.parametrize(
    ("k", "m", "monotone"), [(2, 2, True), (2, 2, False), (2, 3, True), (3, 3, True), (3, 3, False)]
)
def test_bounds_and_limits_are_those_over_every_response_type(k: int, m: int, monotone: bool) -> None:
    """And contain the population's true means and effects."""
    rng = np.random.default_rng(10 * k + m + monotone)
    types = response_types(k, m, monotone=monotone)
    n = 40
    shares = rng.multinomial(n, rng.dirichlet(np.full(len(types), 0.1))) / n
    cells = cells_of(types, shares, m)
    records = from_cells(cells, n)
    found = bounds(records, adaptive=False)
    is_sensible(found)
    box = observed_cells(records).limits(0.95, any_time=False, binary=True)
    for assumption in ("none", "monotonicity"):
        for signs, bound in (
            ({0: 1}, one(found, "mean", "a", None, assumption)),
            ({k - 1: 1, 0: -1}, one(found, "effect", ARMS[k - 1], "a", assumption)),
        ):
            expected = type_bounds(cells, cells, signs, monotone=assumption == "monotonicity")
            if expected is None:
                assert assumption == "monotonicity"
                assert not monotone
                assert bound.reason
                continue
            assert ends(bound) == pytest.approx(expected, abs=1e-8)
            assert bound.reason == ""
            truth = sum(
                sign * share * y[arm]
                for arm, sign in signs.items()
                for (_, y), share in zip(types, shares, strict=True)
            )
            assert expected[0] - 1e-9 <= truth <= expected[1] + 1e-9
            least, most = box.low.reshape(cells.shape), box.high.reshape(cells.shape)
            limits = type_bounds(least, most, signs, monotone=assumption == "monotonicity")
            assert bound.limits is not None
            assert (bound.limits.low, bound.limits.high) == pytest.approx(limits, abs=1e-7)
    if k == m == 2:
        effect = one(found, "effect", "b", "a")
        assert ends(effect) == pytest.approx(balke_pearl(cells), abs=1e-8)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(st.integers(0, 9), min_size=16, max_size=16).filter(any))
def test_true_effects_lie_between_bounds_whatever_arms_are_called(numbers: list[int]) -> None:
    types = response_types(2, 2, monotone=False)
    n = sum(numbers)
    shares = np.array(numbers) / n
    cells = cells_of(types, shares, 2)
    found = bounds(from_cells(cells, n), adaptive=False)
    is_sensible(found)
    effect = one(found, "effect", "b", "a")
    assert ends(effect) == pytest.approx(balke_pearl(cells), abs=1e-8)
    truth = sum(share * (y[1] - y[0]) for (_, y), share in zip(types, shares, strict=True))
    assert ends(effect)[0] - 1e-9 <= truth <= ends(effect)[1] + 1e-9
    assert found.inequality.refuted is False
    assert found.inequality.distance == 0
    assert found.inequality.excess is not None
    assert found.inequality.excess <= 1e-12
    swapped = one(bounds(from_cells(cells[::-1, ::-1], n, control=1), adaptive=False), "effect", "a", "b")
    assert ends(swapped) == pytest.approx(ends(effect), abs=1e-8)


def test_other_things_lumped_give_wider_bounds_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    types = response_types(3, 3, monotone=True)
    cells = cells_of(types, rng.multinomial(60, rng.dirichlet(np.full(len(types), 0.2))) / 60, 3)
    whole = bounds(from_cells(cells, 60), adaptive=False)
    assert whole.notes == ()
    monkeypatch.setattr(programs, "_MAX_THINGS", 2)
    lumped = bounds(from_cells(cells, 60), adaptive=False)
    is_sensible(lumped)
    assert any("lumps the rest" in note for note in lumped.notes)
    for wide, narrow in zip(lumped.bounds, whole.bounds, strict=True):
        assert ends(wide)[0] <= ends(narrow)[0] + 1e-8
        assert ends(wide)[1] >= ends(narrow)[1] - 1e-8
