"""A policy of a user's own that fails late is named in one sentence, with file, line, patient and run."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numba import config

import adhere
from adhere.compilation import policy_failures
from adhere.design.design import Design
from adhere.evaluation.kernels.trial_runner import TrialRunner
from evaluation.trials import compliers

# One compiled policy for all ways to fail, at the 600th patient; the line is that of the words behind "# ".
POLICY = """
from adhere.compilation import inline
from adhere.policies import Learner, Number, State, choose, implements, learn, parameter, policy
from adhere.randomness import uniform

class Seen(State):
    patients = Number()

@policy("failing", state=Seen)
class Failing(Learner):
    way: float = parameter(default=0, whole=True)

@inline
def inverse(value):
    return 1.0 / value  # in a function of its own

@implements(choose, Failing)
def choose_failing(rule, state, memo, weight, rng):
    if rule.way == 1.0 and state.patients == 599.0:
        return rule.n_arms  # a wrong arm
    if rule.way == 2.0 and state.patients == 599.0:
        raise ValueError("too many patients")  # an exception
    if rule.way == 3.0:
        weight = weight / (state.patients - 599.0)  # a division
    if rule.way == 4.0:
        return 7 % int(state.patients - 599.0) % rule.n_arms  # a whole division
    if rule.way == 6.0 and uniform(rng) < 0.0003:
        raise ValueError("by chance")  # sometimes
    return 0 if uniform(rng) < 0.5 else 1

@implements(learn, Failing)
def learn_failing(rule, state, memo, arm, reward, weight, rng):
    state.patients += 1.0
    if rule.way == 5.0:
        inverse(state.patients - 600.0)
"""
WAYS = {
    1: ("a wrong arm", "choose returns 2; it must return a whole number from 0 to 1"),
    2: ("an exception", "ValueError: too many patients"),
    3: ("a division", "ZeroDivisionError: division by zero"),
    4: ("a whole division", "ZeroDivisionError: integer modulo by zero"),
    5: ("in a function of its own", "ZeroDivisionError: division by zero"),
}


def line_of(words: str) -> int:
    return POLICY[: POLICY.index(f"# {words}\n")].count("\n") + 1


@pytest.fixture(scope="module", autouse=True)
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policies") / "failing.py"
    file.write_text(POLICY, encoding="utf-8")
    adhere.import_policies(file)
    return file


@pytest.mark.parametrize("way", WAYS)
def test_a_simulation_says_where_a_policy_failed(way: int, file: Path) -> None:
    words, reason = WAYS[way]
    with pytest.raises(adhere.PolicyError) as raised:
        adhere.simulate(f"failing(way={way})", "defiers", 1000, 40, progress=False)
    when = "(patient 600 of run 1 on defiers)"
    assert str(raised.value) == f"failing(way={way}) failed at {file} line {line_of(words)}: {reason} {when}"
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    assert raised.value.__suppress_context__  # not a page of traceback about compiled code
    assert not config.DISABLE_JIT


def test_the_run_that_fails_is_found_among_others(file: Path) -> None:
    """The same run on any number of threads."""
    said, when = set(), r"ValueError: by chance \(patient \d+ of run \d+ on defiers"
    for n_threads in (1, 3):
        with pytest.raises(adhere.PolicyError, match=when) as raised:
            adhere.simulate("failing(way=6)", "defiers", 300, 100, n_threads=n_threads, progress=False)
        assert f"{file} line {line_of('sometimes')}" in str(raised.value)
        said.add(str(raised.value))
    assert len(said) == 1
    assert "of run 1 on" not in said.pop()


def test_a_run_too_long_to_be_played_again_is_named_without_its_patient(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setattr(policy_failures, "_SECONDS", 0.0)
    with pytest.raises(adhere.PolicyError, match=r"failing.py line \d+: ZeroDivisionError.*\(run 1 on defiers\)$"):
        adhere.simulate("failing(way=3)", "defiers", 2000, 3, progress=False)


def test_a_policy_that_does_not_fail_runs_on(file: Path) -> None:
    assert adhere.simulate("failing", "defiers", 700, 10, progress=False)[0].surplus.se != 0


@pytest.mark.slow
def test_workers_elsewhere_say_the_same(file: Path) -> None:
    said = rf"failing\.py line {line_of(WAYS[1][0])}: choose returns 2"
    with ProcessPoolExecutor(1) as pool, pytest.raises(adhere.PolicyError, match=said):
        adhere.simulate("failing(way=1)", "defiers", 1000, 4, executor=pool, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_trials_of_a_design_say_the_same(way: int, file: Path) -> None:
    words, reason = WAYS[way]
    population = compliers(0.3, 0.7)
    design = Design("d", f"failing(way={way})", population.arms, 1000)
    runner = TrialRunner(design, population, np.array([1000]), None)
    runner.prepare(lambda message: None)
    with pytest.raises(adhere.PolicyError) as raised:
        runner.start(0, range(3), population.tables(0, 0, 3), *np.zeros((2, 1), np.int64))()
    said = f"failing(way={way}) failed at {file} line {line_of(words)}: {reason} (patient 60"
    assert str(raised.value).startswith(said)
