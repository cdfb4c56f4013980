from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.populations import (
    ComplianceTypes,
    Count,
    Counts,
    Population,
    describe,
    rich_and_poor,
    stroke_heparin,
    uniform_corrective,
)

from .strategies import counts_populations, types_populations


def test_rich_and_poor() -> None:
    assert describe(rich_and_poor()).splitlines() == [
        "rich-and-poor: 2 arms (control, treatment), rewards 0, 1",
        "",
        "P(actual | chosen)  control  treatment",
        "chosen control      0.5000   0.5000",
        "chosen treatment    0.0000   1.0000",
        "",
        "                                            control  treatment",
        "E[R | chosen], Chosen (intention-to-treat)  0.6250   0.5000",
        "E[R | actual], Actual (as-treated)          0.5000   0.5833",
        "",
        "E[R | chosen, actual]  control  treatment",
        "chosen control         0.5000   0.7500",
        "chosen treatment       nobody   0.5000",
        "the diagonal is what Comply (per-protocol) learns; all arms equally often chosen",
        "",
        "compliance type  probability  control: takes, mean reward  treatment: takes, mean reward",
        "rich             0.5          treatment, 0.75              treatment, 0.75",
        "poor             0.5          control, 0.5                 treatment, 0.25",
        "",
        "arm credited  Chosen (intention-to-treat)  Actual (as-treated)  Comply (per-protocol)",
        "control       r(rich, treatment)",
        "              r(poor, control)             r(poor, control)     r(poor, control)",
        "treatment     r(rich, treatment)           r(rich, treatment)   r(rich, treatment)",
        "              r(poor, treatment)           r(poor, treatment)   r(poor, treatment)",
    ]


def test_the_stroke_trial_credits_its_source_and_has_no_compliance_types() -> None:
    text = describe(stroke_heparin())
    assert text.splitlines()[-1].startswith("data: Sandercock, Niewada, Członkowska (2011)")
    assert "compliance_type" not in text
    assert "Chosen (intention-to-treat)  none     9,711  0.9069 [0.9010, 0.9125]" in text


def test_a_random_prior_says_that_it_is_one() -> None:
    text = describe(uniform_corrective())
    assert "a fresh population for each run; all figures are averages over the prior" in text
    assert "0.5833" in text


def test_many_rewards_are_cut_short() -> None:
    rows = [Count(arm, arm, step / 10) for arm in ("a", "b") for step in range(11)]
    assert describe(Counts("scale", ("a", "b"), rows)).splitlines()[0].endswith("0, 0.1, 0.2, 0.3, 0.4, 0.5, …")


@settings(max_examples=25, deadline=None)
@given(st.one_of(types_populations(), counts_populations()))
def test_every_population_can_be_described(population: Population) -> None:
    text = describe(population)
    assert all(arm in text for arm in population.arms)
    assert "nan" not in text
    assert ("arm credited" in text) == isinstance(population, ComplianceTypes)
