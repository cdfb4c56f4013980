"""Goldens must tell a change from rounding: whatever changes is found, and the last bits are not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from .digests import differences, digest, fingerprint

RNG = np.random.default_rng(3)
VALUE: dict[str, Any] = {
    "policy": "thompson",
    "n": 70,
    "missing": None,
    "states": [[float(number) for number in RNG.gamma(2.0, 5.0, 20)] for _ in range(40)],
    "mean": 0.05333333333332935,
    "nothing": 0.0,
}


def compared(found: Any) -> list[str]:
    return list(differences({"entry": fingerprint(found)}, {"entry": fingerprint(VALUE)}, ""))


def everywhere(value: Any, change: Callable[[float], float]) -> Any:
    if isinstance(value, float):
        return change(value)
    if isinstance(value, dict):
        return {key: everywhere(item, change) for key, item in value.items()}
    return [everywhere(item, change) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("size", [0.0, 1e-15, -1e-13])
def test_rounding_is_no_difference(size: float) -> None:
    noise = np.random.default_rng(4)
    assert compared(everywhere(VALUE, lambda number: number * (1.0 + size * noise.standard_normal()))) == []
    assert compared(json.loads(json.dumps(VALUE))) == []


def test_each_number_counts_wherever_it_stands() -> None:
    for row in range(40):
        for place in range(20):
            changed = json.loads(json.dumps(VALUE))
            changed["states"][row][place] += 1e-4
            assert compared(changed) != [], (row, place)


def test_numbers_that_changed_places_are_found() -> None:
    for row in range(40):
        for one, other in pairwise(range(20)):
            changed = json.loads(json.dumps(VALUE))
            states = changed["states"][row]
            states[one], states[other] = states[other], states[one]
            assert compared(changed) != [], (row, one)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "thompson/actual"},
        {"n": 71},
        {"n": 70.0},
        {"missing": 0.0},
        {"mean": math.nan},
        {"mean": math.inf},
        {"nothing": 0},
        {"nothing": 1e-4},
        {"more": None},
        {"states": VALUE["states"][:-1]},
    ],
)
def test_what_is_exact_is_compared_exactly(change: dict[str, Any]) -> None:
    assert compared({**VALUE, **change}) != []


@pytest.mark.parametrize(
    ("found", "golden", "is_same"),
    [
        ({"arms": "010"}, {"arms": "011"}, False),
        ({"last": [0.3, 0.7]}, {"last": [0.3 + 1e-13, 0.7]}, True),
        ({"last": [0.3, 0.7]}, {"last": [0.3 + 1e-8, 0.7]}, False),
        ({"last": [0.3, 0.7]}, {"last": [0.3]}, False),
        ({"last": [0.3]}, {"last": [0.3], "more": 1}, False),
        ({"surplus": 0.0}, {"surplus": 4e-15}, True),
        ({"rows": 1}, {"rows": 1.0}, False),
    ],
)
def test_values_are_compared_one_by_one(found: Any, golden: Any, is_same: bool) -> None:
    assert (list(differences(found, golden)) == []) == is_same


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})
    assert fingerprint({"a": 1.5, "b": 2.5}) == fingerprint({"b": 2.5, "a": 1.5})


def test_bits_tell_two_checkouts_apart_where_sums_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("golden.digests.with_bits", True)
    changed = json.loads(json.dumps(VALUE))
    changed["states"][3][4] = math.nextafter(changed["states"][3][4], math.inf)
    assert fingerprint(changed)["bits"] != fingerprint(VALUE)["bits"] == fingerprint(dict(VALUE))["bits"]
