"""Bounds without assumptions: against two other ways to compute them, published numbers, and true effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adhere.analysis import program_bounds
from adhere.analysis.bounds import Bound, Bounds, bounds
from adhere.analysis.confidence_set import Shape, Validity
from adhere.analysis.observed_cells import observed_cells
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records

from .made_records import MISSING, Row, any_records, made
from .response_types import balke_pearl, cells_of, response_types, type_bounds

Floats = NDArray[np.float64]
ARMS = "abcdefgh"


def from_cells(cells: Floats, n: int, control: int = 0) -> Records:
    """Records of `n` patients told each arm; the things beyond the arms are nothing, then something else."""
    n_arms, n_things, _ = cells.shape
    codes = [*range(n_arms), TOOK_NOTHING, TOOK_OTHER]
    rows = [
        (z, codes[d], float(v), round(cells[z, d, v] * n))
        for z in range(n_arms)
        for d in range(n_things)
        for v in (0, 1)
        if round(cells[z, d, v] * n)
    ]
    return made(rows, ARMS[:n_arms], control=control)


def one(found: Bounds, quantity: str, treatment: str, control: str | None = None, assumption: str = "none") -> Bound:
    wanted = quantity, treatment, control, assumption
    (only,) = [b for b in found.bounds if (b.quantity, b.treatment, b.control, b.assumption) == wanted]
    return only


def ends(bound: Bound) -> tuple[float, float]:
    """The two bounds, which must be there."""
    assert bound.low is not None
    assert bound.high is not None
    return bound.low, bound.high


def is_sensible(found: Bounds) -> None:
    """Never NaN, low ≤ high, limits around the bounds, monotonicity within none, and a reason where there is none."""
    half = len(found.bounds) // 2
    for bound, monotone in zip(found.bounds[:half], found.bounds[half:], strict=True):
        assert (bound.quantity, bound.treatment, bound.control) == (
            monotone.quantity,
            monotone.treatment,
            monotone.control,
        )
        for each in (bound, monotone):
            if each.low is None or each.high is None:
                assert each.reason.endswith(".")
                assert each.limits is None or each.limits.shape is Shape.EMPTY
                continue
            assert each.limits is not None
            assert each.limits.low <= each.low <= each.high <= each.limits.high
            assert (0 if each.quantity == "mean" else -1) <= each.limits.low
            assert each.limits.high <= 1
        if monotone.limits is not None and monotone.limits.shape is Shape.INTERVAL and bound.limits is not None:
            assert bound.limits.low - 1e-6 <= monotone.limits.low
            assert monotone.limits.high <= bound.limits.high + 1e-6
    assert found.inequality.sentence.endswith(".")


# Published numbers.


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


# Other ways to compute them.


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
    monkeypatch.setattr(program_bounds, "_MAX_THINGS", 2)
    lumped = bounds(from_cells(cells, 60), adaptive=False)
    is_sensible(lumped)
    assert any("lumps the rest" in note for note in lumped.notes)
    for wide, narrow in zip(lumped.bounds, whole.bounds, strict=True):
        assert ends(wide)[0] <= ends(narrow)[0] + 1e-8
        assert ends(wide)[1] >= ends(narrow)[1] - 1e-8


# Bad and peculiar records.


@settings(deadline=None, max_examples=12, derandomize=True)
@given(any_records(), st.booleans())
def test_whatever_is_recorded_gives_bounds_or_a_reason(records: Records, adaptive: bool) -> None:
    is_sensible(bounds(records, adaptive=adaptive))


@pytest.mark.parametrize("k", [2, 3, 7])
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
