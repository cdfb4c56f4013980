from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adhere.analysis.adaptive.allocation_check import AllocationCheck
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.adaptive.randomisation_test import RandomisationTest
from adhere.analysis.analysis import Analysis
from adhere.analysis.bounding.bounds import Bounds, InstrumentalInequality, bounds
from adhere.analysis.estimates import ConfidenceSet, Validity, View
from adhere.analysis.findings import Subgroup
from adhere.analysis.fixed_sample.effects import effects
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.flow import flow
from adhere.analysis.missing_outcomes.missing import missing
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, Records
from adhere.analysis.trust.cautions import warnings
from adhere.analysis.trust.mediation import mediation
from adhere.analysis.trust.verdict import verdict
from adhere.populations import stroke_aspirin, stroke_heparin

from .made_records import MISSING, Row, any_records, made, of_counts
from .test_mediation import RICH_AND_POOR

NO_BOUNDS = Bounds((), InstrumentalInequality(False, -0.5, 0.0, "Not refuted."))


def analysed(records: Records, found: Bounds = NO_BOUNDS, **changes: Any) -> Analysis:
    """What the verdict reads of an analysis."""
    draft = Analysis(
        name=records.name,
        source=records.source,
        digest="",
        head="",
        version="0",
        arms=records.arms,
        control=records.arms[records.control],
        level=0.95,
        n_patients=records.n_patients,
        is_binary=records.is_binary,
        has_probabilities=True,
        adaptive=False,
        order="time",
        columns={},
        flow=flow(records),
        missing=missing(records, adaptive=False),
        effects=effects(records),
        strata=PrincipalStrata(),
        bounds=found,
        mediation=mediation(records, adaptive=False),
        sequences=(),
        why_no_sequences="",
        aipw=(),
        allocation=None,
        balance=None,
        randomisation=(),
        subgroups={},
        estimands=(),
        warnings=records.warnings,
        verdict=(),
    )
    return replace(draft, **changes)


def text(analysis: Analysis) -> str:
    return " ".join(verdict(analysis))


def test_stroke_trial_aspirin() -> None:
    records = of_counts(stroke_aspirin())
    said = verdict(analysed(records, bounds(records, adaptive=False), has_probabilities=False))
    assert said[0].startswith("Intention-to-treat is the view to trust first")
    assert "aspirin against none +0.004 [-0.004, 0.012]" in said[0]
    assert (
        said[1] == "Its interval holds if the probabilities of arms were fixed in advance and this is the only look."
    )
    assert said[2].startswith(
        "The effect among compliers (those who take the treatment if and only if assigned to it) can be"
    )
    assert said[3].startswith("Do not read as-treated (+0.012) and per-protocol (+0.008) as effects of the treatment")
    assert said[4].startswith("Those who took none fared differently depending on the arm they were assigned")
    assert "aspirin against none from -0.067 to +0.029" in said[-1]


def test_stroke_trial_heparin_is_not_decided() -> None:
    said = text(analysed(of_counts(stroke_heparin())))
    assert "Not finding a difference does not make these views safe." in said


def test_rich_and_poor() -> None:
    said = text(analysed(made(RICH_AND_POOR)))
    assert "or being assigned an arm did something by itself; either way, those who took different arms" in said
    assert "Do not read as-treated (+0.083) and per-protocol (0.000) as effects of the treatment here." in said
    assert "new against old -0.125" in said  # which the other two views have with the wrong sign, or not at all


def test_perfect_compliance() -> None:
    rows: list[Row] = [(0, 0, 1.0, 30), (0, 0, 0.0, 20), (1, 1, 1.0, 40), (1, 1, 0.0, 10)]
    said = verdict(analysed(made(rows)))
    assert len(said) == 2
    assert said[1].startswith("Everybody took the arm they were assigned: all views agree")
    with_unknown = text(analysed(made([*rows, (0, NOT_KNOWN, 1.0, 1)])))
    assert "Everybody of whom it is known took the arm they were assigned" in with_unknown


def test_compliers_need_random_assignment_and_reports_missing_at_random() -> None:
    assert "if arms were assigned at random, assignment acts only through" in text(analysed(made(PLAIN)))
    assert "and reports are missing at random" not in text(analysed(made(PLAIN)))
    for row in [(0, 0, MISSING, 5), (0, NOT_KNOWN, 1.0, 5)]:
        assert "and reports are missing at random" in text(analysed(made([*PLAIN, row])))


def test_of_three_arms_each_has_its_reason() -> None:
    rows = [(c, a, float(y), 60 if c == a else 20) for c in range(3) for a in range(3) for y in (0, 1)]
    said = text(analysed(made(rows, ["none", "low", "high"])))
    assert "some of those assigned low or none took a third arm; some of those assigned high or none took a" in said
    assert said.count("Kirkeboen") == 1


def test_effects_that_differ_by_stratum() -> None:
    shares = {"Leeds": (30, 70), "York": (70, 30)}
    groups = {
        name: made([(0, 0, 1.0, b), (0, 0, 0.0, 100 - b), (1, 1, 1.0, a), (1, 1, 0.0, 100 - a)])
        for name, (b, a) in shares.items()
    }
    opposite = {name: Subgroup(200, effects(one), ()) for name, one in groups.items()}
    whole = analysed(made(PLAIN))
    said = text(replace(whole, subgroups=opposite))
    assert "new against old differs from stratum to stratum (York -0.400 [-0.5" in said
    assert "Leeds +0.400 [0.2" in said
    assert "; test of one effect in all strata: p < 0.001): the effect over all patients hides different" in said
    same = dict.fromkeys("abc", opposite["York"])
    assert "differs from stratum" not in text(replace(whole, subgroups=same))


def test_nobody_reported_what_they_took() -> None:
    said = verdict(analysed(made([(0, NOT_KNOWN, 1.0, 30), (1, NOT_KNOWN, 0.0, 30)])))
    assert said[-1] == "It is not known what anybody took, so intention-to-treat is the only view there is."


def test_a_weak_instrument_says_nothing_of_compliers() -> None:
    rows = [(c, a, float(y), n + (c == a)) for c in (0, 1) for a in (0, 1) for y, n in ((0, 40), (1, 60))]
    said = text(analysed(made(rows)))
    assert "For new against old the effect among compliers" in said
    assert (
        "assignment changed what too few people took, and the confidence set is unbounded. Do not read the point "
        "estimate." in said
    )


def test_all_defiers_have_no_compliers() -> None:
    said = text(analysed(made([(0, 1, 1.0, 30), (0, 1, 0.0, 20), (1, 0, 1.0, 30)])))
    assert "There is no effect among compliers" in said
    assert "Do not rely on as-treated and per-protocol: no arm was taken by patients assigned to different" in said


@pytest.mark.parametrize(
    ("share", "sentence"), [(4, "This one check does not speak against reading as-treated"), (1, "says little")]
)
def test_alike_counts_only_where_assignment_changed_who_takes_what(share: int, sentence: str) -> None:
    rows: list[Row] = [
        (c, a, float(y), 4_000 * (share if c == a else 1)) for c in (0, 1) for a in (0, 1) for y in (0, 1)
    ]
    analysis = analysed(made(rows))
    assert analysis.mediation.equivalent
    assert sentence in text(analysis)
    adaptive = text(replace(analysis, adaptive=True))
    assert ("which do not hold under adaptive allocation" in adaptive) == (share == 4)


def test_a_refuted_instrument_forbids_complier_effects_and_bounds() -> None:
    records = made([(0, 0, 1.0, 300), (1, 0, 0.0, 200), (1, 1, 0.0, 100)])
    analysis = analysed(records, bounds(records, adaptive=False))
    said = text(analysis)
    assert "nor the bounds: the data refute that assignment acts only through what is taken" in said
    assert "For the effect if everybody took an arm" not in said
    assert analysis.bounds.inequality.sentence in warnings(analysis)


def test_bounds_of_up_to_three_treatments_are_named() -> None:
    rows = [(c, a, float(y), 20) for c in range(3) for a in range(3) for y in (0, 1)]
    records = made(rows, ("none", "low", "high"))
    whole = analysed(records, bounds(records, adaptive=False))
    said = text(whole)
    assert re.search(r"the bounds are what .*: low against none from .*\); high against none from .*\)\.$", said)
    more = [replace(one, treatment=f"arm {n}") for n, one in enumerate(whole.bounds.bounds[3:4] * 5)]
    assert "; and 2 more." in text(replace(whole, bounds=replace(whole.bounds, bounds=tuple(more))))


PLAIN: list[Row] = [(c, a, float(y), 30 + 40 * (c == a)) for c in (0, 1) for a in (0, 1) for y in (0, 1)]


def sequence(**changes: Any) -> ConfidenceSequence:
    final = ConfidenceSet(-0.1, 0.2, "betting", Validity.ANY_TIME)
    times, ends = np.array([200]), np.array([0.2])
    plain = ConfidenceSequence(
        View.INTENTION_TO_TREAT, "new", "old", final, times, -ends, ends, 0.05, 0.0, 1.0, 400, 0, None, ""
    )
    return replace(plain, **changes)


def test_adaptive_allocation() -> None:
    records = made(PLAIN)
    told = analysed(records, adaptive=True, sequences=(sequence(),))
    assert "new against old +0.050 [-0.100, 0.200], any-time valid" in text(told)
    assert any("Read the any-time valid ones." in one for one in warnings(told))

    everything = ConfidenceSet(-1.0, 1.0, "betting", Validity.ANY_TIME)
    useless = analysed(records, adaptive=True, sequences=(sequence(view=View.COMPLIERS, final=everything),))
    assert "the any-time valid set contains every possible effect. Do not read the point estimate." in text(useless)
    assert "too few people took" not in text(useless)  # most took what they were assigned

    drifting = analysed(records, adaptive=True, sequences=(sequence(drift_at=50),))
    assert "The effect changed over time (drift), so no single number describes it." in text(drifting)
    assert any(
        one.startswith("Drift: after 50 decisions no constant effect (intention-to-treat")
        for one in warnings(drifting)
    )

    refused = analysed(records, adaptive=True, why_no_sequences="The probabilities were estimated.")
    assert "No interval for it holds under this adaptive allocation. The probabilities were estimated." in text(
        refused
    )
    assert (
        "The allocation was adaptive: fixed-sample intervals do not hold for it. The probabilities were estimated."
        in (warnings(refused))
    )

    partly = analysed(records, adaptive=True, sequences=(sequence(n_used=380),))
    assert any(one.startswith("Any-time valid sets leave out 20 of 400 patients") for one in warnings(partly))

    unknown = analysed(records, has_probabilities=False)
    assert any("they are not valid if arms were assigned by earlier outcomes" in one for one in warnings(unknown))


def test_who_took_none_of_the_arms_counts_as_having_taken_the_control() -> None:
    rows: list[Row] = [
        (0, 0, 1.0, 200),
        (0, 0, 0.0, 100),
        (1, 1, 1.0, 180),
        (1, 1, 0.0, 60),
        (1, TOOK_NOTHING, 0.0, 60),
    ]
    assert "60 took none of the arms, and this effect counts them as if they had taken old" in text(
        analysed(made(rows))
    )
    assert "took none of the arms" not in text(analysed(made(PLAIN)))


def test_the_randomisation_test() -> None:
    tested = RandomisationTest("new", "old", 0.1, 0.016, 10_000, True, "")
    assert "new against old p 0.016." in text(analysed(made(PLAIN), randomisation=(tested,)))
    refused = RandomisationTest("new", "old", None, None, 0, False, "Not run.")
    assert "randomisation test" not in text(analysed(made(PLAIN), randomisation=(refused,)))


def test_missing_outcomes() -> None:
    fixed = analysed(made([*PLAIN, (0, 0, MISSING, 1)]))
    assert "that is right only if they are missing at random given these" in text(fixed)
    adaptive = text(replace(fixed, adaptive=True, sequences=(sequence(n_pending=1),)))
    assert "Missing and pending outcomes enter the any-time valid set at their worst case" in adaptive
    assert "missing at random given these" not in adaptive


def test_arms_that_were_not_drawn_as_logged() -> None:
    check = AllocationCheck(("old", "new"), (10, 90), (50.0, 50.0), (9.0, 9.0), 9.0, True, "Not drawn as logged.")
    analysis = analysed(made(PLAIN), allocation=check)
    assert "even this view can be biased" in text(analysis)
    assert "Not drawn as logged." in warnings(analysis)


@pytest.mark.parametrize(
    ("rows", "warning"),
    [
        ([], "There are no patients, so nothing can be estimated."),
        ([(0, 0, MISSING, 30), (1, 1, MISSING, 30)], "No outcome is known, so no effect can be estimated."),
        ([(0, 0, 1.0, 30), (1, 1, 1.0, 30)], "Every known outcome is 1, so no view can show a difference."),
        ([(0, 0, 0.0, 30), (1, 1, 1.0, 3)], "Few outcomes are known (new: 3): intervals are wide"),
        ([*PLAIN, (0, 0, MISSING, 40)], "9% of outcomes are missing: enough to matter."),
        (
            [*PLAIN, (0, 0, MISSING, 40)],
            "Outcomes are missing for 17% of those assigned old, and for 0% of those assigned new. Loss that differs",
        ),
        ([*PLAIN, (0, 0, MISSING, 400)], "50% of outcomes are missing: so much that results may mislead"),
        (
            [(0, 0, 1.0, 30), (0, 0, 0.0, 30)],
            "Nobody was assigned to new, so nothing can be said about assigning it.",
        ),
        ([(0, 0, 1.0, 30), (1, TOOK_NOTHING, 0.0, 30)], "Nobody took new, so nothing can be said about taking it."),
    ],
)
def test_warnings(rows: list[Row], warning: str) -> None:
    assert any(one.startswith(warning) for one in warnings(analysed(made(rows))))


def test_warnings_that_records_came_with_are_sentences_and_come_first() -> None:
    imputed = np.array([True, *[False] * (len(PLAIN) - 1)])
    records = made(PLAIN, warnings=("arms 'New' and 'new' differ in case alone",), imputed_reward=imputed)
    first, *others = warnings(analysed(records))
    assert first == "Arms 'New' and 'new' differ in case alone."
    assert others == ["70 values were filled in by the trial's rule for missing reports and counted as reported."]


@settings(max_examples=40, deadline=None)
@given(any_records())
def test_whatever_the_records_there_are_sentences(records: Records) -> None:
    analysis = analysed(records)
    said = [*verdict(analysis), *warnings(analysis), analysis.mediation.sentence, analysis.missing.sentence]
    assert verdict(analysis)
    for sentence in said:
        assert sentence[-1] in ".)"
        assert not {"nan", "None", "inf", "inf,"} & set(sentence.replace("[", " ").replace("]", " ").split())
