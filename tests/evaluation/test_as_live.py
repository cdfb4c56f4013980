"""A live trial fed the same patients at the same times recommends the same arms and stops at the same look.

The kernel runs as Python here, so that nothing is compiled for each design.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from adhere.design.make_design import make_design
from adhere.design.parts import Delay, Enrolment, Imputation, Looks, Missing, Rate, Stopping
from adhere.looks.judge import GO_ON, NAMES
from slow import slow

from .live_trials import play_live
from .trials import compliers, play

TWO, THREE = compliers(0.3, 0.7), compliers(0.2, 0.5, 0.8)
POSTERIOR = Stopping(by="posterior", superiority=0.98, inferiority=0.02)
CONTROLLED: dict[str, Any] = {"control": "arm-0", "stopping": Stopping(by="z-test", superiority=2.4, futility=-0.5)}

DESIGNS: dict[str, dict[str, Any]] = {
    "posterior, delayed": {"looks": Looks(at=(8, 16, 24)), "stopping": POSTERIOR, "delay": Delay(days=3.0)},
    "belief, by day": {
        "looks": Looks(days=(6.0, 12.0)), "stopping": Stopping(by="belief", superiority=0.95, inferiority=0.05),
        "enrolment": Enrolment(per_day=2.0, random=True),
    },
    "wealth, missing": {
        "policy": "uniform", "population": compliers(0.1, 0.95), "n_patients": 60,
        "looks": Looks(every=10), "stopping": Stopping(by="wealth", alpha=0.5),
        "delay": Delay(days=2.0, distribution="exponential"), "missing": Missing(outcome=Rate(rate=0.2)),
    },
    "posterior, an arm dropped": {
        "population": THREE, "looks": Looks(every=6), "n_patients": 48,
        "delay": Delay(days=1.5, distribution="uniform"),
        "stopping": Stopping(by="posterior", superiority=0.995, inferiority=0.1),
    },
    "burn-in, an arm dropped in it": {
        "population": THREE, "policy": "burn-in(floor(exp3(gamma=0.2)), patients=40)", "n_patients": 48,
        "looks": Looks(every=6), "delay": Delay(days=1.5),
        "stopping": Stopping(by="posterior", superiority=0.995, inferiority=0.1),
    },
    "burn-in, wealth": {
        "policy": "burn-in(uniform, patients=40)", "population": compliers(0.1, 0.95), "n_patients": 60,
        "looks": Looks(every=10), "stopping": Stopping(by="wealth", alpha=0.5), "delay": Delay(days=2.0),
    },
    "frozen, an arm dropped, imputed": {
        "population": THREE, "looks": Looks(every=6), "n_patients": 48, "update": "at looks",
        "stopping": Stopping(by="posterior", superiority=0.995, inferiority=0.1),
        "missing": Missing(outcome=Rate(after_failure=0.3, after_success=0.1), taken=Rate(rate=0.2)),
        "impute": Imputation(after_days=5, reward=0.0, actual="arm-0"), "delay": Delay(days=2.0),
    },
    "lower is better, posterior, imputed": {
        "lower_is_better": True, "looks": Looks(at=(8, 16, 24)), "stopping": POSTERIOR, "delay": Delay(days=3.0),
        "missing": Missing(outcome=Rate(rate=0.1)), "impute": Imputation(after_days=5, reward=1.0),
    },
    "lower is better, belief": {
        "lower_is_better": True, "looks": Looks(days=(6.0, 12.0)),
        "stopping": Stopping(by="belief", superiority=0.95, inferiority=0.05), "enrolment": Enrolment(per_day=2.0),
    },
    "lower is better, wealth": {
        "lower_is_better": True, "policy": "uniform", "population": compliers(0.95, 0.1), "n_patients": 60,
        "looks": Looks(every=10), "stopping": Stopping(by="wealth", alpha=0.5), "delay": Delay(days=2.0),
    },
    "strata, z-test": {
        "population": THREE, "policy": "burn-in(uniform, patients=24)", "n_patients": 48,
        "looks": Looks(at=(12, 24, 36)), "strata": ("young", "old"), "delay": Delay(days=1.0, by_arm={"arm-1": 4.0}),
        "missing": Missing(outcome=Rate(by_stratum={"old": 0.3})), **CONTROLLED,
    },
}  # fmt: skip
COMPILED_HERE_ALONE = ("burn-in, an arm dropped in it",)


@pytest.mark.parametrize("name", [slow(name) if name in COMPILED_HERE_ALONE else name for name in DESIGNS])
def test_a_live_trial_is_the_simulated_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"policy": "thompson", "n_patients": 32, "population": TWO, **DESIGNS[name]}
    population = fields.pop("population")
    design = make_design("same", arms=population.arms, **fields)
    n_trials, seed, n = 4, 3, fields["n_patients"]
    live = [play_live(design, population, seed, run) for run in range(n_trials)]
    with monkeypatch.context() as patched, np.errstate(over="ignore"):  # of random words, as compiled code does
        patched.setattr(numba.config, "DISABLE_JIT", True)
        found = play(design, population, n_trials, seed, tuple(range(1, n + 1)))
    for run, trial in enumerate(live):
        counts = found.over_time[run, : found.n_patients[run]]
        arms = [int(row.argmax()) for row in counts - [[0] * len(population.arms), *counts[:-1].tolist()]]
        assert trial.arms == arms
        assert len(trial.looks) == found.n_looks[run]
        last = trial.looks[-1]
        decision = found.decision[run]
        assert last.decision == ("go on" if decision == GO_ON else NAMES[decision])
        assert [one.status for one in last.arms] == [NAMES[status] for status in found.status[run]]
        assert last.selected == (population.arms[found.superior_arm[run]] if found.superior_arm[run] >= 0 else None)
    # Each of them does what it is here for.
    assert any(trial.looks[-1].decision != "go on" for trial in live)
    if "lower is better" in name:  # and the arm that is better has the lower mean
        best = population.arms[int(np.argmin(population.mean_given_chosen()))]
        assert {trial.looks[-1].selected for trial in live} <= {best, None}
        assert any(trial.looks[-1].selected == best for trial in live)
    if "dropped" in name:
        assert any("inferior" in [one.status for one in trial.looks[-2].arms] for trial in live)
