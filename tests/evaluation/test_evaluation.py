"""The result of an evaluation: found by name, as frames and as plain data, and short when printed."""

from __future__ import annotations

import json

import polars
import pytest

from adhere.errors import InputError
from adhere.evaluation.characteristics.quantities import MEANINGS
from evaluation.made_characteristics import made_evaluation, without_nan


def test_results_are_found_by_name_value_and_place() -> None:
    evaluation = made_evaluation(8)
    assert len(evaluation) == len(list(evaluation)) == 6
    scenario, design = evaluation.scenarios[1], evaluation.designs[1]
    assert (
        evaluation[scenario.name, "second"] is evaluation[scenario, design] is evaluation[1, 1] is evaluation[-2, -1]
    )
    assert evaluation[scenario.name] is evaluation[1, 0]
    with pytest.raises(InputError, match=r"design: got 'secnd', .*did you mean 'second'"):
        evaluation[0, "secnd"]
    with pytest.raises(
        InputError,
        match=r"scenario: got 'sharp nul.*, expected one of 'sharp null, compliance 70%, con[^']*', 'average",
    ):
        evaluation["sharp null, compliance 70%"]
    with pytest.raises(IndexError, match="scenario: got 3, expected a place from 0 to 2"):
        evaluation[3]


def test_frames_and_plain_data_have_everything_and_no_nan() -> None:
    evaluation = made_evaluation()
    frame = evaluation.to_polars()
    assert set(frame["name"]) == set(MEANINGS)
    assert not frame.select(polars.selectors.float().is_nan().any()).to_numpy().any()
    assert frame.filter(polars.col("mean").is_null() != polars.col("reason").is_not_null()).is_empty()
    assert frame.filter(design="first", name="power")["difference"].is_null().all()
    row = frame.filter(design="second", name="sample_size", scenario=evaluation.scenarios[2].name).row(0, named=True)
    found = evaluation[2, "second"]
    size, difference = found.find("sample_size").estimate, found.difference("sample_size").estimate
    assert size is not None
    assert difference is not None
    assert (row["mean"], row["se"], row["difference"], row["difference_high"]) == (
        size.mean,
        size.se,
        difference.mean,
        difference.high,
    )
    assert list(evaluation.to_pandas().columns) == frame.columns
    data = json.loads(json.dumps(evaluation.to_json(), allow_nan=False))
    assert without_nan(data)
    assert data["seed"] == str(2**60 + 1)
    assert [one["null"] for one in data["scenarios"]] == ["sharp", "average", None]
    assert data["scenarios"][0]["complier_effect"] == [None, 0.0]
    assert [one["name"] for one in data["designs"]] == ["first", "second"]
    assert data["designs"][1]["design_digest"] == evaluation.designs[1].digest
    names = {one["name"] for one in data["results"][0]["characteristics"]}
    assert names == set(MEANINGS)
    assert set(data["results"][0]["status_by_look"]) == {"running", "superior", "inferior", "equivalent", "futile"}


def test_it_prints_in_a_few_short_lines() -> None:
    evaluation = made_evaluation()
    lines = repr(evaluation).splitlines()
    assert lines[0] == "Evaluation: 40 trials of each design in each scenario, seed 1152921504606846977"
    assert "sharp null, compliance 70%, confounding 0.2; first: type I error" in lines[1]
    assert all(line.endswith(" patients") and len(line) <= 100 for line in lines[1:])  # whole, not cut off
    shown = repr(evaluation.scenarios[0])
    assert shown.startswith("Scenario(name='sharp null, compliance 70%, confounding 0.2', null='sharp', effect=0.0,")
    assert "population" not in shown
    assert "None" not in shown


def test_one_characteristic_is_its_estimate() -> None:
    evaluation = made_evaluation(8)
    scenario, found = evaluation.scenarios[2], evaluation[2, "second"].find("sample_size").estimate
    assert evaluation.characteristic("sample_size", scenario=scenario.name, design="second") == found
    assert evaluation.characteristic("sample_size", scenario=2, design=1) == found
    with pytest.raises(InputError, match=r"scenario: choose one of 'sharp null, compliance 70%, con"):
        evaluation.characteristic("power")
    with pytest.raises(InputError, match=r"characteristic: got 'powr', expected one of .* mean 'power'"):
        evaluation.characteristic("powr", scenario=2)
    with pytest.raises(InputError, match=r"power has no meaning in scenario 'sharp null.*': "):
        evaluation.characteristic("power", scenario=0)
