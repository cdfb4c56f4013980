"""What looks compare with which thresholds, in words: of every kind of rules."""

from __future__ import annotations

import math
from typing import Any

import pytest

from adhere.design.make_design import make_design
from adhere.design.make_look_rules import LookNames
from adhere.design.parts import Looks, Stopping


@pytest.mark.parametrize(
    ("stopping", "control", "said", "values"),
    [
        (
            {"by": "posterior", "superiority": (0.99, 0.98), "equivalence": 0.9, "futility": 0.1, "margin": 0.05},
            "walk",
            {
                "superiority": ("probability of being better", 0.99, None),
                "equivalence": ("probability of being alike", 0.9, None),
                "futility": ("probability of gaining more than the margin", None, 0.1),
            },
            {"probability of being better": 1.0, "probability of being alike": 3.0,
             "probability of gaining more than the margin": 4.0},
        ),
        (
            {"by": "belief", "superiority": 0.99, "inferiority": 0.25},
            None,
            {
                "superiority": ("probability of being best", 0.99, None),
                "inferiority": ("probability of being best", None, 0.25),
            },
            None,
        ),
        (
            {"by": "z-test", "superiority": (2.5, 2.0), "equivalence": 1.5, "margin": 0.05, "futility": 0.5},
            "walk",
            {
                "superiority": ("z", 2.5, None),
                "inferiority": ("z", None, -2.5),
                "equivalence": ("difference and its error", None, 0.05),
                "futility": ("z", None, 0.5),
            },
            None,
        ),
        (
            {"by": "wealth", "alpha": 0.05},
            "walk",
            {
                "superiority": ("log wealth of the bet on better", math.log(40), None),
                "inferiority": ("log wealth of the bet on worse", math.log(40), None),
            },
            {"log wealth of the bet on better": 1.0, "log wealth of the bet on worse": 2.0},
        ),
    ],
)  # fmt: skip
def test_numbers_have_names_and_their_thresholds(
    stopping: dict[str, Any], control: str | None, said: dict[str, Any], values: dict[str, float] | None
) -> None:
    looks, arms = Looks(at=(50,)), ("walk", "aspirin")
    design = make_design(
        "t", "thompson", arms, n_patients=100, looks=looks, control=control, stopping=Stopping(**stopping)
    )
    names = LookNames(design)
    assert {name: (one.of, one.at_least, one.at_most) for name, one in names.thresholds(0).items()} == said
    if values is not None:
        found = (1.0, 2.0, None, None) if stopping["by"] == "wealth" else (1.0, 1.0, 3.0, 4.0)
        assert names.named(found) == values
