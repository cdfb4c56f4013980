"""`evaluate`, `calibrate` and `sample_size` for small designs with every kind of look, and what they print."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import adhere

from .digests import digest, fingerprint

N_TRIALS, SEED = 60, 17
GRID = {"effect": [0.3], "compliance": [0.8], "confounding": [0.1]}  # and two nulls
_VERSION = re.compile(r"adhere \d+\.\d+\.\d+")
_TWO = 'arms = ["old", "new"]'
_THREE = 'arms = ["old", "new", "newer"]\ncontrol = "old"'
_POSTERIOR = '{ by = "posterior", superiority = 0.9, inferiority = "1 - superiority" }'

DESIGNS = {
    "fixed": f'policy = "uniform"\n{_TWO}\nn_patients = 60\nstopping = {{ by = "z-test", superiority = 1.96 }}',
    "posterior": f'policy = "thompson"\n{_TWO}\nn_patients = 60\nlooks.at = [20, 40]\nstopping = {_POSTERIOR}',
    "posterior, late and missing": f"""
        policy = "thompson"\n{_TWO}\nn_patients = 60\ncontrol = "old"\nupdate = "at looks"\nlooks.every = 15
        enrolment = {{ per_day = 2.0, random = true }}\ndelay = {{ days = 4.0, distribution = "exponential" }}
        missing = {{ outcome = {{ rate = 0.1 }}, taken = {{ by_arm = {{ new = 0.2 }} }} }}
        stopping = {{ by = "posterior", superiority = 0.95, futility = 0.1, equivalence = 0.9, margin = 0.1 }}""",
    "belief": f"""
        policy = "thompson"\n{_TWO}\nn_patients = 60\nlooks.days = [15.0, 30.0]\nlower_is_better = true
        stopping = {{ by = "belief", superiority = 0.9 }}""",
    "confidence sequence": f"""
        policy = "thompson"\n{_TWO}\nn_patients = 60\nlooks.every = 20
        stopping = {{ by = "wealth", alpha = 0.2 }}""",
    "O'Brien-Fleming": f"""
        policy = "uniform"\n{_TWO}\nn_patients = 60\nlooks.at = [20, 40]
        stopping = {{ by = "z-test", boundary = "obrien-fleming", alpha = 0.1 }}""",
    "Pocock, burn-in": f"""
        policy = "burn-in(uniform, patients=60, block=4)"\n{_TWO}\nn_patients = 60\nlooks.at = [20, 40]
        strata = ["young", "old"]\nstopping = {{ by = "z-test", boundary = "pocock", alpha = 0.1 }}""",
    "floor": f"""
        policy = "floor(thompson, share=0.2)"\n{_TWO}\nn_patients = 60\nlooks.at = [30]
        stopping = {_POSTERIOR}""",
    "burn-in": f"""
        policy = "burn-in(floor(thompson, share=0.2), patients=20)"\n{_TWO}\nn_patients = 60\nlooks.at = [30]
        stopping = {_POSTERIOR}""",
    "hybrid": f"""
        policy = "hierarchical(thompson)"\n{_TWO}\nn_patients = 60\nlooks.at = [30]
        stopping = {_POSTERIOR}""",
    "dropped arms": f"""
        policy = "burn-in(thompson, patients=12)"\n{_THREE}\nn_patients = 90\nlooks.every = 15
        stopping = {{ by = "posterior", superiority = 0.95, inferiority = 0.2 }}""",
    "dropped arms, wealth": f"""
        policy = "burn-in(thompson, patients=12)"\n{_THREE}\nn_patients = 90\nlooks.every = 15
        stopping = {{ by = "wealth", alpha = 0.4 }}""",
}


def design(name: str) -> adhere.Design:
    """One of the designs above, under its name."""
    return adhere.load_design(f'name = "{name}"\n' + re.sub(r"(?m)^ +", "", DESIGNS[name]) + "\n")


def _evaluated(*names: str) -> Callable[[], dict[str, Any]]:
    def entry() -> dict[str, Any]:
        designs = [design(name) for name in names]
        found = adhere.evaluate(designs, GRID, N_TRIALS, SEED, progress=False, keep_trials=True)
        assert found.kept_trials is not None
        sizes = [one.find("sample_size").estimate for one in found]
        return {
            "patients": [None if one is None else one.mean for one in sizes],
            "all": fingerprint(found.to_json()),
            "table": fingerprint(found.to_polars().to_dict(as_series=False)),
            "trials": fingerprint(found.kept_trials.to_polars().to_dict(as_series=False)),
            "summary": _printed(found),
        }

    return entry


def _calibrated(name: str, **asked: Any) -> Callable[[], dict[str, Any]]:
    def entry() -> dict[str, Any]:
        found = adhere.calibrate(design(name), n_trials=200, seed=SEED, progress=False, **asked)
        return {"value": found.value, "all": fingerprint(found.to_json()), "summary": _printed(found)}

    return entry


def _sized(name: str, **asked: Any) -> Callable[[], dict[str, Any]]:
    def entry() -> dict[str, Any]:
        found = adhere.sample_size(design(name), scenarios=GRID, n_trials=200, seed=SEED, progress=False, **asked)
        return {"n_patients": found.n_patients, "all": fingerprint(found.to_json()), "summary": _printed(found)}

    return entry


EVALUATIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "fixed, O'Brien-Fleming": _evaluated("fixed", "O'Brien-Fleming"),
    "posterior, confidence sequence": _evaluated("posterior", "confidence sequence"),
    "posterior, late and missing": _evaluated("posterior, late and missing"),
    "belief": _evaluated("belief"),
    "calibrate fixed": _calibrated("fixed", type_one=0.1),
    "size of posterior": _sized("posterior", power=0.8),
    "Pocock, burn-in": _evaluated("Pocock, burn-in"),
    "floor": _evaluated("floor"),
    "burn-in": _evaluated("burn-in"),
    "hybrid": _evaluated("hybrid"),
    "dropped arms": _evaluated("dropped arms", "dropped arms, wealth"),
    "calibrate posterior": _calibrated("posterior", type_one=0.2, scenarios=GRID, conservative=True),
    "calibrate O'Brien-Fleming": _calibrated("O'Brien-Fleming", type_one=0.1, scenarios=GRID),
    "calibrate the inferiority of dropped arms": _calibrated(
        "dropped arms", type_one=0.3, number="stopping.inferiority", between=(0.01, 0.3), scenarios=GRID
    ),
    "size of fixed": _sized("fixed", power=0.8),
}
# These two loops are compiled by other quick tests too; each of the others takes seconds to compile.
QUICK = ("fixed, O'Brien-Fleming", "calibrate fixed", "size of posterior")


def evaluated(name: str) -> dict[str, Any]:
    """A fingerprint of all that was found, some of it, and a digest of what is printed."""
    return EVALUATIONS[name]()


def _printed(found: adhere.Evaluation | adhere.Calibration | adhere.SampleSize) -> str:
    return digest([_VERSION.sub("adhere", found.summary(width)) for width in (60, 100)])
