"""Two policies of a researcher's own, each broken on purpose in five ways; one sentence each time.

Every mistake is found by `adhere policies --check`. What only shows while a policy runs is also said by `simulate`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import adhere
from adhere.cli.main import main
from adhere.contract.findings import ARMS, FINITE, INDICES, MEMO, RUNS, TIES

# What taking each arm does, from what recommending each makes people take: k equations with k unknowns.
INSTRUMENTED = '''"""Estimate what taking each arm does, with the recommendation as an instrument."""

import numpy as np

from adhere.policies import (
    ComplianceAwareLearner, Number, PerPair, State, Vector, choose, implements, learn, parameter, policy
)
from adhere.randomness import uniform


class Seen(State):
    patients = PerPair()
    rewards = PerPair()
    n = Number()
    recent = Vector(lambda rule: 50)  # rewards


@policy("instrumented", state=Seen)
class Instrumented(ComplianceAwareLearner):
    ridge: float = parameter(default=0.5, at_least=0)
    explore: float = parameter(default=0.2, at_least=0)


@implements(choose, Instrumented)
def choose_instrumented(rule, state, memo, weight, rng):
    shares, means = np.zeros((rule.n_arms, rule.n_arms)), np.zeros(rule.n_arms)
    for arm in range(rule.n_arms):
        told, reward = 0.0, 0.0
        for taken in range(rule.n_arms):
            told += state.patients[arm, taken]
            reward += state.rewards[arm, taken]
        for taken in range(rule.n_arms):
            shares[arm, taken] = state.patients[arm, taken] / max(told, 1.0)
        means[arm] = reward / max(told, 1.0)
    turned = np.ascontiguousarray(shares.T)
    effects = np.linalg.solve(turned @ shares + rule.ridge * np.eye(rule.n_arms), turned @ means)  # SOLVE
    values = shares @ effects
    best, highest = 0, -np.inf
    for arm in range(rule.n_arms):
        value = values[arm] + rule.explore * uniform(rng)  # NOISE
        if value > highest:
            best, highest = arm, value
    return best


@implements(learn, Instrumented)
def learn_instrumented(rule, state, memo, chosen, actual, reward, weight, rng):
    state.n += 1.0
    state.recent[int(state.n) % 50] = reward  # RECENT
    state.patients[chosen, actual] += 1.0
    state.rewards[chosen, actual] += reward
'''

# Random at first, greedy in the end: exploration fades with every patient.
FADING = '''"""Explore less with every patient."""

import math

from adhere.policies import (
    Learner, Memo, Number, PerArm, State, choose, implements, learn, newest_wins_tie, parameter, policy
)
from adhere.randomness import uniform


class Seen(State):
    counts = PerArm()
    totals = PerArm()
    n = Number()


class Asked(Memo):
    explored = Number()


@policy("fading", state=Seen, memo=Asked)
class Fading(Learner):
    rate: float = parameter(default=0.01, above=0)


@implements(choose, Fading)
def choose_fading(rule, state, memo, weight, rng):
    epsilon = 1.0 / (1.0 + rule.rate * state.n)  # EPSILON
    memo.explored = 0.0  # MEMO
    if uniform(rng) < epsilon:
        memo.explored = 1.0
        return int(uniform(rng) * rule.n_arms)
    best, n_tied, highest = 0, 0, -math.inf
    for arm in range(rule.n_arms):
        mean = state.totals[arm] / max(state.counts[arm], 1.0)  # MEAN
        if mean > highest:
            best, n_tied, highest = arm, 1, mean
        elif mean == highest:
            n_tied += 1
            if newest_wins_tie(n_tied, rng):
                best = arm
    return best  # BEST


@implements(learn, Fading)
def learn_fading(rule, state, memo, arm, reward, weight, rng):
    state.n += 1.0  # LEARN
    state.counts[arm] += 1.0
    state.totals[arm] += reward
'''


class Mistake(NamedTuple):
    """A line that is replaced by others, which end with the line at fault; and the sentence about it."""

    source: str
    marked: str
    by: str
    promise: str
    sentence: str
    is_late: bool = False  # so that only the long plays find it
    in_simulation: str = ""  # the sentence of `simulate`, where it has one


SINGULAR = "effects = np.linalg.solve(turned @ shares, turned @ means)"
LONG = "effects = np.linalg.solve(turned @ shares + rule.ridge * np.eye(rule.n_arms), np.ones(rule.n_arms + 1))"
MISTAKES = {
    "singular": Mistake(
        INSTRUMENTED, "SOLVE", SINGULAR, RUNS, "LinAlgError: Singular matrix",
        in_simulation="LinAlgError: Matrix is singular to machine precision",
    ),
    "wrong-shape": Mistake(INSTRUMENTED, "SOLVE", LONG, RUNS, "ValueError: solve.* mismatch in its core dimension"),
    "late-index": Mistake(
        INSTRUMENTED, "RECENT", "state.recent[int(state.n) // 20] = reward", INDICES, "index 50 is out", True
    ),
    "late-exception": Mistake(
        INSTRUMENTED, "RECENT", "if state.n > 900.0: raise ValueError('no patients left')", RUNS,
        "ValueError: no patients left", True, "ValueError: no patients left",
    ),
    "ties": Mistake(
        INSTRUMENTED, "NOISE", "value = values[arm]", TIES, r".*choose picks arm 0 \(the first of 2\) in 100% of 300"
    ),
    "division": Mistake(
        FADING, "MEAN", "mean = state.totals[arm] / state.counts[arm]", FINITE, "ZeroDivisionError: division by zero",
    ),
    "late-division": Mistake(
        FADING, "EPSILON", "epsilon = 1.0 / (1.0 - state.n / 512.0)", FINITE, "ZeroDivisionError: division by zero",
        True, "ZeroDivisionError: division by zero",
    ),
    "late-arm": Mistake(
        FADING, "BEST", "return best + int(state.n / 700.0)", ARMS, "choose returns 2; it must return a whole number",
        True, "choose returns 2; it must return a whole number from 0 to 1",
    ),
    "wrong-type": Mistake(
        FADING, "BEST", "return highest", ARMS, r"choose returns \d\.\d*; it must return a whole",
        in_simulation="choose returns a fraction|choose must return an arm",
    ),
    "memo": Mistake(FADING, "MEMO", "memo.explored += 0.0", MEMO, "the memo is read here before it is written"),
}  # fmt: skip


class Broken(NamedTuple):
    name: str  # of the policy
    file: str
    line: int


def broken(folder: Path, way: str) -> Broken:
    """Write a policy with a mistake, under a name of its own."""
    mistake = MISTAKES[way]
    lines = mistake.source.splitlines()
    (index,) = [index for index, line in enumerate(lines) if line.endswith(f"# {mistake.marked}")]
    indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
    lines[index] = indent + mistake.by
    base = "instrumented" if mistake.source is INSTRUMENTED else "fading"
    name, file = f"{base}-{way}", f"{base}_{way.replace('-', '_')}.py"
    (folder / file).write_text("\n".join(lines).replace(f'@policy("{base}"', f'@policy("{name}"'), encoding="utf-8")
    line = index + 1
    if mistake.promise == TIES:  # that is the function's, since no line of it is wrong by itself
        line = next(number for number, text in enumerate(lines, start=1) if text.startswith("def choose_"))
    return Broken(name, file, line)


def ways(is_late: bool) -> list[str]:
    return [way for way, mistake in MISTAKES.items() if mistake.is_late == is_late]


def is_found_by_check(folder: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    mistake, (name, file, line) = MISTAKES[way], broken(folder, way)
    status = main(["policies", "--check", file])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == name
    (sentence,) = [one for one in said if f"{file} line " in one and "runs on a GPU" not in one]
    mark = "–" if mistake.promise == TIES else "✗"
    assert re.match(rf"  {mark} {mistake.promise}: {file} line {line}: {mistake.sentence}", sentence), sentence
    assert status == (0 if mistake.promise == TIES else 1)


@pytest.mark.parametrize("way", [way for way in ways(is_late=False) if way != "ties"])
def test_check_finds_a_mistake(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    is_found_by_check(tmp_path, way, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("way", [*ways(is_late=True), "ties"])
def test_check_finds_a_mistake_that_takes_compiled_code(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    is_found_by_check(tmp_path, way, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("way", [way for way, mistake in MISTAKES.items() if mistake.in_simulation])
def test_simulate_says_the_same(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line, and from Python."""
    monkeypatch.chdir(tmp_path)
    mistake, (name, file, line) = MISTAKES[way], broken(tmp_path, way)
    asked = ["--policy", name, "--population", "defiers", "--patients", "1500", "--runs", "20"]
    assert main(["simulate", "--import", file, *asked]) == 2
    err = [text for text in capsys.readouterr().err.splitlines() if not text.startswith("compiling")]
    assert len(err) == 1
    assert re.match(rf"error: .*{file} line {line}: .*({mistake.in_simulation})", err[0]), err
    with pytest.raises(adhere.InputError, match=f"{file} line {line}: "):
        adhere.simulate(name, "defiers", 1500, 20, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("source", [INSTRUMENTED, FADING], ids=["instrumented", "fading"])
def test_unbroken_they_pass(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sound.py").write_text(source, encoding="utf-8")
    (report,) = adhere.check_policies("sound.py")
    assert [finding for finding in report.findings if finding.kept is False] == []
    assert [finding.note for finding in report.findings if finding.promise == TIES] == [""]
