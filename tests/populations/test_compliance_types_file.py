from __future__ import annotations

import json
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import adhere.populations.compliance_types
from adhere.errors import InputError
from adhere.populations import ComplianceType, ComplianceTypes, rich_and_poor
from adhere.populations.compliance_types import read_compliance_types

from .strategies import types_populations

GOOD = """
name = "rich and poor"
arms = ["control", "treatment"]

[[compliance_type]]
name = "rich"
probability = 0.5
takes = "Always-taker"
reward = { treatment = 0.75 }

[[compliance_type]]
name = "complier"
probability = 0.5
reward = { control = 0.5, treatment = 0.25 }
"""


def read(text: str | bytes) -> ComplianceTypes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trial.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_compliance_types(path)


def test_a_readable_file() -> None:
    population = read(GOOD)
    assert population == ComplianceTypes(
        "rich and poor",
        ("control", "treatment"),
        [ComplianceType("rich", 0.5, (1, 1), (None, 0.75)), ComplianceType("complier", 0.5, (0, 1), (0.5, 0.25))],
    )
    np.testing.assert_array_equal(population.mean_given_chosen(), rich_and_poor().mean_given_chosen())
    assert read("\ufeff" + GOOD) == population
    assert read(GOOD.replace('name = "rich and poor"', "")).name == "trial"


def test_as_told_and_one_reward_for_all() -> None:
    population = read(
        'arms = ["a", "b", "c"]\n'
        '[[compliance_type]]\nname = "x"\nprobability = 0.5\ntakes = "as told"\nreward = 0.5\n'
        '[[compliance_type]]\nname = "y"\nprobability = 0.5\ntakes = "As told"\n'
        "reward = { a = true, b = false, c = 0.1 }\n"
    )
    assert [one.takes for one in population.types] == [(0, 1, 2)] * 2
    assert [one.reward for one in population.types] == [(0.5, 0.5, 0.5), (1.0, 0.0, 0.1)]


def test_the_example_in_the_docstring() -> None:
    docstring = adhere.populations.compliance_types.__doc__
    assert docstring is not None
    population = read(docstring.partition("::\n")[2].replace("\n    ", "\n"))
    np.testing.assert_array_equal(population.mean_given_both(), rich_and_poor().mean_given_both())


def test_the_example_with_three_arms() -> None:
    with as_file(files("adhere.populations") / "data" / "example.toml") as path:
        population = read_compliance_types(path)
    assert population.arms == ("none", "walk", "class")
    np.testing.assert_allclose(
        population.mean_given_chosen(),
        [0.2 + 0.09 + 0.14, 0.25 + 0.15 + 0.14, 0.3 + 0.15 + 0.14],
    )


def as_toml(population: ComplianceTypes) -> str:
    quote = json.dumps  # a JSON string is a TOML string
    lines = [f"name = {quote(population.name)}", f"arms = [{', '.join(map(quote, population.arms))}]"]
    for compliance_type in population.types:
        takes = (
            f"{quote(population.arms[c])} = {quote(population.arms[a])}" for c, a in enumerate(compliance_type.takes)
        )
        reward = (f"{quote(population.arms[a])} = {r}" for a, r in enumerate(compliance_type.reward) if r is not None)
        lines += [
            "[[compliance_type]]",
            f"name = {quote(compliance_type.name)}",
            f"probability = {compliance_type.probability!r}",
        ]
        lines += [f"takes = {{ {', '.join(takes)} }}", f"reward = {{ {', '.join(reward)} }}"]
    return "\n".join(lines)


@settings(deadline=None)
@given(types_populations())
def test_round_trip(population: ComplianceTypes) -> None:
    assert read(as_toml(population)) == population


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "name = ",
            "nmae = ",
            "trial.toml, top level: got 'nmae', expected one of arms, compliance_type, name (did you",
        ),
        (
            "probability",
            "probabilty",
            "trial.toml, compliance type 1: got 'probabilty', expected one of name, probability",
        ),
        (
            "[[compliance_type]]",
            "[[types]]",
            "trial.toml, top level: got 'types', expected one of arms, compliance_type",
        ),
        ('arms = ["control", "treatment"]', "", "top level: got 'name, compliance_type', expected also the key arms"),
        ('arms = ["control", "treatment"]', 'arms = "two"', "trial.toml, arms: got 'two', expected a list"),
        (
            '["control", "treatment"]',
            '["control"]',
            "trial.toml, arms: got ('control',), expected at least two",
        ),
        ('name = "rich"', "", "compliance type 1: got 'probability, takes, reward', expected also the key name"),
        ('name = "rich"', "name = 3", "trial.toml, compliance type name: got 3"),
        ('name = "rich and poor"', "name = 3", "trial.toml, name: got 3, expected a name in quotes"),
        (
            "Always-taker",
            "always-take",
            "compliance type 'rich', takes: got 'always-take', expected one of as told, control, treatment, n",
        ),
        ('"Always-taker"', "1", "compliance type 'rich', takes: got 1, expected the arm taken for each chosen arm"),
        (
            '"Always-taker"',
            '{ control = "control" }',
            "takes: got 'control', expected also what is taken if 'treatment' is chosen",
        ),
        (
            '"Always-taker"',
            '{ contrl = "control" }',
            "takes: got 'contrl', expected one of control, treatment",
        ),
        (
            '"Always-taker"',
            '{ control = "control", treatment = "treat" }',
            "compliance type 'rich', takes: got 'treat', expected one of control, treatment",
        ),
        ("{ treatment = 0.75 }", '"x"', "compliance type 'rich', reward: got 'x', expected a number from 0 to 1"),
        (
            "{ treatment = 0.75 }",
            "{ treament = 0.75 }",
            "compliance type 'rich', reward: got 'treament', expected one of",
        ),
        (
            "{ treatment = 0.75 }",
            "{ control = 0.75 }",
            "got 'control', expected also the mean reward of 'treatment'",
        ),
        (
            "0.75",
            "1.75",
            "trial.toml, compliance type 'rich', reward of 'treatment': got 1.75, expected a number from 0 to 1",
        ),
        ("0.75", "nan", "compliance type 'rich', reward of 'treatment': got nan"),
        ("probability = 0.5\ntakes", "probability = 0.6\ntakes", "that sum to one, not to 1.1"),
        ("probability = 0.5\ntakes", "probability = -1\ntakes", "compliance type 'rich', probability: got -1"),
        ("0.75 }", "0.75", "trial.toml: got 'Unclosed inline table"),
    ],
)
def test_broken_files(old: str, new: str, message: str) -> None:
    assert old in GOOD
    # All tables of the same kind change together, other values only where they first occur.
    broken = GOOD.replace(old, new) if old.startswith("[[") else GOOD.replace(old, new, 1)
    with pytest.raises(InputError) as caught:
        read(broken)
    assert message in str(caught.value)


def test_named_behaviours_need_two_arms() -> None:
    three = (
        'arms = ["a", "b", "c"]\n[[compliance_type]]\nname = "complier"\nprobability = 1\nreward = { a = 1, b = 1 }\n'
    )
    with pytest.raises(InputError, match=r"compliance type 1: .* expected also the key takes"):
        read(three)
    expected = r"expected one of as told, a, b, c, or the arm taken for each chosen arm, e\.g\. \{'a': 'b', …\}"
    for word in ("defier", "nothing"):
        with pytest.raises(InputError, match=f"takes: got '{word}', {expected}"):
            read(f'{three}takes = "{word}"')
    assert read(f'{three}takes = "b"').types[0].takes == (1, 1, 1)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.toml does not exist"):
        read_compliance_types(tmp_path / "gone.toml")
    with pytest.raises(InputError, match="expected UTF-8 text"):
        read(b"name = '\xff'")
    with pytest.raises(InputError, match="compliance_type: got 3, expected one"):
        read('arms = ["a", "b"]\ncompliance_type = 3')
    with pytest.raises(InputError, match="compliance type 1: got 3, expected a"):
        read('arms = ["a", "b"]\ncompliance_type = [3]')
