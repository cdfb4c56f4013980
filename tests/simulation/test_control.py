"""The control of a simulation: results say which arm it is and why, and what a floor for it protects."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from adhere import InputError, SimulationResult, Trial, simulate
from adhere.populations import ComplianceType, ComplianceTypes
from cli.running import in_this_process

FLOOR = "floor(thompson, control=0.6)"


def a_table(arms: tuple[str, ...] = ("placebo", "drug")) -> polars.DataFrame:
    """Five patients of each arm, who took it."""
    labels = list(arms) * 5
    return polars.DataFrame({"chosen": labels, "actual": labels, "reward": [0, 1] * (len(labels) // 2)})


def some_types(*arms: str) -> ComplianceTypes:
    return ComplianceTypes(
        "mine", arms, [ComplianceType("all", 1.0, "as told", dict(zip(arms, (0.2, 0.6), strict=True)))]
    )


def test_a_result_says_what_decided_the_order(tmp_path: Path) -> None:
    result = simulate("uniform", a_table(), 10, 5, progress=False)
    said = "control: placebo (a usual name for it); arms: control first, then in order of their names: placebo, drug"
    assert result[0].arm_order == said
    assert f"table: {said}" in " ".join(result.summary(60).split())
    assert said in result._repr_html_()
    assert result.to_json()[0]["arm_order"] == said
    result.save(tmp_path)
    assert SimulationResult.load(tmp_path)[0].arm_order == said


def test_a_listed_first_arm_is_named_where_a_policy_protects_it() -> None:
    assert simulate("uniform", some_types("none", "drug"), 10, 5, progress=False)[0].arm_order == ""
    found = simulate(FLOOR, some_types("none", "drug"), 10, 5, progress=False)
    assert found[0].arm_order == "control: none (the first arm listed)"


def test_a_floor_for_the_first_arm_beside_a_placebo_is_warned_of() -> None:
    warning = r"floor\(control=0.6\) protects 'drug', the first arm, not 'Placebo'; list the control first"
    with pytest.warns(UserWarning, match=warning):
        result = simulate(FLOOR, some_types("drug", "Placebo"), 10, 5, progress=False)
    assert "protects 'drug', the first arm, not 'Placebo'" in " ".join(result.summary().split())
    with pytest.warns(UserWarning, match=warning):
        Trial(FLOOR, ["drug", "Placebo"])
    Trial("thompson", ["drug", "placebo"])


def test_the_command_says_so_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    types = '[[compliance_type]]\nname = "all"\nprobability = 1.0\ntakes = "as told"\nreward = 0.5\n'
    file.write_text(f'name = "mine"\narms = ["drug", "placebo"]\n{types}')
    command = ("simulate", "--population", str(file), "--policy", FLOOR, "--runs", "5", "--patients", "10")
    found = in_this_process(capsys, *command)
    assert " ".join(found.out.split()).count("protects 'drug', the first arm, not 'placebo'") == 1
    assert "Warning" not in found.err


def test_errors_on_several_populations_say_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match=r"^homogeneous: always arm: 'drug' is not an arm"):
        simulate("always(drug)", [a_table(), "homogeneous"], 10, 5, progress=False)
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for file, arms in zip(files, (("placebo", "drug"), ("a", "b")), strict=True):
        a_table(arms).write_csv(file)
    populations = [part for file in files for part in ("--population", str(file))]
    found = in_this_process(capsys, "simulate", *populations, "--policy", "uniform", "--control", "drug")
    assert f"{files[1]}: control: got 'drug'" in " ".join(found.err.split())


def test_the_best_arm_is_named_and_its_surplus_is_in_every_form() -> None:
    result = simulate(["thompson", "uniform"], "rich-and-poor", 200, 5, progress=False)
    assert result[0].best_arm == "control"
    assert "always the best arm (control): surplus 12.5, regret 0" in result.summary()
    assert result.to_json()[1]["best_arm_surplus"] == pytest.approx(12.5)
    assert result.to_json()[1]["best_arm"] == "control"
    frame = result.to_polars(final=True)
    assert frame["best_arm_surplus"].to_list() == pytest.approx([12.5, 12.5])
    assert frame["best_arm"].to_list() == ["control", "control"]
    assert simulate("uniform", "uniform-other", 10, 5, progress=False)[0].best_arm == ""  # another one in each run


def test_tables_apart_have_blank_lines_between_and_no_empty_rows() -> None:
    result = simulate(["uniform", "ucb1"], [a_table(), "homogeneous"], 10, 5, pooled=True, progress=False)
    text = result.summary(60)
    assert "%\n\nalways the best arm" in text
    assert "allocation" in text.partition("\npooled\n")[0]
    assert "allocation" not in text.partition("\npooled\n")[2]
    comma = simulate("uniform", some_types("gum, mint", "none"), 10, 5, progress=False)
    assert "'gum, mint'" in comma.summary(200)
