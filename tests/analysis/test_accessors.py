"""One effect by its view and arms, its interval, and every estimate in a frame."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import adhere
from adhere.analysis.analyse import analyse_records
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Shape, View
from adhere.errors import InputError

from .adaptive_trial import adaptive_trial
from .made_records import made

ROWS = [(0, 0, 1.0, 30), (0, 0, 0.0, 70), (1, 1, 1.0, 45), (1, 1, 0.0, 35), (1, 0, 0.0, 20)]


def test_an_effect_is_found_by_its_view_and_arms() -> None:
    analysis = analyse_records(made(ROWS))
    control, treatment = analysis.arms
    found = analysis.effect("Compliers", treatment)
    assert found is analysis.effect(View.COMPLIERS, treatment, control)
    assert (found.view, found.pair) == (View.COMPLIERS, (treatment, control))
    assert found.estimate == found.difference.value
    assert found.conf_int() == (found.difference.sets[0].low, found.difference.sets[0].high)
    with pytest.raises(InputError, match=r"view: got 'complier', expected one of .* mean 'compliers'"):
        analysis.effect("complier", treatment)
    with pytest.raises(InputError, match=f"got '{control} against {treatment}', expected one of {treatment} against"):
        analysis.effect("compliers", control, treatment)


def test_an_effect_is_stratified_if_that_one_has_an_estimate() -> None:
    north, south = [(*row[:3], row[3]) for row in ROWS], [(*row[:3], 2 * row[3]) for row in ROWS]
    strata = [0] * len(north) + [1] * len(south)
    analysis = analyse_records(made([*north, *south], strata=("north", "south"), stratum=strata))
    assert analysis.effect("intention-to-treat", analysis.arms[1]).stratified
    assert not analysis.effect("as-treated", analysis.arms[1]).stratified


def test_ends_of_sets_that_are_no_interval() -> None:
    def ends(*sets: ConfidenceSet) -> tuple[float, float]:
        quantity = Quantity(0.1, sets)
        return Comparison(View.COMPLIERS, "a", "b", quantity, quantity, quantity).conf_int()

    assert ends(ConfidenceSet(-0.2, 0.3, "", shape=Shape.OUTSIDE)) == (-math.inf, math.inf)
    assert ends(ConfidenceSet(0.0, 0.0, "", shape=Shape.EVERYTHING)) == (-math.inf, math.inf)
    assert all(
        math.isnan(end) for given in ((), (ConfidenceSet(1, 0, "", shape=Shape.EMPTY),)) for end in ends(*given)
    )


def test_every_estimate_is_a_row_of_a_frame() -> None:
    analysis = adhere.analyse("stroke-heparin")
    frame = analysis.to_polars()
    assert frame.columns == ["treatment", "control", "view", "method", "estimate", "low", "high", "holds"]
    assert set(frame.select("treatment", "control").unique().rows()) == set(analysis.pairs)
    row = frame.filter(view="intention-to-treat", treatment=analysis.arms[1], control=analysis.control).to_dicts()[0]
    found = analysis.effect("intention-to-treat", analysis.arms[1])
    assert (row["estimate"], row["low"], row["high"]) == (found.difference.value, *found.conf_int())
    assert analysis.to_pandas().shape == frame.shape


def test_an_effect_is_short_when_printed_and_has_a_frame() -> None:
    found = adhere.analyse("stroke-aspirin").effect("compliers", "aspirin")
    assert repr(found) == "<Comparison: compliers, aspirin against none: 0.0043 [-0.005, 0.013], p = 0.34>"
    frame = found.to_frame()
    assert frame["quantity"].unique(maintain_order=True).to_list() == ["difference", "ratio", "number_needed"]
    first = frame.row(0, named=True)
    assert (first["estimate"], first["low"], first["high"]) == (found.estimate, *found.conf_int())
    assert frame.filter(quantity="number_needed")["shape"].to_list() == ["outside", "outside"]
    nothing = found.without(Quantity(None, (), reason="there are no compliers"))
    assert repr(nothing) == "<Comparison: compliers, aspirin against none: there are no compliers>"
    assert nothing.estimate is None
    assert nothing.to_frame().is_empty()


def test_of_an_adaptive_trial_an_effect_is_the_any_time_valid_one() -> None:
    analysis = analyse_records(adaptive_trial(3, 120))
    treatment, sequence = analysis.arms[1], analysis.sequences[0]
    found = analysis.effect(sequence.view, treatment)
    assert (found.estimate, found.p_value) == (sequence.estimate, sequence.p_value)
    assert found.conf_int() == (sequence.final.low, sequence.final.high)
    assert found.to_frame().row(0, named=True)["holds"] == "any-time valid"
    nameless = replace(found, difference=replace(found.difference, value=None))
    assert repr(nameless).startswith(
        f"<Comparison: intention-to-treat, arm 1 against arm 0: no estimate {sequence.final}"
    )
