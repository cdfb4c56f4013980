"""A design in plain sentences."""

from __future__ import annotations

from typing import Any

import pytest

from adhere.design.design_file import load_design
from adhere.design.words import in_words

ADAPTIVE: dict[str, Any] = {
    "name": "headache",
    "arms": ["walk", "aspirin", "tea"],
    "control": "walk",
    "n_patients": 400,
    "policy": "burn-in(floor(thompson/actual, share=0.2, rule=clip), patients=30)",
    "update": "at looks",
    "strata": ["young", "old"],
    "reward_values": [0, 0.5, 1],
    "blinded": True,
    "repeats": True,
    "rehearsal": True,
    "enrolment": {"per_day": 2, "random": True},
    "delay": {"days": 3, "distribution": "exponential", "by_arm": {"tea": 1}},
    "missing": {"outcome": {"rate": 0.05, "by_stratum": {"old": 0.1}},
                "taken": {"by_arm": {"tea": 0.1}, "after_failure": 0.3}},
    "impute": {"after_days": 30, "took_nothing": True, "reward": 0},
    "looks": {"at": [100, 200]},
    "stopping": {
        "by": "posterior",
        "superiority": [0.99, 0.98, 0.97],
        "inferiority": "1 - superiority",
        "equivalence": 0.9,
        "futility": 0.05,
        "margin": 0.02,
    },
}  # fmt: skip


def test_everything_a_design_has_is_said() -> None:
    assert in_words(load_design(ADAPTIVE)) == [
        "Rehearsal: not data of a trial.",
        "At most 400 patients are recommended walk, aspirin or tea; walk is the control.",
        "An outcome is 0, 0.5 or 1.",
        "Sites get kit codes instead of arms.",
        "A patient may get another recommendation while one is open.",
        "The first 30 patients are randomised in permuted blocks of 6, 9 or 12, within each of the strata young and "
        "old.",
        "Every arm keeps a probability of at least 20%; lower ones are raised to it.",
        "After them arms are recommended by thompson/actual, which credits each outcome to the arm taken.",
        "The probabilities of the arms stay as they are between looks.",
        "Patients are expected at random (Poisson), 2 a day.",
        "Outcomes are expected after 3 days (tea after 1 day) on average, exponentially.",
        "Of outcomes, 5% and 10% of old are expected to stay missing.",
        "Of reports of what was taken, 10% of tea and 30% of failures are expected to stay missing.",
        "What is missing after 30 days counts as nothing taken and an outcome of 0.",
        "The trial is looked at when 100 and 200 patients have outcomes, and at its end.",
        "A look decides by posterior probabilities, from the outcomes of each arm recommended and uniform priors.",
        "The trial stops for superiority once an arm is better than walk with a probability of 0.99, 0.98, 0.97 "
        "(look by look) or more.",
        "An arm is dropped for inferiority once it is better than walk with a probability of 0.01, 0.02, 0.03 "
        "(look by look) or less.",
        "For equivalence an arm is dropped once it differs from walk by less than 0.02 with a probability of 0.9 or "
        "more.",
        "An arm is dropped for futility once a gain of more than 0.02 over walk has a probability of 0.05 or less, "
        "but not at the last look. This rule is binding: type I errors rely on it.",
        "Effects are estimated by intention-to-treat (treatment policy) and among compliers (principal stratum).",
    ]


FIXED: dict[str, Any] = {"name": "t", "policy": "burn-in(uniform, patients=3)", "arms": ["a", "b"], "n_patients": 3}
TWO: dict[str, Any] = {"name": "t", "policy": "floor(uniform, control=0.3)", "arms": ["a", "b"]}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({**FIXED, "outcome_words": {"alive": 1, "died": 0}}, "An outcome is died (0) or alive (1)."),
        (FIXED, "All patients are randomised in permuted blocks of 4, 6 or 8."),
        ({**FIXED, "enrolment": {"days": [0, 2, 7]}}, "Patients are expected on given days, from day 0 to day 7."),
        ({**FIXED, "delay": {"days": 2, "distribution": "uniform"}}, "after 2 days on average, uniformly from 0."),
        ({**FIXED, "looks": {"every": 2}}, "looked at after every 2 patients with outcomes, and at its end."),
        ({**FIXED, "looks": {"days": [1, 2]}}, "looked at after days 1 and 2, and at its end."),
        (TWO, "Patients are randomised to a or b."),
        ({**TWO, "policy": "thompson"}, "Patients are recommended a or b."),
        (TWO, "a probability of at least 10%, and a of 30%; the policy decides on the rest."),
        (TWO, "Arms are drawn with equal probabilities."),
        ({**TWO, "policy": "hierarchical(thompson)", "n_patients": 9}, "recommended by hierarchical(thompson)."),
        ({**TWO, "policy": "ucb1/comply"}, "credits each outcome to the arm recommended, if it was taken."),
        ({**FIXED, "stopping": {"by": "belief", "superiority": 0.9}, "policy": "thompson"}, "own posterior"),
        ({**FIXED, "stopping": {"by": "belief", "superiority": 0.9}, "policy": "thompson"}, "once, at its end."),
        ({**FIXED, "stopping": {"by": "posterior", "inferiority": "1 - superiority"}}, "A look decides by posterior"),
        ({**FIXED, "stopping": {"by": "posterior", "futility": 0.1}}, "any gain over a has a probability of 0.1 or"),
        ({**FIXED, "stopping": {"by": "posterior", "equivalence": 0.9, "margin": 0.1}}, "all arms left differ by"),
        ({**FIXED, "stopping": {"by": "wealth", "alpha": 0.05}}, "worse than a if that holds at any time"),
        (
            {**FIXED, "stopping": {"by": "z-test", "boundary": "pocock", "alpha": 0.05, "futility": -1}},
            "beyond the boundary of Pocock, two-sided at level 0.05",
        ),
        ({**FIXED, "stopping": {"by": "z-test", "superiority": 2}}, "over a at a z of 2 or more."),
        ({**FIXED, "stopping": {"by": "z-test", "superiority": 2}}, "inferiority at a z of minus 2 or less."),
        ({**FIXED, "stopping": {"by": "z-test", "inferiority": 3}}, "inferiority at a z of minus 3 or less."),
        ({**FIXED, "stopping": {"by": "z-test", "equivalence": 1.6, "margin": 0.1}}, "1.6 standard errors, is"),
        ({**FIXED, "stopping": {"by": "z-test", "superiority": 2, "futility": -1}}, "last look. This rule is"),
    ],
)  # fmt: skip
def test_each_kind_of_design_has_its_sentence(fields: dict[str, Any], said: str) -> None:
    assert any(said in sentence for sentence in in_words(load_design(fields)))


def test_a_boundary_is_said_in_numbers() -> None:
    """Those of Jennison and Turnbull's Table 2.3, and their two-sided p."""
    stopping = {"by": "z-test", "boundary": "obrien-fleming", "alpha": 0.05}
    design = {**FIXED, "n_patients": 300, "looks": {"every": 100}, "stopping": stopping}
    assert (
        "Its critical values of |z|: 3.471 (p 0.0005) at 33.3% of the information, 2.454 (p 0.0141) at 66.7% and "
        "2.004 (p 0.0451) at the end."
    ) in in_words(load_design(design))
    many = in_words(load_design({**design, "looks": {"every": 20}}))
    assert any("at 13.3%, … and 2." in one and one.endswith("at the end.") for one in many)


@pytest.mark.parametrize("by", ["posterior", "z-test"])
def test_a_design_that_randomises_recommends_nothing(by: str) -> None:
    """Its words go into a protocol."""
    said = in_words(
        load_design({**FIXED, "repeats": True, "stopping": {"by": by, "superiority": 2 if by == "z-test" else 0.9}})
    )
    assert said[0] == "At most 3 patients are randomised to a or b."
    assert "recommend" not in " ".join(said).lower()
    assert any("the outcomes of each arm assigned" in one for one in said)
