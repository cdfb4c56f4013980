"""The trial of a design as it is played, against one in plain Python from its definition, over designs at random.

It runs as Python here, so that nothing is compiled for each design.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numba
import numpy as np
import pytest

from adhere import as_population
from adhere.design.design import Design
from adhere.design.parts import Delay, Enrolment, Imputation, Looks, Missing, Rate, Stopping
from adhere.evaluation.kernels.bets import LOG_THRESHOLD
from adhere.evaluation.outcomes import TrialOutcomes
from adhere.populations import Population
from oracle.confidence_sequence import log_wealth
from oracle.design_trial import PlainTrial

from .trials import compliers, play

N_TRIALS, SEED = 2, 5
POPULATIONS = (compliers(0.2, 0.8), as_population("rich-and-poor"), compliers(0.2, 0.5, 0.8))
STOPPING: tuple[dict[str, Any], ...] = (
    {},
    {"stopping": Stopping("posterior", superiority=0.95, inferiority=0.1)},
    {"stopping": Stopping("z-test", superiority=1.8, futility=-0.5), "has_control": True},
    {"stopping": Stopping("wealth", alpha=0.8), "has_control": True},
    {"stopping": Stopping("belief", superiority=0.95, inferiority=0.05)},
)
# By number of arms: those whose probabilities Python works out fast.
POLICIES = {
    2: ("thompson", "thompson/actual", "floor(thompson, share=0.2, rule=clip)"),
    3: ("exp3(gamma=0.3)", "exp3(gamma=0.3)/actual", "floor(exp3(gamma=0.3), share=0.1)"),
}


def at_random(rng: Random) -> tuple[Design, Population]:
    """A small design with some of everything."""
    population = rng.choice(POPULATIONS)
    arms, n_patients = population.arms, rng.randrange(20, 40)
    stopping = dict(rng.choice(STOPPING if len(arms) == 2 else STOPPING[:-1]))
    if stopping.pop("has_control", False):
        stopping["control"] = arms[0]
    strata = rng.choice([(), ("young", "old")])
    burn_in = strata or rng.random() < 0.3
    inside = rng.choice(POLICIES[len(arms)])
    block = f", block={2 * len(arms)}" if n_patients % 2 else ""
    distribution: Any = rng.choice(["fixed", "uniform", "exponential"])
    impute = Imputation(
        after_days=rng.choice([2.0, 9.0]),
        reward=rng.choice([None, 0.0, 1.0]),
        actual=arms[-1] if rng.random() < 0.7 else None,
        took_nothing=False,
    )
    if impute.actual is None:
        impute = Imputation(after_days=4.0, reward=0.0, took_nothing=True)
    design = Design(
        "at random",
        f"burn-in({inside}, patients=9{block})" if burn_in else inside,
        arms,
        n_patients,
        impute=rng.choice([None, impute]),
        strata=strata,
        update=rng.choice(["every patient", "at looks"]),
        looks=rng.choice([Looks(), Looks(every=6), Looks(at=(5, 9, 17)), Looks(days=(4.0, 8.5, 200.0))]),
        enrolment=rng.choice(
            [Enrolment(), Enrolment(per_day=3.0, random=True), Enrolment(days=tuple(n // 3 for n in range(40)))]
        ),
        delay=Delay(rng.choice([0.0, 3.0]), distribution, by_arm=rng.choice([{}, {arms[1]: 5.0}])),
        missing=rng.choice(
            [
                Missing(),
                Missing(outcome=Rate(0.2), taken=Rate(0.3)),
                Missing(outcome=Rate(by_arm={arms[0]: 0.4}), taken=Rate(after_failure=0.5, after_success=0.1)),
            ]
        ),
        **stopping,
    )
    return design, population


def played(design: Design, population: Population, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, TrialOutcomes]:
    assert design.n_patients is not None
    effects = np.full((len(design.arms), 2), 0.25)
    with monkeypatch.context() as patched, np.errstate(over="ignore"):  # of random words, as compiled code does
        patched.setattr(numba.config, "DISABLE_JIT", True)
        plain = [PlainTrial(design, population, SEED, run).play() for run in range(N_TRIALS)]
        found = play(design, population, N_TRIALS, SEED, (7, design.n_patients), effects)
    return plain, found


# Of the first 150, which all agree, those that notice what was broken on purpose: ties, late reports, arms
# that are dropped while allocation goes on.
@pytest.mark.parametrize("number", [*range(13), 26, 36, 58, 81])
def test_trials_are_those_of_the_oracle(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    design, population = at_random(Random(number))
    k = len(design.arms)
    plain, found = played(design, population, monkeypatch)
    for run, trial in enumerate(plain):
        chosen = [one.chosen for one in trial.patients]
        assert found.n_patients[run] == len(chosen)
        assert found.over_time[run, 0].tolist() == [chosen[:7].count(arm) for arm in range(k)]
        assert found.over_time[run, 1].tolist() == found.chosen[run].tolist() == [chosen.count(a) for a in range(k)]
        assert found.decision[run] == trial.decision
        assert found.status[run].tolist() == trial.status.tolist()
        assert found.status_at[run].tolist() == trial.status_at
        assert found.n_looks[run] == trial.n_looks
        assert found.days[run] == trial.looked_on
        assert found.taken[run].tolist() == trial.taken
        assert found.reward[run] == pytest.approx(trial.reward)
        cells = np.zeros((3, k, k + 1))
        for report in trial.known:
            if not report.late:
                one = trial.patients[report.patient]
                taken = k if one.heard.taken is None or one.heard.taken < 0 else one.heard.taken
                cells[:, one.chosen, taken] += 1.0, one.heard.reward, one.heard.reward**2
        assert found.n[run].tolist() == cells[0].tolist()
        assert found.sums[run] == pytest.approx(cells[1])
        assert found.squares[run] == pytest.approx(cells[2])
        for arm in set(range(k)) - {max(trial.rules.control, 0)}:
            for view in range(2):
                top = max(trial.wealth(arm, 0.25, 0.95, by_taken=view == 1))
                assert found.covers[run, arm, view] == float(top < LOG_THRESHOLD)
                theta = found.estimate[run, arm, view]
                if abs(theta) < 0.999 and (bets := log_wealth(trial.decisions(arm, view == 1), theta, 0.95)):
                    assert bets[-1][0] == pytest.approx(bets[-1][1], abs=1e-4)


@pytest.mark.slow
def test_compiled_trials_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With all that prescribes an arm at once: strata, dropped arms, a floor."""
    population = compliers(0.2, 0.5, 0.8)
    design = Design(
        "compiled",
        "burn-in(floor(ucb1, share=0.1), patients=24)",
        population.arms,
        60,
        strata=("young", "old"),
        looks=Looks(every=12),
        stopping=Stopping("posterior", superiority=0.99, inferiority=0.1),
    )
    compiled = play(design, population, 20, SEED, (60,), None)
    with monkeypatch.context() as patched, np.errstate(over="ignore"):
        patched.setattr(numba.config, "DISABLE_JIT", True)
        plain = play(design, population, 20, SEED, (60,), None)
    assert (compiled.status != 0).any(axis=1).sum() > 10
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)
