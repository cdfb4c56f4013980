"""`adhere policies --check`: what a user's policy promises, and in which line it does not keep it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import adhere
from adhere.cli.main import main
from adhere.compilation.policy_failures import as_python
from adhere.compilation.storage import is_checked
from adhere.contract import compiled, interpreted
from adhere.contract.compiled import check_compiled, findings_of
from adhere.contract.findings import (
    ARMS,
    COMPILES,
    FINITE,
    FUNCTIONS,
    GPU,
    INDICES,
    MEMO,
    PROBABILITIES,
    PROMISES,
    REPEATABLE,
    RUNS,
    STATE,
    Finding,
)  # fmt: skip
from adhere.contract.promises import late, match_frequencies, repeatable, runs, works_in_hierarchy
from adhere.policies import parse_policy
from adhere.simulation.kernels.compiled_runner import CompiledRunner
from slow import slow

from .populations_under_test import mixed

SOFTMAX = Path(__file__).parents[2] / "docs" / "examples" / "softmax.py"
GOOD = '''"""Mostly the arm that did best."""

import math

import numpy as np

from adhere.policies import Learner, Memo, Number, PerArm, State, choose, implements, learn, parameter, policy
from adhere.policies import probabilities
from adhere.randomness import uniform


class GoodState(State):
    counts = PerArm()
    means = PerArm(0.5)


class GoodMemo(Memo):
    kept = Number()


@policy("good", state=GoodState, memo=GoodMemo)
class Good(Learner):
    epsilon: float = parameter(default=0.3)


@implements(choose, Good)
def choose_good(rule, state, memo, weight, rng):
    # CHOOSE
    if uniform(rng) < rule.epsilon:
        return int(uniform(rng) * rule.n_arms)
    best = 0
    for arm in range(1, rule.n_arms):
        if state.means[arm] > state.means[best]:
            best = arm
    return best


@implements(learn, Good)
def learn_good(rule, state, memo, arm, reward, weight, rng):
    # LEARN
    state.counts[arm] += 1.0
    state.means[arm] += (reward - state.means[arm]) / state.counts[arm]


@implements(probabilities, Good)
def probabilities_good(rule, state, memo, weight, out, rng):
    best = 0
    for arm in range(rule.n_arms):
        out[arm] = rule.epsilon / rule.n_arms
        if state.means[arm] > state.means[best]:
            best = arm
    out[best] += 1.0 - rule.epsilon
'''
WHOLE_LEARN = GOOD[GOOD.index("@implements(learn") : GOOD.index("@implements(probabilities")]

STATES = "def probabilities_good(rule, state, memo, weight, out, rng):"

# What is put in place of what, the promise that it breaks, and the words; the line is that of the word HERE.
BROKEN = {
    "beside": ("# LEARN", "state.counts[arm + 1] += 1.0  # HERE", INDICES, "index 2 is out of bounds"),
    "beside-few": ("# LEARN", "state.counts[9] = 1.0  # HERE", INDICES, "index 9 is out of bounds .* size 2"),
    "negative": ("# LEARN", "state.means[arm - 1] = reward  # HERE", INDICES, "index -1 is negative"),
    "too-early": ("# CHOOSE", "state.counts[0] += 1.0  # HERE", STATE, "the state is changed here; only learn may"),
    "whole": ("# CHOOSE", "np.add(state.means, 1, out=state.means)  # HERE", STATE, "the state is changed here"),
    "wrong-arm": ("return best", "return rule.n_arms  # HERE", ARMS, "choose returns 2; it must return a whole num"),
    "no-number": ("return best", "return None  # HERE", ARMS, "choose returns None; it must return a whole number"),
    "elsewhere": ("# CHOOSE", "weight += np.random.random()  # HERE", REPEATABLE, "numpy.random.random is not rep"),
    "memo": ("# LEARN", "reward *= memo.kept  # HERE", MEMO, "the memo is read here before it is written"),
    "not-a-number": ("# LEARN", "state.means[arm] = math.nan  # HERE", FINITE, "nan is written into the state"),
    "divides": ("# LEARN", "reward /= 0.0  # HERE", FINITE, "ZeroDivisionError: .*; guard against it"),
    "misspelt": ("# LEARN", "reward = state.meanz[arm]  # HERE", RUNS, "AttributeError: .* no attribute 'meanz'"),
    "likely": (
        f"{STATES}\n    best = 0",
        f"{STATES}  # HERE\n    best = 1",
        PROBABILITIES,
        "the probability of arm 0 is said to be 0.150, but choose picks it in 0.8",
    ),
    "unsaid": (
        STATES,
        f"{STATES}  # HERE\n    out[0] = 1.0\n    return",
        PROBABILITIES,
        "the probabilities are 1, nan; they must be",
    ),
    "endless": ("# CHOOSE", "while True: pass  # HERE", RUNS, "still running after 0.2 seconds; does the loop end"),
    "late-nan": (
        "# LEARN",
        "if state.counts[0] > 600.0: state.means[0] = math.nan  # HERE",
        FINITE,
        "nan is written into the state",
    ),
    "late-root": (
        "# CHOOSE",
        "weight += math.sqrt(650.0 - state.counts[0])  # HERE",
        FINITE,
        "ValueError: .*; compil",
    ),
    "late-power": ("# CHOOSE", "weight += (state.counts[0] - 650.0) ** -1.0  # HERE", FINITE, "ZeroDivisionError: "),
    "late-whole": (
        "# CHOOSE",
        "if state.counts[0] > 650.0: return int(math.nan)  # HERE",
        FINITE,
        "cannot convert float NaN",
    ),
    "late-endless": (
        "# CHOOSE",
        "while state.counts[0] > 650.0: pass  # HERE",
        RUNS,
        "still running after 0.2 seconds; does the loop end",
    ),
    "no-return": (
        "def choose_good(rule, state, memo, weight, rng):",
        "def choose_good(rule, state, memo, weight, rng):  # HERE\n    weight += 1.0\n\n\ndef unused(rule, state):",
        ARMS,
        "choose returns None; it must return a whole number",
    ),
    "no-learn": (WHOLE_LEARN, "", FUNCTIONS, "learn"),
}


ALIKE_AND_SLOW = ("late-nan", "late-power", "late-whole", "late-endless")


def written(folder: Path, name: str, replaced: str = "", by: str = "") -> tuple[Path, int]:
    """A file with the good policy, changed, under a name of its own; and the line with the word HERE."""
    assert replaced in GOOD
    source = GOOD.replace(replaced, by, 1).replace('@policy("good"', f'@policy("{name}"')
    file = folder / f"{name.replace('-', '_')}.py"
    file.write_text(source)
    lines = source.splitlines()
    here = [number for number, line in enumerate(lines, start=1) if "HERE" in line or "class Good(" in line]
    return file, here[-1]


@pytest.mark.parametrize("name", [slow(name) if name in ALIKE_AND_SLOW else name for name in BROKEN])
def test_a_broken_promise_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    replaced, by, promise, words = BROKEN[name]
    file, line = written(tmp_path, name, replaced, by)
    monkeypatch.chdir(tmp_path)
    if "endless" in name:
        monkeypatch.setattr(interpreted, "SECONDS", 0.2)
    (report,) = adhere.check_policies(file)
    assert [finding.promise for finding in report.findings] == list(PROMISES)
    (broken,) = [finding for finding in report.findings if finding.kept is False]
    assert broken.promise == promise
    assert re.match(rf"{file.name} line {line}: .*{words}", broken.note), broken.note
    assert "\n" not in broken.note


def test_probabilities_must_not_hang_on_what_choose_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever checks the log of a live trial does not know its secret, and cannot choose again."""
    monkeypatch.chdir(tmp_path)
    source = GOOD.replace("# CHOOSE", "memo.kept = 1.0").replace(STATES, f"{STATES}\n    out[0] = memo.kept")
    Path("hanging.py").write_text(source.replace('@policy("good"', '@policy("hanging"'))
    (report,) = adhere.check_policies("hanging.py")
    (broken,) = [finding for finding in report.findings if finding.kept is False]
    line = source[: source.index("out[0] = memo.kept")].count("\n") + 1
    assert broken.promise == MEMO
    assert broken.note.startswith(f"hanging.py line {line}: the memo is read here before it is written")


def test_a_policy_that_sees_both_arms_is_told_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The arms of a table by arm are numbered from 0; nothing and something else have no place there."""
    monkeypatch.chdir(tmp_path)
    source = GOOD.replace("memo, arm, reward", "memo, chosen, actual, reward").replace(
        "# LEARN", "arm = actual  # LEARN"
    )
    source = source.replace("import Learner,", "import ComplianceAwareLearner,").replace(
        "(Learner)", "(ComplianceAwareLearner)"
    )
    Path("both.py").write_text(source.replace('@policy("good"', '@policy("both"'))
    (report,) = adhere.check_policies("both.py")
    (broken,) = [finding for finding in report.findings if finding.kept is False]
    line = source[: source.index("state.counts[arm] += 1.0")].count("\n") + 1
    assert broken.promise == INDICES
    assert re.match(rf"both.py line {line}: index -[12] is negative here", broken.note)


@pytest.mark.slow
def test_the_example_that_sees_both_arms_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(SOFTMAX.parent)
    assert main(["policies", "--check", "borrowing.py"]) == 0
    name, *findings, total = capsys.readouterr().out.splitlines()
    assert name == "borrowing"
    assert [line[2] for line in findings] == ["–" if PROBABILITIES in line else "✓" for line in findings]
    assert [line.partition(":")[0][4:] for line in findings] == list(PROMISES)
    assert f"{GPU}: it makes no arrays" in findings[-1]
    assert total == f"{len(PROMISES)} checks, none failed"
    assert is_checked(adhere.import_policies("borrowing.py").__name__)


def test_a_broken_promise_is_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file, _ = written(tmp_path, "broken", "# LEARN", "state.counts[arm + 1] += 1.0")
    assert main(["policies", "--check", file.name, "broken(epsilon=0.5)"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "broken(epsilon=0.5)"
    assert sum("✗" in line for line in out) == 1
    assert out[-1] == f"{len(PROMISES)} checks, 1 failed"


@pytest.mark.slow
def test_what_runs_as_python_but_does_not_compile_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file, line = written(tmp_path, "uncompilable", "# CHOOSE", "state.total = weight  # HERE")
    adhere.import_policies(file)
    (found,) = findings_of(parse_policy("uncompilable"))
    sentence = f"uncompilable.py line {line}: GoodState has no field total; it has counts, means"
    assert found == Finding(COMPILES, False, sentence)


@pytest.mark.slow
def test_compiled_code_that_never_ends_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    endless = "best = 0\n    while state.counts[0] > 650.0:\n        best = 1 - best"
    file, line = written(tmp_path, "endless-compiled", "best = 0", endless)
    adhere.import_policies(file)
    monkeypatch.setattr(compiled, "SECONDS_TO_PLAY", 3.0)
    (found,) = check_compiled(file, parse_policy("endless-compiled"))
    assert found.promise == RUNS
    assert found.note.startswith(f"endless_compiled.py line {line}: a trial of 2,000 patients on ")
    assert found.note.endswith(" still runs after 3 seconds; does every loop end?")


def test_code_that_ends_its_process_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ending = "\nimport os, sys\nif 'contract' in sys.argv[0]:\n    os._exit(7)\n"
    Path("ending.py").write_text(GOOD.replace('"good"', '"ending"') + ending)
    module = adhere.import_policies("ending.py")
    (found,) = check_compiled(Path(str(module.__file__)), parse_policy("ending"))
    assert found.kept is False
    assert found.note == "ending.py line 22: compiling or running it ended the process: exit status 7"


def test_what_makes_arrays_is_told_why_it_cannot_run_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SOFTMAX.parent)
    adhere.import_policies(SOFTMAX)
    runner = CompiledRunner(parse_policy("softmax"), mixed(2), 10, np.array([10]))
    assert str(runner.why_it_allocates()) == "softmax.py line 22: this makes an array"


@pytest.mark.parametrize("name", [slow("thompson"), "exp3"])
def test_built_in_policies_keep_their_promises_as_python(name: str) -> None:
    policy = parse_policy(name)
    with as_python(adhere):
        for promise in (runs, repeatable, late, match_frequencies, works_in_hierarchy):
            promise(policy)


def test_probabilities_may_hang_on_the_number_of_the_recommendation(tmp_path: Path) -> None:
    path, _ = written(tmp_path, "by-number")
    text = path.read_text().replace(
        "from adhere.randomness import uniform", "from adhere.randomness import uniform, recommendation_number"
    )
    for function in ("choose", "probabilities"):
        start = text.index(f"def {function}_")
        text = text[:start] + text[start:].replace("best = 0", "best = recommendation_number(rng) % 2", 1)
    path.write_text(text)
    with as_python(adhere.import_policies(path)):
        assert match_frequencies(parse_policy("by-number")) == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["absent.py"], "absent.py does not exist"),
        (["empty.py"], "empty.py declares no policy"),
        (["syntax.py"], "syntax.py line 1: SyntaxError"),
        (["good.py", "thompson"], "good.py declares no thompson; it has good-one"),
        (
            ["generator.py"],
            "generator.py line 26: choose_good: got 'yield or async', expected a function that returns",
        ),
        (["needs.py"], "needs cannot be made without parameters"),
    ],
)
def test_what_cannot_be_checked_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.py").write_text("X = 1\n")
    Path("syntax.py").write_text("def\n")
    Path("good.py").write_text(GOOD.replace('"good"', '"good-one"'))
    Path("generator.py").write_text(GOOD.replace("return best", "yield best"))
    Path("needs.py").write_text(GOOD.replace('"good"', '"needs"').replace(" = parameter(default=0.3)", ""))
    assert main(["policies", "--check", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {sentence}")
