"""Calibration and sample size, against what theory says of a fixed design."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist

import msgspec
import numpy as np
import pytest
from scipy import stats

import adhere
from adhere.design.design import Design
from adhere.design.parts import MIRRORED, Looks, Stopping
from adhere.errors import InputError
from adhere.evaluation.scenarios.scenarios import read_scenarios
from adhere.evaluation.search.calibration import calibrate
from adhere.evaluation.search.confirmed_number import ConfirmedNumber, Tried
from adhere.evaluation.search.named_number import with_number
from adhere.evaluation.search.sample_size import SampleSize, sample_size
from adhere.intervals import Estimate

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
# A single look at arms drawn by a fair coin: a boundary with one look has the level that it is given.
SINGLE = Design("single", "uniform", ARMS, n_patients=101, stopping=Stopping("z-test", boundary="pocock", alpha=0.03))
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


def exact_level(design: Design) -> float:
    """The level at which a single look at two arms, each patient's drawn by a fair coin, errs in 5% of trials.

    All outcomes are successes with probability 0.5. The probabilities of all numbers of patients and of successes
    are added up.
    """
    n = design.n_patients or 0
    statistics, probabilities = [], []
    for n_new in range(1, n):
        n_old = n - n_new
        new, old = np.arange(n_new + 1)[:, None], np.arange(n_old + 1)[None, :]
        p = (new + old) / n
        with np.errstate(invalid="ignore"):
            z = np.abs(new / n_new - old / n_old) / np.sqrt(p * (1 - p) * (1 / n_new + 1 / n_old))
        probability = stats.binom.pmf(new, n_new, 0.5) * stats.binom.pmf(old, n_old, 0.5)
        statistics.append(np.nan_to_num(z).ravel())
        probabilities.append(stats.binom.pmf(n_new, n, 0.5) * probability.ravel())
    every = np.concatenate(statistics)
    order = np.argsort(-every)
    error = np.cumsum(np.concatenate(probabilities)[order])
    return float(2.0 * stats.norm.sf(every[order][np.searchsorted(error, 0.05)]))


@pytest.mark.slow
def test_the_level_of_a_boundary_that_is_exact() -> None:
    """One look: the boundary's level is the error, so that calibrating it gives back about 0.05."""
    exact = exact_level(SINGLE)
    assert exact == pytest.approx(0.05, abs=0.001)
    found = calibrate(SINGLE, n_trials=20_000, progress=False)
    assert found.number == "stopping.alpha"
    assert len(found.nulls) == 6
    assert found.value == pytest.approx(exact, abs=3.0 * math.sqrt(0.05 * 0.95 / 20_000))
    assert found.is_confirmed
    assert found.error.low is not None
    assert found.error.high is not None
    assert found.error.low < 0.05 < found.error.high


@pytest.mark.slow
def test_the_critical_value_of_a_single_look() -> None:
    found = calibrate(FIXED, scenarios=SCENARIOS, n_trials=N, progress=False)
    true = 2.0 * (1.0 - NormalDist().cdf(found.value))
    assert true == pytest.approx(0.05, abs=0.012)
    assert not found.conservative
    shown, whole = found.error, found.summary(500)
    assert f"{found.worst_null.name}  " in whole
    assert f"{shown.mean:.4f}  [{shown.low:.4f}, {shown.high:.4f}]" in whole
    assert f"fresh trials err in {shown.mean:.2%} [{shown.low:.2%}, {shown.high:.2%}]" in whole
    assert "--conservative" in whole
    assert found.to_json()["conservative"] is False
    assert max(map(len, found.summary(60).splitlines())) <= 60


def test_the_conservative_critical_value_of_a_single_look() -> None:
    tried: list[Tried] = []
    found = calibrate(
        FIXED, scenarios=SCENARIOS, n_trials=N, progress=False, on_tried=tried.append, conservative=True
    )
    assert found.conservative
    assert found.number == "stopping.superiority"
    assert [null.name for null in found.nulls] == ["sharp null, compliance 100%", "average null, compliance 100%"]
    assert found.worst_null in found.nulls
    # A two-sided z-test: what it aims for is below 0.05 by what N trials cannot tell.
    true = 2.0 * (1.0 - NormalDist().cdf(found.value))
    assert 0.025 < true < 0.05
    assert found.error.low is not None
    assert found.error.high is not None
    assert found.error.low < true < found.error.high
    assert found.is_confirmed == (found.confirmation.upper_limit <= 0.05)
    assert found.design == with_number(FIXED, "stopping.superiority", found.value)
    assert list(found.confirmation.tried) == tried
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
    assert found == calibrate(FIXED, scenarios=SCENARIOS, n_trials=N, progress=False, n_threads=1, conservative=True)


def test_the_size_of_a_single_look() -> None:
    design = with_number(FIXED, "stopping.superiority", 1.96)
    found = sample_size(design, power=0.9, scenarios=SCENARIOS, n_trials=N, seed=1, progress=False)
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
    assert found.n_patients_estimated == pytest.approx(expected, rel=0.08)
    assert found.n_patients_estimated < found.n_patients
    assert f"About {found.n_patients_estimated} patients have a power of 0.9" in found.summary(500)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["n_patients"] == found.n_patients
    assert "SampleSize(n_patients = " in repr(found)


@pytest.mark.parametrize(("rate", "about"), [(0.08, 372), (0.1, 400), (0.12, 429), (0.0, 137)])
def test_about_how_many_patients_is_said_after_one_size(rate: float, about: int) -> None:
    """The power at a single size follows a z-test: its probit is a straight line over the root of the size."""
    confirmed = ConfirmedNumber(400, (Estimate(rate, 0.0, rate, rate),), (Tried(400, N, 1, (rate,)),), 0.1, True)
    scenario = read_scenarios(SCENARIOS, FIXED)[-1]
    found = SampleSize(FIXED, 0.9, scenario, confirmed, N, 0, "1")
    assert found.n_patients_estimated == pytest.approx(about, abs=1)
    assert f"About {found.n_patients_estimated} patients have a power of 0.9, as estimated" in found.summary(500)
    assert ("are as many as" in found.summary(500)) == (about < 400)


def test_the_worst_null_of_a_grid_of_compliance() -> None:
    found = calibrate(ADAPTIVE, type_one=0.2, n_trials=400, progress=False)
    assert {null.compliance for null in found.nulls} == {1.0, 0.8, 0.6}
    assert {null.null for null in found.nulls} == {"sharp", "average"}
    assert found.notes == (
        "scenarios: none were given, so these are the default: baseline 0.5, compliance 100% and 80% and 60%, "
        "confounding 0.2, average null ±0.2",
    )
    assert f"note: {found.notes[0][:40]}" in found.summary()
    assert found.error.mean == max(error.mean for error in found.confirmation.errors)
    assert found.error.low is not None
    assert found.error.low <= 0.2
    alone = msgspec.structs.replace(found.design, estimands=())
    again = adhere.evaluate(alone, list(found.nulls), 400, seed=found.confirmation.tried[-1].seed, progress=False)
    worst = again[found.worst_null, 0]
    assert worst.moments.mean[worst.columns.where("false_claim", 2)] == pytest.approx(found.error.mean)


def test_a_file_brings_its_own_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    path.write_text(f"{FIXED.to_toml()}\n[scenarios]\neffect = [0.3]\ncompliance = [1.0]\naverage_null = 0.0\n")
    found = calibrate(path, n_trials=200, progress=False)
    assert [null.name for null in found.nulls] == ["sharp null, compliance 100%"]
    assert found.how_sure.startswith("Under this null 200 fresh trials err in ")
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
        (
            {"type_one": 1e-4, "n_trials": 300},
            "n_trials: got 300, expected at least 100,000, so that about 10 of them err",
        ),
        (
            {"type_one": 1e-4, "n_trials": 300, "conservative": True},
            "n_trials: got 300, expected at least 47,873 to show a rate of 0.0001",
        ),
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
