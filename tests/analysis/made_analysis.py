"""Analyses made by hand, with every shape that a number can have: unbounded, empty, unknown."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from adhere.analysis.adaptive.aipw import AipwEstimate
from adhere.analysis.adaptive.allocation_check import AllocationCheck
from adhere.analysis.adaptive.confidence_sequence import ConfidenceSequence
from adhere.analysis.adaptive.randomisation_test import RandomisationTest
from adhere.analysis.analysis import Analysis
from adhere.analysis.bounding.bounds import Bound, Bounds, InstrumentalInequality
from adhere.analysis.estimates import Comparison, ConfidenceSet, Quantity, Shape, Validity, View
from adhere.analysis.findings import Subgroup
from adhere.analysis.fixed_sample.effects import Effects
from adhere.analysis.fixed_sample.means import ArmMean
from adhere.analysis.fixed_sample.principal_strata import PrincipalStrata
from adhere.analysis.flow import ArmFlow, Flow
from adhere.analysis.missing_outcomes.missing import LossByTaken, Missing
from adhere.analysis.missing_outcomes.sensitivity import COMPLETE_CASES, Alternative, Sensitivity, TippingPoint
from adhere.analysis.missing_outcomes.worst_case import ExtremeCase
from adhere.analysis.trust.estimands import estimands
from adhere.analysis.trust.mediation import ArmMediation, Mediation

UNKNOWN = Quantity(None, reason="nobody took the second arm")
OUTSIDE = ConfidenceSet(-0.6, 0.01, "Fieller", shape=Shape.OUTSIDE)
DELTA = ConfidenceSet(-0.02, 0.12, "delta method", Validity.APPROXIMATE)
NUMBER_NEEDED = ConfidenceSet(-100.0, 20.0, "Newcombe", shape=Shape.OUTSIDE)


def made(n_arms: int = 2, *, adaptive: bool = True, n_strata: int = 0, name: str = "headache") -> Analysis:
    """An analysis of so many arms; the numbers are made up."""
    arms = tuple(f"arm {number}" for number in range(n_arms))
    pairs = [(b, a) for a, b in combinations(arms, 2)]
    effects = Effects(_means(arms), tuple(one for pair in pairs for one in _compared(*pair)), ("The first note.",))
    bounds = Bounds(
        tuple(one for pair in pairs for one in _bounded(*pair)) + tuple(_bounded(arms[0], None)),
        InstrumentalInequality(
            False, -0.2, 0.0, "The data do not refute that assignment acts through what is taken."
        ),
    )
    sequences = tuple(one for pair in pairs for one in _sequences(*pair)) if adaptive else ()
    draft = Analysis(
        name=name,
        source="trial.csv",
        digest="sha256:" + "0f" * 32,
        head="",
        version="0.1.0",
        arms=arms,
        control=arms[0],
        level=0.95,
        n_patients=1000 * n_arms,
        is_binary=True,
        has_probabilities=adaptive,
        adaptive=adaptive,
        order="time",
        columns={"chosen": "TRTP"},
        flow=_flow(arms),
        missing=Missing(
            dict.fromkeys(arms, 12),
            dict.fromkeys(arms, 3),
            {},
            {},
            tuple(
                ExtremeCase(View.INTENTION_TO_TREAT, *pair, -0.01, 0.08, ConfidenceSet(-0.04, 0.11, "extreme cases"))
                for pair in pairs
            ),
            "12 outcomes of each arm are missing; the worst-case bounds say what they could change.",
            Sensitivity(
                tuple(
                    Alternative(View.INTENTION_TO_TREAT, *pair, COMPLETE_CASES, Quantity(0.04, n=1900, reason="few"))
                    for pair in pairs
                ),
                tuple(
                    TippingPoint(View.INTENTION_TO_TREAT, *pair, pair[0], 12, 0.5, True, (0.1, 0.9)) for pair in pairs
                ),
            ),
            LossByTaken(0.2, False, arms[0], {"took arm 0": 0.1}, "It is not seen that loss depends on it."),
        ),
        effects=effects,
        strata=_strata() if n_arms == 2 else PrincipalStrata(reason="Principal strata need two arms; here are more."),
        bounds=bounds,
        mediation=_mediation(arms),
        sequences=sequences,
        why_no_sequences="" if adaptive else "Without probabilities there are no confidence sequences.",
        aipw=tuple(
            AipwEstimate(
                View.INTENTION_TO_TREAT,
                *pair,
                Quantity(0.03, (ConfidenceSet(-0.01, 0.07, "AIPW", Validity.ADAPTIVE),)),
                "AIPW holds at one time fixed in advance.",
            )
            for pair in pairs
        ),
        allocation=AllocationCheck(
            arms,
            (1000,) * n_arms,
            (1001.5,) * n_arms,
            (-0.5,) * n_arms,
            -0.4,
            False,
            "Nothing speaks against the log.",
        )
        if adaptive
        else None,
        balance=None,
        randomisation=tuple(RandomisationTest(*pair, 0.03, 0.21, 9999, True, "") for pair in pairs[:1]),
        subgroups={f"stratum {number}": Subgroup(100, effects, ()) for number in range(n_strata)},
        estimands=(),
        warnings=("What was taken cannot be trusted here.",),
        verdict=("Trust the intention-to-treat view.", "The as-treated view misleads here."),
    )
    return replace(
        draft,
        estimands=estimands(draft),
    )


def _means(arms: tuple[str, ...]) -> tuple[ArmMean, ...]:
    mean = Quantity(0.5, (ConfidenceSet(0.45, 0.55, "Wilson"),), 1000)
    views = (View.INTENTION_TO_TREAT, View.AS_TREATED, View.PER_PROTOCOL)
    return tuple(ArmMean(view, arm, mean if arm != "arm 1" else UNKNOWN) for view in views for arm in arms)


def _compared(treatment: str, control: str) -> list[Comparison]:
    fixed = ConfidenceSet(-0.01, 0.07, "Newcombe")
    rest = {
        "ratio": Quantity(1.06, (ConfidenceSet(0.98, 1.15, "log"),)),
        "number_needed": Quantity(33.3, (NUMBER_NEEDED,)),
        "p_value": 0.12,
        "adjusted": {"Holm": 0.24},
    }
    said = {
        View.INTENTION_TO_TREAT: Quantity(0.03, (fixed,)),
        View.COMPLIERS: Quantity(0.05, (OUTSIDE, DELTA)),
        View.AS_TREATED: Quantity(0.2, (ConfidenceSet(0.15, 0.25, "Newcombe", Validity.APPROXIMATE),)),
        View.PER_PROTOCOL: UNKNOWN,
    }
    return [Comparison(view, treatment, control, one, **rest) for view, one in said.items()]  # type: ignore[arg-type]


def _bounded(treatment: str, control: str | None) -> list[Bound]:
    quantity, limits = "effect" if control else "mean", ConfidenceSet(-0.3, 0.4, "Clopper-Pearson")
    return [
        Bound(quantity, treatment, control, "none", -0.2, 0.3, limits),
        Bound(quantity, treatment, control, "monotonicity", None, None, None, "the data refute monotonicity"),
    ]


def _sequences(treatment: str, control: str) -> list[ConfidenceSequence]:
    times = np.arange(10, 1001, 10)
    ends = (np.maximum(-1.0, 0.03 - 2.0 / np.sqrt(times)), np.minimum(1.0, 0.03 + 2.0 / np.sqrt(times)))
    final = ConfidenceSet(float(ends[0][-1]), float(ends[1][-1]), "betting", Validity.ANY_TIME)
    empty = ConfidenceSet(math.inf, -math.inf, "betting", Validity.ANY_TIME, Shape.EMPTY)
    both = (View.INTENTION_TO_TREAT, final, None), (View.COMPLIERS, empty, 600)
    return [
        ConfidenceSequence(
            view, treatment, control, one, times, *ends, 0.03, 0.4, 1.0, 990, 10, drift, "Its target is constant."
        )
        for view, one, drift in both
    ]


def _flow(arms: tuple[str, ...]) -> Flow:
    share = Quantity(0.9, (ConfidenceSet(0.88, 0.92, "Wilson"),), 985)
    each = []
    for arm in arms:
        others = {other: 80 // (len(arms) - 1) for other in arms if other != arm}
        matrix = {other: share if other == arm else Quantity(0.08) for other in arms}
        shares = (share, matrix, Quantity(0.02), Quantity(0.0))
        each.append(ArmFlow(arm, 1000, 885, others, 20, 0, 10, 5, 0, 988, 0, 12, 5, *shares))
    total = replace(each[0], arm="all arms", assigned=1000 * len(arms), matrix={})
    return Flow(tuple(each), total, {"no arm assigned": 7}, ("Left out: 7 rows, no arm assigned.",))


def _strata() -> PrincipalStrata:
    share = Quantity(0.4, (ConfidenceSet(0.35, 0.45, "Wilson"),))
    return PrincipalStrata(
        {"always-takers": share, "never-takers": share, "compliers": share},
        {"always-takers": share, "compliers, treated": UNKNOWN},
        note="Without defiers.",
    )


def _mediation(arms: tuple[str, ...]) -> Mediation:
    each = tuple(
        ArmMediation(
            arm,
            dict.fromkeys(arms, 10),
            {other: Quantity(0.5) for other in arms},
            230.0,
            240.0,
            True,
            0.00001,
            True,
            Quantity(0.3, (ConfidenceSet(0.2, 0.4, "Newcombe"),)),
            False,
            "refuted",
        )
        for arm in arms
    )
    return Mediation(
        0.05, 0.95, each, 400.0, 410.0, True, None, None, False, "The outcome depends on what was assigned."
    )
