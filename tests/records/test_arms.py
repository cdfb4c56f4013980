"""The order of a table's arms and its control: one rule for `simulate` and `analyse`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import adhere
from adhere.errors import InputError
from adhere.record_sources import records_of
from adhere.records.arms import arm_names, ordered_arms
from cli.running import in_this_process

LABELS = ["patch", "placebo", "gum"]


def a_table(labels: list[str] = LABELS, taken: list[str] | None = None) -> polars.DataFrame:
    """Ten patients of each arm, who took it."""
    chosen = labels * 10
    return polars.DataFrame({"chosen": chosen, "actual": (taken or labels) * 10, "reward": [0, 1, 1, 0, 1] * 6})


def orders(given: Any, **arguments: Any) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The arms of a simulation, those of an analysis, and its control."""
    records = records_of(given, **arguments)
    return adhere.as_population(given, **arguments).arms, records.arms, records.arms[records.control]


def test_both_find_the_control_by_its_name() -> None:
    simulated, analysed, control = orders(a_table())
    assert simulated == ("placebo", "gum", "patch")
    assert (analysed, control) == (("gum", "patch", "placebo"), "placebo")


def test_a_floor_for_the_control_is_placebos() -> None:
    found = adhere.simulate("floor(thompson, control=0.6)", a_table(), 100, 20, progress=False)[0]
    assert found.arms[0] == "placebo"
    assert found.allocation["placebo"].mean >= 0.55


def test_without_a_usual_name_the_first_in_order_is_the_control() -> None:
    for labels in (["b", "a", "c"], ["c", "b", "a"]):
        assert orders(a_table(labels)) == (("a", "b", "c"), ("a", "b", "c"), "a")
    assert orders(a_table(["10", "9", "8"]))[1:] == (("8", "9", "10"), "8")


def test_arms_and_control_can_be_given() -> None:
    assert orders(a_table(), control="patch") == (("patch", "gum", "placebo"), ("gum", "patch", "placebo"), "patch")
    given = orders(a_table(), arms=["patch", "placebo", "gum"])
    assert given == (("placebo", "patch", "gum"), ("patch", "placebo", "gum"), "placebo")
    assert orders(a_table(), arms="gum,patch, placebo", control="Gum")[0] == ("gum", "patch", "placebo")


def a_pandas_file(folder: Path) -> tuple[pandas.DataFrame, Path]:
    """A frame with categories in an order of their own, and the Parquet file that pandas makes of it."""
    kind = pandas.CategoricalDtype(["10", "2", "1", "40"])  # nobody was assigned the last one
    table = {title: column.to_list() for title, column in a_table(["1", "2", "10"]).to_dict().items()}
    frame = pandas.DataFrame(table).astype({"chosen": kind})
    frame.to_parquet(folder / "pandas.parquet", row_group_size=7)
    return frame, folder / "pandas.parquet"


def test_a_categorical_column_keeps_its_order_in_parquet(tmp_path: Path) -> None:
    frame, file = a_pandas_file(tmp_path)
    assert orders(file) == orders(frame) == (("10", "2", "1"), ("10", "2", "1"), "10")
    assert adhere.analyse(file).digest == adhere.analyse(frame).digest
    enum = a_table(["1", "2", "10"]).with_columns(polars.col("chosen").cast(polars.Enum(["10", "2", "1"])))
    enum.write_parquet(tmp_path / "enum.parquet")
    assert orders(tmp_path / "enum.parquet") == orders(frame)
    unordered = a_table(["1", "2", "10"]).with_columns(polars.col("chosen").cast(polars.Categorical))
    unordered.write_parquet(tmp_path / "polars.parquet")
    assert orders(tmp_path / "polars.parquet") == orders(unordered) == (("1", "2", "10"), ("1", "2", "10"), "1")


def test_categories_that_cannot_be_read_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, file = a_pandas_file(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)  # as where it is not installed
    assert orders(file)[1:] == (("1", "2", "10"), "1")
    said = "arms in order of their names (to read that of their categories, install pyarrow): 1, 2, 10"
    assert said in records_of(file).arm_order
    assert said in adhere.describe(file).replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"arms": ["patch", "placebo"]}, "gum"),
        ({"arms": ["patch", "placebo", "gum", "tea"]}, "arms: got 'tea', expected an arm that was assigned"),
        ({"arms": ["patch", "patch", "placebo", "gum"]}, "'patch' is listed twice"),
        ({"control": "tea"}, "control: got 'tea'"),
    ],
)
def test_arms_that_do_not_fit_are_refused(arguments: dict[str, Any], says: str) -> None:
    for read in (adhere.as_population, records_of):
        with pytest.raises(InputError, match=says):
            read(a_table(), **arguments)


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_categorical_column_keeps_its_order(library: str) -> None:
    categories = ["patch", "gum", "lozenge", "spray"]  # nobody was assigned the last one
    table = a_table(["gum", "lozenge", "patch"])
    given: object = table.with_columns(polars.col("chosen").cast(polars.Enum(categories)))
    if library == "pandas":
        columns = {name: table[name].to_list() for name in table.columns}
        given = pandas.DataFrame(columns).astype({"chosen": pandas.CategoricalDtype(categories, ordered=True)})
    assert orders(given) == (tuple(categories[:3]), tuple(categories[:3]), "patch")


def test_labels_that_differ_only_in_case_or_blanks_are_one_arm() -> None:
    table = a_table(["Drug", "drug ", "none"], ["DRUG", "drug", "None"])
    with pytest.warns(UserWarning, match="'DRUG' \\(10 rows of column actual\\) is read as 'Drug'"):
        population = adhere.as_population(table)
    assert population.arms == ("none", "Drug")
    records = records_of(table)
    assert records.arms == ("Drug", "none")
    assert (records.actual == records.chosen).all()
    assert "'drug' (10 rows of column chosen) is read as 'Drug'" in records.warnings


def test_labels_that_arms_lists_apart_stay_apart() -> None:
    table = a_table(["Drug", "drug", "none"])
    assert records_of(table, arms=["none", "Drug", "drug"]).arms == ("none", "Drug", "drug")


def test_rows_in_another_order_give_the_same_arms() -> None:
    table = a_table(["Drug", "drug", "none"])
    assert records_of(table).arms == records_of(table.reverse()).arms


def test_outputs_say_what_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trial.csv"
    a_table().write_csv(file)
    simulating = ("simulate", "--population", str(file), "--policy", "uniform", "--runs", "5", "--patients", "10")
    for command in (simulating, ("populations", str(file)), ("analyse", str(file))):
        found = in_this_process(capsys, *command)
        said = " ".join(found.out.split()).replace("Control: ", "control: ")
        order = r"control: placebo \(a usual name for it\); arms(: control first, then)? in order of their names:"
        assert re.search(order, said), command
        found = in_this_process(capsys, *command, "--control", "gum", "--arms", "patch,placebo,gum")
        said = " ".join(found.out.split()).replace("Control: ", "control: ")
        assert re.search(r"control: gum \(as given\); arms(: control first, then)? as given:", said), command
    assert "allocation" in in_this_process(capsys, *simulating, "--control", "gum").out


def test_labels_that_differ_only_in_blanks_are_noted() -> None:
    table = a_table([" drug", "drug ", "none"], ["drug", "drug", "none"])
    with pytest.warns(
        UserWarning, match=r"' drug' \(10 rows of column chosen\) is read as 'drug'; 'drug ' \(10 rows"
    ):
        population = adhere.as_population(table)
    assert population.arms == ("none", "drug")
    assert "'drug ' (10 rows of column chosen) is read as 'drug'" in records_of(table).warnings


def test_blanks_around_all_labels_need_no_note(recwarn: pytest.WarningsRecorder) -> None:
    assert adhere.as_population(a_table([" drug", " none", " drug"])).arms == ("none", "drug")
    assert not recwarn.list


@pytest.mark.parametrize("labels", [["drug", "Drug", "a", "a", "drug"], ["drug", "Drug", "a", "a", "Drug"]])
def test_a_merged_arm_has_the_place_of_its_first_category(labels: list[str]) -> None:
    table = polars.DataFrame({"chosen": labels * 4, "actual": labels * 4, "reward": [0, 1] * 10})
    categories = polars.Enum(["drug", "a", "Drug"])
    records = records_of(table.with_columns(polars.col("chosen").cast(categories)))
    assert [arm.lower() for arm in records.arms] == ["drug", "a"]
    assert records.control == 0


def test_the_sentence_agrees_with_its_list() -> None:
    order = ordered_arms(["drug", "placebo"])
    assert order.sentence.endswith("; arms in order of their names: drug, placebo")
    assert order.control_first().sentence.endswith(
        "; arms: control first, then in order of their names: placebo, drug"
    )
    given = ordered_arms(["a", "b"], arms=["b", "a"], control="A").control_first()
    assert given.sentence == "control: a (as given); arms: control first, then as given: a, b"
    assert ordered_arms(["a", "b"]).control_first().sentence.endswith("; arms in order of their names: a, b")


def test_arms_with_commas_are_named_in_quotation_marks() -> None:
    assert arm_names('placebo, "gum, mint",patch') == ["placebo", "gum, mint", "patch"]
    assert ordered_arms(["gum, mint", "none"]).sentence.endswith("arms in order of their names: 'gum, mint', 'none'")
    for wrong in ('placebo,"gum', "", 'a,"b"c'):
        with pytest.raises(InputError, match=r"^arms: got"):
            arm_names(wrong)
