"""What does not compile, or does not run when imported, is one sentence with the user's file and line."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import adhere
from adhere.errors import CompileError, SourceError

POLICY = '''"""A policy with a mistake."""

import numpy as np

from adhere.compilation import inline
from adhere.policies import Learner, PerArm, State, choose, implements, learn, parameter, policy


def plain(number):
    return number


def again(number):
    return again(number - 1) if number else 0


@inline
def once_more(number):
    return once_more(number - 1) if number else 0


class MineState(State):
    means = PerArm()


@policy("{name}", state=MineState)
class Mine(Learner):
    temperature: float = parameter(default=0.1)


@inline
def inner(state):
    return {inner}


@implements(choose, Mine)
def choose_mine(rule, state, memo, weight, rng):
    number = inner(state)
    {choose}


@implements(learn, Mine)
def learn_mine(rule, state, memo, arm, reward, weight, rng):
    {learn}
'''
CHOOSE, LEARN, INNER = 39, 44, 33


def declared(folder: Path, name: str, choose: str = "return 0", learn: str = "pass", inner: str = "0.0") -> Path:
    file = folder / f"{name}.py"
    file.write_text(POLICY.format(name=name, choose=choose, learn=learn, inner=inner))
    adhere.import_policies(file)
    return file


@pytest.mark.parametrize(
    ("name", "parts", "line", "reason"),
    [
        ("no-field", {"choose": "return state.meanz"}, CHOOSE, "MineState has no field meanz; it has means"),
        ("no-field-to-set", {"learn": "state.total = reward"}, LEARN, "MineState has no field total; it has means"),
        ("no-number", {"choose": "return rule.x"}, CHOOSE, "the rule has no x; it has temperature, n_arms, credit"),
        ("no-name", {"choose": "return weigth"}, CHOOSE, "name 'weigth' is not defined"),
        ("no-such-thing", {"choose": "return np.nosuch(1)"}, CHOOSE, "module 'numpy' has no attribute 'nosuch'"),
        ("not-in-numba", {"choose": "np.random.default_rng()"}, CHOOSE, "Numba has no numpy.random.default_rng"),
        ("plain", {"choose": "return plain(0)"}, CHOOSE, "plain is a plain Python function; mark it with @inline "),
        ("recursive", {"choose": "return again(3)"}, CHOOSE, "again calls itself, which compiled code cannot do; "),
        ("recursive-inline", {"choose": "return once_more(3)"}, 19, "once_more calls itself, which compiled code "),
        ("deep", {"inner": "state.means['a']"}, INNER, "Numba cannot compile getitem(array, str)"),
        ("two-types", {"choose": "return 1 if number > 0 else 'a'"}, CHOOSE, "a value is "),
        ("whole", {"choose": "state.means = weight"}, CHOOSE, "a field of several numbers is set entry by entry: "),
    ],
)
def test_a_mistake_is_one_sentence_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, parts: dict[str, str], line: int, reason: str
) -> None:
    declared(tmp_path, name, **parts)
    monkeypatch.chdir(tmp_path)
    trial = adhere.Trial(name, ("a", "b"))
    with pytest.raises(CompileError) as error:
        trial.recommend()
    assert str(error.value).startswith(f"{name}.py line {line}: {reason}")
    assert len(str(error.value)) < 250
    assert "\n" not in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.slow
def test_what_is_no_arm_is_named(tmp_path: Path) -> None:
    declared(tmp_path, "returns-none", choose="return None")
    with pytest.raises(adhere.InputError, match=r"^arm chosen by returns-none: got None, expected a whole number fr"):
        adhere.Trial("returns-none", ("a", "b")).recommend()
    with pytest.raises(CompileError, match=rf"none.py line {CHOOSE}: choose must return an arm, a whole number"):
        adhere.simulate("returns-none", "defiers", 10, 1, progress=False)


@pytest.mark.parametrize(
    ("name", "choose", "line", "said"),
    [
        ("returns-float", "return weight * 0.5", CHOOSE, "this is a float"),
        pytest.param("returns-bool", "return weight > 0.5", CHOOSE, "this is a bool", marks=pytest.mark.slow),
        pytest.param(
            "returns-none-once", "return None if weight > 2 else 0", CHOOSE - 2, "it returns None in one branch",
            marks=pytest.mark.slow,
        ),
        pytest.param("returns-nothing", "number += 1.0", CHOOSE - 2, "it returns nothing", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_an_arm_that_is_no_whole_number_is_said_to_be_what_it_is(
    tmp_path: Path, name: str, choose: str, line: int, said: str
) -> None:
    declared(tmp_path, name, choose=choose)
    expected = rf"{name}.py line {line}: choose must return an arm, a whole number \({said}\)$"
    with pytest.raises(CompileError, match=expected):
        adhere.simulate(name, "defiers", 10, 1, progress=False)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("\n1 / 0", "line 2: ZeroDivisionError: division by zero"),
        ("import json\njson.loads('x')", "line 2: JSONDecodeError: Expecting value"),
        ("import no_such_module_anywhere", "line 1: ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("\n\ndef broken(:", "line 3: SyntaxError: "),
        ("raise SystemExit(0)", "line 1: SystemExit: 0"),
        (
            "from adhere.policies import policy\n@policy('No Name')\nclass A: pass",
            "line 2: policy name: got 'No Name'",
        ),
    ],
)
def test_a_file_that_does_not_run_is_one_sentence_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, expected: str
) -> None:
    (tmp_path / "broken.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError) as error:
        adhere.import_policies("broken.py")
    assert str(error.value).startswith(f"broken.py {expected}")
    assert "\n" not in str(error.value)
