"""Scenarios: what a grid makes of its numbers, both nulls, files, and what is refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adhere.design.design import Design
from adhere.design.design_file import load_design
from adhere.design.make_design import make_design
from adhere.errors import InputError
from adhere.evaluation.scenarios.scenario import Scenario, truth_of
from adhere.evaluation.scenarios.scenario_grid import ScenarioGrid
from adhere.evaluation.scenarios.scenarios import given_or_own, note_on_nulls, read_scenarios
from adhere.populations import ComplianceTypes, Count, Counts, corrective, rich_and_poor, uniform_any


def _design(*arms: str) -> Design:
    return make_design("a trial", "thompson", arms or ("control", "treatment"))


def _types(scenario: Scenario) -> dict[str, tuple[Any, ...]]:
    population = scenario.population
    assert isinstance(population, ComplianceTypes)
    return {one.name: (one.probability, one.takes, one.reward) for one in population.types}


def test_a_grid_of_two_arms_has_always_takers_never_takers_and_compliers() -> None:
    table = {"baseline": 0.4, "effect": [0.1], "compliance": [0.6], "confounding": [0.3], "average_null": 0.25}
    sharp, average, effect = read_scenarios(table, _design())
    assert _types(effect) == {
        "complier": (0.6, (0, 1), (0.4, 0.5)),
        "never-taker": (0.2, (0, 0), (pytest.approx(0.1), pytest.approx(0.2))),
        "always-taker": (0.2, (1, 1), (0.7, pytest.approx(0.8))),
    }
    assert _types(average) == {
        "gaining complier": (0.3, (0, 1), (0.4, 0.65)),
        "losing complier": (0.3, (0, 1), (0.4, pytest.approx(0.15))),
        "never-taker": (0.2, (0, 0), (pytest.approx(0.1),) * 2),
        "always-taker": (0.2, (1, 1), (0.7, 0.7)),
    }
    assert [one.null for one in (sharp, average, effect)] == ["sharp", "average", None]
    assert (effect.effect, effect.compliance, effect.confounding) == (0.1, 0.6, 0.3)
    assert (effect.name, sharp.name) == (
        "effect 0.1, compliance 60%, confounding 0.3",
        "sharp null, compliance 60%, confounding 0.3",
    )
    np.testing.assert_allclose(truth_of(effect).means, [0.6 * 0.4 + 0.2 * 0.1 + 0.2 * 0.8, 0.6 * 0.5 + 0.18])
    np.testing.assert_allclose(truth_of(effect).effects, [[0.0, np.nan], [0.06, 0.1]], atol=1e-12)
    np.testing.assert_allclose(truth_of(effect).if_taken, [0.4, 0.5])
    np.testing.assert_allclose(np.ptp(truth_of(average).means), 0.0, atol=1e-12)
    assert truth_of(average).effects[1].tolist() == [0.0, 0.0]


def test_more_arms_have_people_who_always_take_each_of_them() -> None:
    grid = ScenarioGrid(effect=(0.2,), compliance=(0.4,), confounding=(0.1,))
    (*_, effect) = grid.scenarios(("a", "b", "c"), control=2)
    found = _types(effect)
    assert {name: takes for name, (_, takes, _) in found.items()} == {
        "complier": (0, 1, 2),
        "always a": (0, 0, 0),
        "always b": (1, 1, 1),
        "never-taker": (2, 2, 2),
    }
    assert found["complier"][2] == (0.5, 0.7, 0.5)  # the treatment is the last arm that is not the control
    assert found["always b"] == (pytest.approx(0.2), (1, 1, 1), (0.6, pytest.approx(0.8), 0.6))
    assert found["never-taker"][2] == (0.4, pytest.approx(0.6), 0.4)
    truth = truth_of(effect, control=2)
    np.testing.assert_allclose(truth.effects, [[0.0, 0.0], [0.08, 0.2], [0.0, np.nan]], atol=1e-12)


def test_every_grid_has_both_nulls_once_and_no_confounding_where_all_comply() -> None:
    found = read_scenarios(None, _design())
    nulls = {(one.null, one.compliance, one.confounding) for one in found if one.null}
    assert nulls == {(null, *place) for null in ("sharp", "average") for place in ((1.0, 0.0), (0.7, 0.2))}
    assert len({one.name for one in found}) == len(found) == 8
    for one in found:
        assert (np.ptp(truth_of(one).means) < 1e-12) == (one.null is not None)
    zero_asked_for = read_scenarios({"effect": [0, 0.1], "compliance": 1, "average_null": 0}, _design())
    assert [one.null for one in zero_asked_for] == ["sharp", None]


def test_only_what_is_written_of_a_grid_is_run() -> None:
    found = read_scenarios({"effect": 0.2}, _design())
    assert [one.name for one in found] == [
        "sharp null, compliance 100%",
        "average null, compliance 100%",
        "effect 0.2, compliance 100%",
    ]
    assert [one.null for one in read_scenarios({"baseline": 0.3}, _design())] == ["sharp", "average"]
    (*_, effect) = read_scenarios({"effect": 0.2, "compliance": 0.7}, _design())
    assert (effect.compliance, effect.confounding) == (0.7, 0.0)
    assert [one.name for one in read_scenarios({}, _design())] == [
        one.name for one in read_scenarios(None, _design())
    ]


def test_scenarios_of_a_grid_know_its_baseline_and_the_size_of_the_average_null() -> None:
    found = read_scenarios({"baseline": 0.75, "effect": 0.1, "average_null": 0.15}, _design())
    assert [(one.baseline, one.average_null) for one in found] == [(0.75, None), (0.75, 0.15), (0.75, None)]


def test_a_grid_may_have_several_baselines() -> None:
    """Every effect and both nulls at each of them, with the average null that each has room for."""
    found = read_scenarios({"baseline": [0.3, 0.5], "effect": [0.1, 0.2], "compliance": [1, 0.7]}, _design())
    assert len(found) == 2 * 2 * 4
    assert [one.name for one in found[:3]] == [
        "sharp null, compliance 100%, baseline 0.3",
        "sharp null, compliance 70%, baseline 0.3",
        "sharp null, compliance 100%, baseline 0.5",
    ]
    assert {(one.baseline, one.average_null) for one in found if one.null == "average"} == {(0.3, 0.12), (0.5, 0.2)}
    by_name = {one.name: one for one in found}
    np.testing.assert_allclose(truth_of(by_name["effect 0.2, compliance 100%, baseline 0.3"]).means, [0.3, 0.5])
    np.testing.assert_allclose(truth_of(by_name["effect 0.2, compliance 70%, baseline 0.5"]).means, [0.53, 0.67])
    one = read_scenarios({"baseline": [0.3], "effect": 0.1}, _design())
    assert [each.name for each in one] == [each.name for each in read_scenarios({"effect": 0.1}, _design())]
    assert {each.baseline for each in one} == {0.3}
    grid = ScenarioGrid(baseline=(0.3, 0.5), compliance=(0.7,))
    assert grid.in_words() == "baseline 0.3 and 0.5, compliance 70%, confounding 0, average null ±0.12 and ±0.2"
    assert ScenarioGrid(baseline=(0.3, 0.5), average_null=0.1).in_words().endswith("average null ±0.1")


def test_a_baseline_is_given_once_and_has_room_for_what_is_asked_for() -> None:
    with pytest.raises(InputError, match=r"scenarios.average_null: got 0.2, expected a number from 0 to 0.1: the ba"):
        read_scenarios({"baseline": [0.1, 0.5], "average_null": 0.2}, _design())
    with pytest.raises(InputError, match=r"scenarios.baseline: got 1.5, expected a number from 0 to 1"):
        read_scenarios({"baseline": [0.1, 1.5]}, _design())
    with pytest.raises(InputError, match=r"scenarios.baseline: got \[\], expected at least one number"):
        read_scenarios({"baseline": []}, _design())
    assert len(read_scenarios({"baseline": [0.3, 0.3]}, _design())) == 2
    with pytest.raises(InputError, match=r"in 'effect 0.2, compliance 100%, baseline 0.9' the mean outcome of"):
        read_scenarios({"baseline": [0.5, 0.9], "effect": 0.2}, _design())


@pytest.mark.parametrize("baseline", [0.0, 1.0, 0.001])
def test_a_baseline_without_room_for_an_average_null_is_noted(baseline: float) -> None:
    (note,) = note_on_nulls(read_scenarios({"baseline": baseline, "compliance": [1, 0.7]}, _design()))
    assert note.startswith(f"scenarios: a baseline of {baseline:g} leaves no room for effects that cancel out, so ")
    for asked_for in ({"baseline": 0.05}, {"average_null": 0}, {"baseline": baseline, "compliance": 0}, "corrective"):
        assert note_on_nulls(read_scenarios(asked_for, _design())) == ()


def test_nobody_who_complies_leaves_an_average_null() -> None:
    (*_, effect) = read_scenarios({"effect": 0.1, "compliance": 0.0}, _design())
    assert effect.null == "average"
    assert np.isnan(truth_of(effect).effects[1, 1])


def test_scenarios_come_from_names_values_and_files(tmp_path: Path) -> None:
    people = '[[compliance_type]]\nname = "complier"\nprobability = 1.0\nreward = [0.5, 0.5]\n'
    (tmp_path / "people.toml").write_text(f'arms = ["control", "treatment"]\n{people}')
    (tmp_path / "design.toml").write_text(
        'name = "x"\n[scenarios]\neffect = 0.1\ncompliance = 0.8\nconfounding = 0\npopulations = ["people.toml"]\n'
    )
    (tmp_path / "only.json").write_text(json.dumps({"scenarios": {"populations": ["corrective"]}}))
    given = [rich_and_poor(), "defiers", tmp_path / "design.toml", str(tmp_path / "only.json")]
    found = read_scenarios(given, _design())
    assert [(one.name, one.null) for one in found] == [
        ("rich-and-poor", None),
        ("defiers", None),
        ("sharp null, compliance 80%", "sharp"),
        ("average null, compliance 80%", "average"),
        ("effect 0.1, compliance 80%", None),
        ("people", "sharp"),
        ("corrective", None),
    ]
    assert read_scenarios(found[0], _design()) == found[:1]


def test_what_a_population_does_not_say_is_not_known() -> None:
    rows = [
        Count("control", "control", 0.0),
        Count("treatment", "control", 0.0),
        Count("treatment", "treatment", 1.0),
    ]
    counted = truth_of(read_scenarios(Counts("c", ("control", "treatment"), rows), _design())[0])
    assert counted.effects[1, 0] == 0.5
    assert np.isnan([counted.effects[1, 1], *counted.if_taken]).all()
    drawn = truth_of(read_scenarios(uniform_any(), _design("first", "second"))[0])
    assert (drawn.varies, drawn.null) == (True, None)
    assert np.isnan(drawn.effects).all()
    known = truth_of(read_scenarios(corrective(), _design())[0])
    np.testing.assert_allclose(known.if_taken, [0.49, 0.58])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (corrective(), "'corrective' has the arms control, treatment; the design has no, yes"),
        ({"effects": 0.1}, "scenarios: unknown field 'effects', .*did you mean 'effect'"),
        ({"effect": []}, "scenarios.effect: got .*, expected at least one number"),
        ({"compliance": 1.2}, "scenarios.compliance: got 1.2, expected numbers from 0 to 1"),
        ({"confounding": "much"}, "scenarios.confounding: got 'much'"),
        (
            {"baseline": 0.5, "confounding": 0.4, "effect": 0.2, "compliance": 0.7},
            "'always-taker' would be 1.1 .baseline 0.5, shifted by",
        ),
        ({"baseline": 2}, "scenarios.baseline"),
        ({"baseline": 0.1, "average_null": 0.2}, "scenarios.average_null: got 0.2, expected a number from 0 to 0.1"),
        (
            {"baseline": 0.9, "effect": 0.2},
            "'effect 0.2, compliance 100%' the mean outcome of 'complier' would be 1.1",
        ),
        ({"populations": "corrective"}, "scenarios.populations: got 'corrective', expected a list"),
        ({"confounding": [i / 1000 for i in range(600)], "compliance": 0.5}, "at most 1000 scenarios"),
        ([], "at least one scenario"),
        ([{"effect": 0.1}, {"effect": 0.2}], "scenarios: 'sharp null, compliance 100%' is listed twice"),
        ("nowhere.toml", "nowhere.toml does not exist"),
    ],
)
def test_bad_scenarios_are_refused_in_one_sentence(given: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_scenarios(given, _design("no", "yes"))


def test_outcomes_that_the_design_does_not_know_are_refused() -> None:
    half = Counts("halves", ("no", "yes"), [("no", "no", 0.5), ("yes", "yes", 1.0)])  # type: ignore[list-item]
    with pytest.raises(
        InputError, match=r"'halves' has the outcome 0.5, which is none of the design's reward_values"
    ):
        read_scenarios(half, _design("no", "yes"))


def test_effects_by_arm_in_a_grid() -> None:
    table = {"effect": [0.1, {"high": 0.2, "low": 0.1}, {"low": 0.0}], "compliance": 0.7, "confounding": 0.1}
    found = read_scenarios(table, _design("none", "low", "high"))
    assert [one.name for one in found][2:] == [
        "effect 0.1, compliance 70%, confounding 0.1",
        "effect high 0.2 and low 0.1, compliance 70%, confounding 0.1",
    ]
    assert _types(found[3])["complier"][2] == (0.5, 0.6, 0.7)
    assert _types(found[3])["always high"][2] == (0.6, pytest.approx(0.7), pytest.approx(0.8))
    assert (found[3].effect, found[3].null, found[3].compliance) == (None, None, 0.7)
    (*_, alone) = read_scenarios({"effect": {"low": 0.3}}, _design("none", "low", "high"))
    assert _types(alone)["complier"][2] == (0.5, 0.8, 0.5)
    for effect, says in (
        ({"hihg": 0.2}, "did you mean 'high'"),
        ({"high": 2}, "scenarios.effect: got 2, expected numbers from -1 to 1, or tables of them by arm"),
        ("high", "or tables of them by arm, such as {treatment = 0.1}"),
    ):
        with pytest.raises(InputError) as error:
            read_scenarios({"effect": effect}, _design("none", "low", "high"))
        assert says in str(error.value)


def test_a_file_is_parsed_once_however_often_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "trial.toml"
    text = 'name = "a"\npolicy = "uniform"\narms = ["x", "y"]\nn_patients = 20\n[scenarios]\neffect = 0.2\n'
    file.write_text(text, encoding="utf-8")
    parsed: list[str] = []
    parse = tomllib.loads

    def counted(text: str) -> dict[str, Any]:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    scenarios = given_or_own(None, file)
    assert read_scenarios(scenarios, load_design(file))
    assert parsed == [text]
    file.write_text(text.replace("0.2", "0.25"), encoding="utf-8")
    assert read_scenarios(given_or_own(None, file), load_design(file))[-1].effect == 0.25
