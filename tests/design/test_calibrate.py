"""Calibration and sample size, against what theory says of a fixed design."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist

import msgspec
import pytest

import adhere
from adhere.design.calibrate import calibrate
from adhere.design.named_number import with_number
from adhere.design.sample_size import sample_size
from adhere.design.settled_number import Tried
from adhere.errors import InputError
from adhere.trial.design import Design
from adhere.trial.design_parts import MIRRORED, Looks, Stopping

ARMS = ("old", "new")
# Half of the patients on each arm, in permuted blocks, one look at the end: what textbooks have formulas for.
FIXED = Design(
    "fixed",
    "burn-in(uniform, patients=400, block=4)",
    ARMS,
    n_patients=400,
    control="old",
    stopping=Stopping("z-test", superiority=1.0),
)
ADAPTIVE = Design(
    "adaptive",
    "thompson",
    ARMS,
    n_patients=100,
    looks=Looks(at=(50,)),
    stopping=Stopping("posterior", superiority=0.9, inferiority=MIRRORED),
)
SCENARIOS = {"effect": 0.2, "compliance": 1.0}
N = 3_000


def test_the_critical_value_of_a_single_look() -> None:
    tried: list[Tried] = []
    found = calibrate(FIXED, scenarios=SCENARIOS, n_trials=N, progress=False, on_tried=tried.append)
    assert found.number == "stopping.superiority"
    assert [null.name for null in found.nulls] == ["sharp null, compliance 100%", "average null, compliance 100%"]
    assert found.worst_null in found.nulls
    # A two-sided z-test: what it aims for is below 0.05 by what N trials cannot tell.
    true = 2.0 * (1.0 - NormalDist().cdf(found.value))
    assert 0.025 < true < 0.05
    assert found.error.low is not None
    assert found.error.high is not None
    assert found.error.low < true < found.error.high
    assert found.is_confirmed == (found.settled.upper_limit <= 0.05)
    assert found.design == with_number(FIXED, "stopping.superiority", found.value)
    assert list(found.settled.tried) == tried
    assert {one.seed for one in tried} >= {0, 1}
    assert "ith 95% confidence the type I error is at most 0.0" in found.how_sure
    assert "under every one of these 2 nulls" in found.summary().replace("\n", " ")
    assert f"stopping.superiority = {found.value:.6g}" in found.summary()
    assert f"on average over all nulls {found.average_error:.4f}" in found.summary(500)
    assert "30,000 trials of each would aim at 0.046" in found.summary(500)
    assert max(map(len, found.summary(60).splitlines())) <= 60
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["value"] == found.value
    assert repr(found).startswith(f"Calibration(stopping.superiority = {found.value:.6g}, type I error 0.0")
    assert found.to_polars().columns == ["scenario", "stopping.superiority", "n_trials", "seed", "type_one"]
    assert calibrate(FIXED, scenarios=SCENARIOS, n_trials=N, progress=False, n_threads=1) == found


def test_the_size_of_a_single_look() -> None:
    design = with_number(FIXED, "stopping.superiority", 1.96)
    found = sample_size(design, power=0.9, scenarios=SCENARIOS, n_trials=N, progress=False)
    # Fleiss' formula for proportions of 0.5 and 0.7.
    pooled, own = math.sqrt(2 * 0.6 * 0.4), math.sqrt(0.5 * 0.5 + 0.7 * 0.3)
    expected = 2.0 * ((1.96 * pooled + 1.2816 * own) / 0.2) ** 2
    assert expected < found.n_patients < 1.2 * expected
    assert found.is_confirmed
    assert found.power_found.low is not None
    assert found.power_found.low >= 0.9
    assert found.design.policy == f"burn-in(uniform, patients={found.n_patients}, block=4)"
    assert found.scenario.name == "effect 0.2, compliance 100%"
    assert f"n_patients = {found.n_patients}" in found.summary()
    assert found.n_patients_estimated is not None
    assert found.n_patients_estimated == pytest.approx(expected, rel=0.08)
    assert found.n_patients_estimated < found.n_patients
    assert f"About {found.n_patients_estimated} patients have a power of 0.9" in found.summary(500)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["n_patients"] == found.n_patients
    assert "SampleSize(n_patients = " in repr(found)


def test_the_worst_null_of_a_grid_of_compliance() -> None:
    found = calibrate(ADAPTIVE, type_one=0.2, n_trials=400, progress=False)
    assert {null.compliance for null in found.nulls} == {1.0, 0.8, 0.6}
    assert {null.null for null in found.nulls} == {"sharp", "average"}
    assert found.notes == (
        "scenarios: none were given, so these are the default: baseline 0.5, compliance 100% and 80% and 60%, "
        "confounding 0.2, average null ±0.2",
    )
    assert f"note: {found.notes[0][:40]}" in found.summary()
    assert found.error.mean == max(error.mean for error in found.settled.errors)
    assert found.error.mean < 0.2
    alone = msgspec.structs.replace(found.design, estimands=())
    again = adhere.evaluate(alone, list(found.nulls), 400, seed=found.settled.tried[-1].seed, progress=False)
    worst = again[found.worst_null, 0]
    assert worst.moments.mean[worst.columns.where("false_claim", 2)] == pytest.approx(found.error.mean)


def test_a_file_brings_its_own_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    path.write_text(f"{FIXED.to_toml()}\n[scenarios]\neffect = [0.3]\ncompliance = [1.0]\naverage_null = 0.0\n")
    found = calibrate(path, n_trials=200, progress=False)
    assert [null.name for null in found.nulls] == ["sharp null, compliance 100%"]
    assert "under this null (200 fresh trials)" in found.how_sure
    assert sample_size(str(path), n_trials=200, progress=False).scenario.name == "effect 0.3, compliance 100%"


def test_what_cannot_be_reached_is_said() -> None:
    never = with_number(ADAPTIVE, "stopping.superiority", 0.99)
    with pytest.raises(
        InputError, match=r"from 0.999 to 0.9999 the error stays below 0.3: every one of these values"
    ):
        calibrate(never, type_one=0.3, between=(0.999, 0.9999), n_trials=200, progress=False)
    with pytest.raises(InputError, match=r"from 0.51 to 0.55 the error stays above 0.05: something else"):
        calibrate(never, between=(0.51, 0.55), n_trials=200, progress=False)
    with pytest.raises(
        InputError,
        match=r"power stays below 0.9 up to 5,000 patients, 50 times the .*100, in scenario 'effect 0.001.*; begin",
    ):
        sample_size(never, scenarios={"effect": 0.001, "compliance": 1.0}, n_trials=200, progress=False)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"type_one": 0.0}, "type_one: got 0.0, expected a number above 0 and below 0.5"),
        ({"type_one": math.nan}, "type_one: got nan"),
        ({"n_trials": 10}, "n_trials: got 10, expected a whole number from 200"),
        ({"number": "stopping.superiorty"}, "did you mean 'stopping.superiority'?"),
        ({"number": "policy.share"}, "number: got 'policy.share'"),
        ({"number": "n_patients"}, "n_patients: between which two numbers to search?"),
        ({"scenarios": "stroke-aspirin"}, "scenarios"),
        ({"seed": -1}, "seed: got -1"),
        ({"number": 5}, "number: got 5, expected the name of a number, such as stopping.superiority"),
        ({"between": 5}, "between: got 5, expected two numbers, the lower one first"),
        ({"between": "ab"}, "between: got 'ab', expected two numbers"),
        ({"type_one": 1e-4, "n_trials": 300}, "n_trials: got 300, expected at least 47,873 to show a rate of 0.0001"),
    ],
)
def test_what_makes_no_calibration(given: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as error:
        calibrate(ADAPTIVE, **given)  # type: ignore[arg-type]
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"power": 1.0}, "power: got 1.0, expected a number from 0.5 and below 1"),
        (
            {},
            "several scenarios have a difference; choose one with scenario (--scenario): 'effect 0.1, compliance",
        ),
        ({"scenario": "effect 0.1, complience 100%"}, "did you mean 'effect 0.1, compliance 100%'?"),
        ({"scenario": 5}, "scenario: got 5, expected one of 'effect 0.1, compliance 100%'"),
    ],
)
def test_what_makes_no_sample_size(given: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as error:
        sample_size(ADAPTIVE, **given)  # type: ignore[arg-type]
    assert says in str(error.value)
