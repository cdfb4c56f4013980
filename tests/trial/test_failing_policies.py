"""A policy that fails in a trial in memory, or as a plain object in a simulation, is one sentence with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import adhere

FAILING = '''"""Fails at the third patient."""

from adhere.policies import Learner, Number, State, choose, implements, learn, policy


class Seen(State):
    total = Number()


@policy("{name}", state=Seen)
class Failing(Learner):
    pass


@implements(choose, Failing)
def choose_failing(rule, state, memo, weight, rng):
    {line}
    return 0


@implements(learn, Failing)
def learn_failing(rule, state, memo, arm, reward, weight, rng):
    state.total += 1.0
'''
LINE = 17


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        (
            "fails-late",
            'if state.total > 1.0: raise ValueError(f"too many: {state.total}")',
            "ValueError: too many: 2.0",
        ),
        ("divides-late", "weight = 1.0 / (state.total - 2.0)", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_trial_names_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("failing.py").write_text(FAILING.replace("{name}", name).replace("{line}", line), encoding="utf-8")
    adhere.import_policies("failing.py")
    trial = adhere.Trial(name, ("a", "b"), seed=1)
    for _ in range(2):
        trial.report(trial.recommend().id, actual="a", reward=1.0)
    with pytest.raises(adhere.PolicyError) as error:
        trial.recommend()
    assert str(error.value) == f"{name} failed at failing.py line {LINE}: {said} (recommendation 3)"


@pytest.mark.slow
def test_a_simulation_says_what_the_exception_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = 'if state.total > 1.0: raise ValueError(f"too many: {state.total}")'
    Path("formats.py").write_text(FAILING.replace("{name}", "formats").replace("{line}", line), encoding="utf-8")
    adhere.import_policies("formats.py")
    with pytest.raises(adhere.PolicyError, match=rf"formats.py line {LINE}: ValueError: too many: 2.0 \(patient "):
        adhere.simulate("formats", "defiers", 100, 2, progress=False)


class Fails:
    """A plain object that fails at its third patient."""

    def __init__(self) -> None:
        self.patients = 0

    def choose(self) -> int:
        return 1 // (2 - self.patients)

    def update(self, chosen: int, actual: int, reward: float) -> None:
        self.patients += 1


def test_a_plain_object_names_the_line() -> None:
    with pytest.raises(adhere.PolicyError) as error:
        adhere.simulate(Fails(), "defiers", 10, 1, progress=False)
    assert "test_failing_policies.py line " in str(error.value)
    assert ": ZeroDivisionError: " in str(error.value)
    assert str(error.value).endswith("(patient 3 of run 1 on defiers)")
