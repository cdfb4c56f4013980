"""`bayes-optimal` against brute force, in simulations, and at its limits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adhere import InputError, Trial, parse_policy, simulate
from adhere.errors import UnavailableError
from adhere.policies import BayesOptimal, Memo, choose, optimal_surplus
from adhere.policies.base.policy import TrialShape
from adhere.policies.tables import table_cache as table_cache
from adhere.policies.tables.bayes_optimal import decisions_for
from adhere.policies.tables.dynamic_programming import FIRST, SECOND, TIE, value_in
from adhere.policies.tables.optimum_by_compliance import best_recommendation
from adhere.policies.tables.optimum_by_outcome import best_arm, position_of
from adhere.populations import PatientTables
from adhere.populations.priors import ARMS, RandomPrior
from adhere.randomness import POPULATION, stream, stream_keys, uniforms
from adhere.simulation.execution.progress import Announcing
from adhere.trial.policy.engine import Engine
from adhere.trial.secret.trial_keys import seeded_keys
from oracle.optimum import values_of_arms, values_of_recommendations

OF_BOTH = "bayes-optimal-aware"


class StateOf:
    """Counts under the names that a compiled state has them by."""

    def __init__(self, **counts: Any) -> None:
        self.__dict__.update({name: np.array(value, dtype=float) for name, value in counts.items()})


def decision(values: list[Any]) -> int:
    return TIE if values[0] == values[1] else FIRST if values[0] > values[1] else SECOND


def pairs(total: int) -> Iterator[tuple[int, int]]:
    yield from ((first, total - first) for first in range(total + 1))


@pytest.mark.parametrize("horizon", [1, 2, 5, 6])
def test_every_decision_on_credited_arms_is_that_of_brute_force(horizon: int) -> None:
    rule = BayesOptimal(horizon=horizon).assemble(TrialShape(2)).rule
    places = set()
    for n in range(horizon):
        for n_0, n_1 in pairs(n):
            for s_0, s_1 in product(range(n_0 + 1), range(n_1 + 1)):
                values = values_of_arms(((s_0, n_0), (s_1, n_1)), horizon - n)
                state = StateOf(successes=[s_0, s_1], failures=[n_0 - s_0, n_1 - s_1])
                assert best_arm(rule, state) == decision(values)  # type: ignore[arg-type]
                if n_0 <= n_1:
                    places.add(position_of(n_0, s_0, n_1, s_1))
    assert places == set(range(len(places)))  # none is left out, no two share one
    assert value_in(rule.decisions) == pytest.approx(float(max(values_of_arms(((0, 0), (0, 0)), horizon))))


@pytest.mark.parametrize("horizon", [1, 2, 5, 6])
def test_every_decision_on_what_was_taken_is_that_of_brute_force(horizon: int) -> None:
    rule = parse_policy(f"bayes-optimal-aware(horizon={horizon})").assemble(TrialShape(2)).rule
    for n in range(horizon):
        for n_0, n_1 in pairs(n):
            for first, second in product(pairs(n_0), pairs(n_1)):
                taken = (first[0], second[0]), (first[1], second[1])
                for successes in product(range(n_0 + 1), range(n_1 + 1)):
                    values = values_of_recommendations(taken, successes, horizon - n)
                    state = StateOf(after_first=taken[0], after_second=taken[1], successes=successes)
                    assert best_recommendation(rule, state) == decision(values)  # type: ignore[arg-type]
    best = max(values_of_recommendations(((0, 0), (0, 0)), (0, 0), horizon))
    assert value_in(rule.decisions) == pytest.approx(float(best))


class DoAsTold(RandomPrior):
    """Success rates drawn from [0, 1] for each run, and patients who comply."""

    def tables(self, seed: int, first_run: int, n_runs: int) -> PatientTables:
        keys = stream_keys(seed, first_run, n_runs)
        rates = np.hstack([uniforms(keys, np.array([0]), POPULATION, draw) for draw in range(2)])
        outcomes = np.array(list(product((0, 1), repeat=2)))
        weights = np.where(outcomes == 1, rates[:, None, :], 1 - rates[:, None, :]).prod(axis=2)
        actual = np.array([[0] * 4, [1] * 4])
        return PatientTables.from_weights(weights[:, None, :], actual, outcomes.T, rates)


def test_simulations_reach_the_optimum() -> None:
    assert optimal_surplus(12, "uniform-other") == pytest.approx(0.3156, abs=5e-5)
    told = DoAsTold("told", ARMS, "other")
    reached = {
        "uniform": simulate("bayes-optimal", told, 12, 100_000, seed=7, progress=False, grid=1),
        "uniform-other": simulate(OF_BOTH, "uniform-other", 12, 100_000, seed=7, progress=False, grid=1),
    }
    for prior, result in reached.items():
        surplus = result[0].surplus
        assert surplus.se is not None
        assert abs(surplus.mean - optimal_surplus(12, prior)) < 3 * surplus.se < 0.02


def test_after_the_horizon_it_goes_by_means() -> None:
    rule = BayesOptimal(horizon=2).assemble(TrialShape(2)).rule
    cases = {(1, 2, 1, 0): SECOND, (3, 1, 1, 1): FIRST, (2, 2, 4, 4): TIE}
    for (s_0, f_0, s_1, f_1), expected in cases.items():
        state: Any = StateOf(successes=[s_0, s_1], failures=[f_0, f_1])
        assert best_arm(rule, state) == expected
    both = parse_policy("bayes-optimal-aware(horizon=2)").assemble(TrialShape(2)).rule
    # Arm 1 is better, and taken more often by those who are told to take arm 0.
    better: Any = StateOf(after_first=[1, 3], after_second=[3, 1], successes=[1, 3])
    assert best_recommendation(both, better) == FIRST
    alike: Any = StateOf(after_first=[1, 3], after_second=[1, 3], successes=[1, 3])
    assert best_recommendation(both, alike) == TIE


def test_reports_that_are_pending_do_not_count() -> None:
    trial = Trial("bayes-optimal", ("a", "b"), n_patients=12)
    waiting = trial.recommend()
    assert waiting.probabilities == {"a": 0.5, "b": 0.5}
    assert trial.recommend().probabilities == {"a": 0.5, "b": 0.5}
    trial.report(waiting.id, reward=1)
    assert trial.recommend().probabilities[waiting.arm] == 1.0
    assert str(trial.policy) == "bayes-optimal(horizon=12)"


def test_who_took_none_of_the_arms_teaches_the_learner_of_both_nothing() -> None:
    trial = Trial(OF_BOTH, ("a", "b"), n_patients=12)
    before = trial.state
    trial.report(trial.recommend().id, took_nothing=True, reward=1)
    trial.report(trial.recommend().id, took_other="herbal tea", reward=1)
    assert trial.state == before
    recommendation = trial.recommend()
    trial.report(recommendation.id, reward=1)
    assert trial.state == before  # what was taken is not known yet
    trial.report(recommendation.id, actual="a")
    assert trial.state != before


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: parse_policy(f"{OF_BOTH}/actual"), "no protocol after bayes-optimal-aware: it is told both arms"),
        (lambda: parse_policy("bayes-optimal(prior=uniform-other)"), "bayes-optimal has no option 'prior'"),
        (lambda: parse_policy("bayes-optimal(horizon=501)"), "a whole number at least 1 and at most 500"),
        (lambda: parse_policy("bayes-optimal-aware(horizon=81)"), "at least 1 and at most 80"),
        (lambda: Trial("bayes-optimal", ARMS, n_patients=1000), r"for at most 500 patients \(got 1,000\)"),
        (lambda: Trial(OF_BOTH, ARMS, n_patients=81), r"bayes-optimal-aware\(horizon=80\) goes on"),
        (
            lambda: Trial("bayes-optimal", tuple("xyz"), n_patients=12),
            "bayes-optimal: got '3 arms', expected two arms",
        ),
        (lambda: Trial(OF_BOTH, tuple("xyz"), n_patients=12), "bayes-optimal-aware: got '3 arms', expected two arms"),
        (lambda: Trial("bayes-optimal", ARMS), "needs n_patients=… .*, to set the patients that bayes-optimal plans"),
        (lambda: optimal_surplus(501), "horizon: got 501, expected a whole number from 1 to 500"),
        (lambda: optimal_surplus(12, "normal"), "prior: got 'normal', expected one of uniform, uniform-other"),
    ],
)
def test_what_cannot_be_computed_is_refused(make: Any, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        make()


def test_too_little_memory_is_refused_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(table_cache, "available_memory", lambda: 10**8)
    expected = "the optimal decisions for 499 patients takes 50. MB of memory, and 100 MB are available"
    for start in (
        lambda: simulate("bayes-optimal", "defiers", 499, 1, progress=False),
        lambda: Trial("bayes-optimal", ARMS, n_patients=499),
    ):
        with pytest.raises(InputError, match=expected):
            start()


def test_a_simulation_says_that_it_computes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate("bayes-optimal", "defiers", 7, 1, progress=False)  # compiled, if it was not yet
    monkeypatch.setattr(table_cache, "table_folder", lambda: tmp_path)
    monkeypatch.setattr(table_cache, "_in_memory", {})
    for _ in range(2):
        simulate(
            ["bayes-optimal", "bayes-optimal(horizon=8)"], ["defiers", "homogeneous"], 7, 1, progress=Announcing()
        )
    said = capsys.readouterr().err.splitlines()
    assert said == [f"computing the optimal decisions for {n} patients (once; then kept on disk)…" for n in (7, 8)]


def test_any_number_of_threads_computes_the_same_decisions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tables = []
    for n_threads in (1, 3):
        monkeypatch.setattr("adhere.policies.tables.dynamic_programming.usable_processors", lambda n=n_threads: n)
        monkeypatch.setattr(table_cache, "table_folder", lambda n=n_threads: tmp_path / str(n))
        monkeypatch.setattr(table_cache, "_in_memory", {})
        tables.append([decisions_for("uniform", 70), decisions_for("uniform-other", 20)])
    for one, other in zip(*tables, strict=True):
        assert np.array_equal(one, other)


def test_a_trial_under_way_waits_for_memory_and_draws_no_arm_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = Engine("bayes-optimal", 2, seeded_keys(0), n_patients=12)
    monkeypatch.setattr(table_cache, "table_folder", lambda: tmp_path)
    monkeypatch.setattr(table_cache, "_in_memory", {})
    with monkeypatch.context() as starving:
        starving.setattr(table_cache, "available_memory", lambda: 100)
        with pytest.raises(UnavailableError, match=r"takes 4\.5 kB of memory, and 100 bytes are available"):
            engine.choose_or_fall_back(engine.first_state, 0)
    assert engine.choose_or_fall_back(engine.first_state, 0).fallback == ""


def test_as_python_it_chooses_whole_numbers() -> None:
    """With NUMBA_DISABLE_JIT=1, say; what a table of NumPy's gives are its own."""
    counts: Any = StateOf(successes=[1, 3], failures=[1, 0], after_first=[1, 1], after_second=[1, 2])
    for text in ("bayes-optimal", OF_BOTH):
        rule = parse_policy(text).resolved(2, 12).assemble(TrialShape(2)).rule
        chosen = choose(rule, counts, Memo(rule, np.zeros(0)), 1.0, stream(0, 0))
        assert type(chosen) is int
        assert chosen == 1
