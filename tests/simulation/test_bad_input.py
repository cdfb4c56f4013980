"""Every mistake is one InputError that names the field."""

from __future__ import annotations

from typing import Any

import pytest

from adhere import InputError, simulate

GOOD: dict[str, Any] = {"policies": "thompson", "populations": "defiers", "n_patients": 10, "n_runs": 2}


BAD: dict[str, list[Any]] = {
    "n_patients": [0, -1, 1.5, 10.0, True, None, "10", 2**41],
    "n_runs": [0, -1, 2.5, False, None, "2", 2**41],
    "seed": [-1, 2**64, 0.5, True, None, "0"],
    "n_threads": [0, -2, 1.5, True, 5000, "2"],
    "grid": [0, -1, 11, True, [0], [11], [1.5], [True], [None], "5", 2.5],
    "policies": [[], ()],
    "populations": [[], ()],
}
CASES: list[tuple[dict[str, Any], str]] = [({field: bad}, field) for field in BAD for bad in BAD[field]]
CASES += [
    ({"policies": "tompson"}, "policy"),
    ({"policies": ""}, "policy"),
    ({"policies": "hedge"}, "policy"),
    ({"policies": None}, "policy"),
    ({"policies": ["thompson", 3]}, "policy"),
    ({"policies": {"gamma": 1}}, "policy"),
    ({"populations": "deviants"}, "population"),
    ({"populations": None}, "population"),
    ({"populations": 7}, "population"),
    ({"populations": ["defiers", 7]}, "population"),
    ({"populations": "no-such-file.csv"}, "file"),
    ({"policies": "thompson/credit[0 1 2; 0 1 2; 0 1 2]"}, "protocol"),
    ({"policies": "thompson/credit[0 1; 1 0]", "populations": "stroke-heparin"}, "protocol"),
    ({"policies": "hierarchical(experts=[ucb1, ucb1/credit[0 1 2; 0 1 2; 0 1 2]])"}, "protocol"),
    ({"policies": ["thompson", "ucb1", "Thompson/chosen"]}, "policies"),
    ({"populations": ["defiers", "defiers"]}, "populations"),
    ({"reference": "ucb1"}, "reference"),
    ({"reference": "thompson/actual"}, "reference"),
]


@pytest.mark.parametrize(("changed", "field"), CASES, ids=[str(changed)[:60] for changed, _ in CASES])
def test_a_mistake_names_its_field(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        simulate(**{**GOOD, **changed})
    assert field in caught.value.field
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (("defiers", "ucb1"), "policy: got 'ucb1', expected one of thompson"),
        (("stroke", "thompson"), "population: got 'stroke', expected one of defiers"),
    ],
)
def test_an_outcome_that_is_not_there(key: tuple[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        simulate(**GOOD)[key]


@pytest.mark.parametrize("method", ["difference", "trajectory"])
def test_a_measure_that_does_not_exist(method: str) -> None:
    with pytest.raises(InputError, match=r"^measure: .*surplus"):
        getattr(simulate(**GOOD)[0], method)("profit")


def test_an_arm_that_does_not_exist() -> None:
    with pytest.raises(InputError, match=r"^arm: .*control"):
        simulate(**GOOD)[0].allocation_trajectory("aspirin")
