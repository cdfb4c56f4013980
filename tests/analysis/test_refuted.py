from __future__ import annotations

from adhere.analysis.analyse import analyse_records
from adhere.analysis.bounding.bounds import Bound, bounds
from adhere.analysis.estimates import Shape, Validity, View
from adhere.analysis.output.effect_rows import REFUTED, effect_rows

from .made_records import Row, made

# More take the treatment when assigned the control: by more than chance.
DEFIERS: list[Row] = [
    *((1, 1, 1.0, 15), (1, 1, 0.0, 10), (1, 0, 1.0, 30), (1, 0, 0.0, 45)),
    *((0, 1, 1.0, 25), (0, 1, 0.0, 25), (0, 0, 1.0, 20), (0, 0, 0.0, 30)),
]
# Those who took the control fared as they were assigned: Pearl's inequality fails.
NOT_EXCLUDED: list[Row] = [
    *((1, 1, 1.0, 30), (1, 1, 0.0, 5), (1, 0, 1.0, 60), (1, 0, 0.0, 5)),
    *((0, 1, 1.0, 5), (0, 1, 0.0, 5), (0, 0, 1.0, 10), (0, 0, 0.0, 90)),
]


def monotone(found: tuple[Bound, ...]) -> list[Bound]:
    return [one for one in found if one.assumption == "monotonicity"]


def test_defiers_leave_no_strata_no_monotone_bounds_and_one_true_sentence() -> None:
    found = analyse_records(made(DEFIERS))
    assert list(found.refuted) == ["monotonicity"]
    assert not found.strata.shares
    assert found.strata.reason.startswith("The data refute that there are no defiers: 50.0% of those assigned old")
    for one in monotone(found.bounds.bounds):
        assert (one.low, one.high, one.reason) == (None, None, found.strata.reason)
        assert one.limits is not None
        assert (one.limits.validity, one.limits.shape) == (Validity.REFUTED, Shape.EMPTY)
    assert all(one.low is not None for one in found.bounds.bounds if one.assumption == "none")
    text = found.summary()
    assert "violate the instrumental inequality" not in text
    assert "with monotonicity                         –  empty            refuted: does not hold" in text
    assert any("the data refute that nobody does the opposite" in one for one in found.verdict)
    assert found.strata.reason in found.warnings


def test_where_assignment_acts_otherwise_nothing_that_rests_on_it_is_said_to_hold() -> None:
    found = analyse_records(made(NOT_EXCLUDED))
    assert list(found.refuted) == ["exclusion"]
    rows = effect_rows(found, "new", "old")
    assert {row.kind for row in rows if row.view.startswith(("compliers", "bounds"))} == {REFUTED}
    assert {row.holds for row in rows if row.view == "intention-to-treat"} == {"fixed-sample"}
    strata = [*found.strata.shares.values(), *found.strata.means.values()]
    assert {one.validity for quantity in strata for one in quantity.sets} == {Validity.REFUTED}
    untreated = found.strata.means["compliers, untreated"]  # it would be -1.965
    assert (untreated.value, untreated.reason) == (None, found.bounds.inequality.sentence)
    compliers = next(one for one in found.effects.comparisons if one.view is View.COMPLIERS)
    assert (compliers.number_needed.value, compliers.p_value) == (None, None)
    assert found.to_json()["effects"]["comparisons"][1]["difference"]["sets"][0]["validity"] == REFUTED


def test_bounds_that_assume_more_are_no_wider_where_chance_explains_defiers() -> None:
    rows: list[Row] = [(1, 1, 1.0, 6), (1, 1, 0.0, 6), (1, 0, 1.0, 5), (1, 0, 0.0, 13)]
    rows += [(0, 1, 1.0, 8), (0, 1, 0.0, 7), (0, 0, 1.0, 9), (0, 0, 0.0, 6)]
    found = bounds(made(rows), adaptive=False).bounds
    for less, more in zip((one for one in found if one.assumption == "none"), monotone(found), strict=True):
        assert "violate the instrumental inequality" in more.reason
        assert less.low is not None
        assert less.high is not None
        assert more.low is not None
        assert more.high is not None
        assert less.low <= more.low <= more.high <= less.high
