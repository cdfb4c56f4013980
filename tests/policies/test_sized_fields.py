"""Fields of a user's state whose length follows from the policy's parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

import adhere
from adhere.errors import SourceError
from adhere.policies import parse_policy
from adhere.policies.base.policy import TrialShape
from adhere.populations import ComplianceType, ComplianceTypes

WINDOW = '''"""UCB over the last patients."""

import math

from adhere.policies import (
    Index, Learner, Number, State, Vector, choose, implements, learn, newest_wins_tie, parameter, policy
)


class Seen(State):
    arms = Vector({length})
    rewards = Vector({length})
    place = Index()
    seen = Number()


@policy("{name}", state=Seen)
class Windowed(Learner):
    window: int = parameter(default=50, at_least=1, whole=True)


@implements(choose, Windowed)
def choose_windowed(rule, state, memo, weight, rng):
    best, highest, n_tied = 0, -1.0, 0
    filled = min(int(state.seen), len(state.arms))
    for arm in range(rule.n_arms):
        n, total = 0.0, 0.0
        for i in range(filled):
            if state.arms[i] == arm:
                n += 1.0
                total += state.rewards[i]
        value = math.inf if n == 0 else total / n + math.sqrt(2 * math.log(filled) / n)
        if value > highest:
            best, highest, n_tied = arm, value, 1
        elif value == highest:
            n_tied += 1
            if newest_wins_tie(n_tied, rng):
                best = arm
    return best


@implements(learn, Windowed)
def learn_windowed(rule, state, memo, arm, reward, weight, rng):
    state.arms[state.place] = arm
    state.rewards[state.place] = reward
    state.place = (state.place + 1) % len(state.arms)
    state.seen += 1.0
'''
LENGTH_LINE = 11


def declared(folder: Path, name: str, length: str) -> None:
    file = folder / f"{name.replace('-', '_')}.py"
    file.write_text(WINDOW.format(name=name, length=length), encoding="utf-8")
    adhere.import_policies(file)


@pytest.mark.parametrize(
    ("name", "length", "size"),
    [
        ("sized-int", "lambda rule: int(rule.window)", 50),
        ("sized-as-is", "lambda rule: rule.window", 50),
        ("sized-ceil", "lambda rule: math.ceil(rule.window / 3)", 17),
        ("sized-max", "lambda rule: max(7, rule.window * rule.n_arms)", 150),
        ("sized-plain", "5 * 5", 25),
    ],
)
def test_a_parameter_may_size_a_field(tmp_path: Path, name: str, length: str, size: int) -> None:
    declared(tmp_path, name, length)
    assert parse_policy(name).assemble(TrialShape(3)).state.size == 2 * size + 2


@pytest.mark.slow
def test_it_runs_in_a_trial(tmp_path: Path) -> None:
    """Every length is known only at run time there."""
    declared(tmp_path, "sized-here", "lambda rule: max(1, int(rule.window) * rule.n_arms)")
    trial = adhere.Trial("sized-here(window=1)", ("a", "b"), seed=1)
    for _ in range(5):
        recommendation = trial.recommend()
        trial.report(recommendation.id, actual=recommendation.arm, reward=1.0)
    # The window of two has room for both arms, and then for the arm of the latest two patients only.
    assert {trial.recommend().arm for _ in range(3)} <= {"a", "b"}


@pytest.mark.slow
def test_it_is_simulated_with_few_and_many_entries_and_arms(tmp_path: Path) -> None:
    """More than 1,024 entries, and those of more than 16 arms, are known only at run time."""
    declared(tmp_path, "sized-there", "lambda rule: max(1, int(rule.window) * rule.n_arms)")
    small, large = adhere.simulate(["sized-there(window=3)", "sized-there(window=600)"], "defiers", 300, 20, seed=1)
    assert small.allocation != large.allocation
    arms, takes = tuple(f"arm {number}" for number in range(20)), tuple(range(20))
    people = ComplianceTypes("many", arms, [ComplianceType("compliers", 1.0, takes, (0.5,) * 20)])
    (of_many,) = adhere.simulate("sized-there", people, 300, 5)
    assert len(of_many.allocation) == 20


@pytest.mark.slow
def test_it_keeps_its_promises(tmp_path: Path) -> None:
    declared(tmp_path, "sized-checked", "lambda rule: int(rule.window)")
    (report,) = adhere.check_policies(tmp_path / "sized_checked.py")
    assert report.passed, str(report)


def simulated(folder: Path, name: str, length: str) -> None:
    declared(folder, name, length)
    adhere.simulate(name, "defiers", 10, 1)


@pytest.mark.parametrize(
    ("name", "length", "said"),
    [
        ("sized-half", "lambda rule: rule.window + 0.5", "the length of arms is 50.5; expected a whole number, "),
        ("sized-below", "lambda rule: -1", "the length of arms is -1; expected a whole number, at least 0"),
        ("sized-huge", "lambda rule: 10**12", "the length of arms is 1000000000000; expected a whole number, "),
        ("sized-unknown", "lambda rule: rule.widow", "the length of arms: AttributeError: .*no attribute 'widow'"),
        ("sized-text", "'50'", "the length of a field: got '50', expected a whole number, "),
    ],
)
def test_a_length_that_makes_no_sense_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, length: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=rf"^{name.replace('-', '_')}.py line {LENGTH_LINE}: {said}"):
        simulated(tmp_path, name, length)
