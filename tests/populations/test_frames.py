"""pandas and polars frames wherever a population or a table of records is accepted."""

from __future__ import annotations

import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import adhere
from adhere import InputError, simulate
from adhere.design.make_design import make_design
from adhere.populations import Count, Counts, as_population
from adhere.store import open_store
from adhere.trial.log.table_import import import_table
from adhere.trial.log.table_reading import arms_in, read_table, rewards_in

ROWS: dict[str, list[Any]] = {
    "chosen": ["none", "none", "aspirin", "none"],
    "actual": ["none", "aspirin", "aspirin", "none"],
    "reward": [1, 0, 1, 1],
}
COUNTS = (Count("none", "none", 1.0, 2), Count("none", "aspirin", 0.0), Count("aspirin", "aspirin", 1.0))
MISSING = r"table: 1 of 4 rows left out: 1 without an outcome$"


def rewards(values: list[Any]) -> dict[str, list[Any]]:
    return {**ROWS, "reward": values}


FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(ROWS),
    "polars": pl.DataFrame(ROWS),
    "lazy": pl.LazyFrame(ROWS),
    "pandas categorical": pd.DataFrame(ROWS).astype({"chosen": "category", "actual": "category"}),
    "polars categorical": pl.DataFrame(ROWS).with_columns(pl.col("chosen", "actual").cast(pl.Categorical)),
    "polars enum": pl.DataFrame(ROWS).with_columns(pl.col("actual").cast(pl.Enum(["none", "aspirin"]))),
    "pandas object": pd.DataFrame(ROWS).astype(object),
    "pandas string": pd.DataFrame(ROWS).astype({"chosen": "string", "actual": "string"}),
    "pandas nullable": pd.DataFrame(ROWS).astype({"reward": "Int64"}),
    "pandas bool": pd.DataFrame(ROWS).astype({"reward": bool}),
    "pandas nullable bool": pd.DataFrame(ROWS).astype({"reward": "boolean"}),
    "polars bool": pl.DataFrame(ROWS).with_columns(pl.col("reward").cast(pl.Boolean)),
    "polars text": pl.DataFrame(rewards(["1", "false", "TRUE", "1.0"])),
    "polars decimal": pl.DataFrame(rewards([Decimal(one) for one in (1, 0, 1, 1)])),
    "pandas indexed": pd.DataFrame(ROWS).set_index(["chosen", "actual"]),
    "pandas odd index": pd.DataFrame(ROWS, index=[7, 7, 7, 8]),
    "cdisc": pl.DataFrame(ROWS).rename({"chosen": "TRTP", "actual": "TRTA", "reward": "AVAL"}),
    "dm": pd.DataFrame(ROWS).rename(columns={"chosen": "ARM", "actual": "ACTARM", "reward": "AVAL"}),
    "counts": pd.DataFrame(
        {
            "chosen": ["none", "none", "aspirin"],
            "actual": ["none", "aspirin", "aspirin"],
            "reward": [1, 0, 1],
            "n": [2, 1, 1],
        }
    ),
    "cdisc counts": pl.DataFrame(COUNTS, schema=["TRTP", "TRTA", "AVAL", "N"], orient="row"),
}


@pytest.mark.filterwarnings("ignore:table. column . is taken as a count")
@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_a_population(kind: str) -> None:
    assert as_population(FRAMES[kind]) == Counts("table", ("none", "aspirin"), COUNTS)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(rewards([1, None, 1, 1])),
        pd.DataFrame(rewards([1, None, 1, 1])).astype({"reward": "Int64"}),
        pd.DataFrame(rewards([True, None, True, True])),
        pd.DataFrame(rewards([1, pd.NaT, 1, 1])),
        pl.DataFrame(rewards([True, None, True, True])),
        pl.DataFrame(rewards([1.0, float("nan"), 1, 1])),
    ],
)
def test_a_missing_outcome_is_no_zero(frame: Any) -> None:
    with pytest.warns(UserWarning, match=MISSING):
        population = as_population(frame)
    assert population == Counts("table", ("none", "aspirin"), (COUNTS[0], COUNTS[2]))


def test_arms_that_are_numbers_are_called_by_them() -> None:
    frame = pd.DataFrame({"chosen": [0, 1, 1, 0], "actual": [0, 1, None, 0], "reward": [1, 0, 1, 1]})
    with pytest.warns(UserWarning, match="1 of 4 rows left out: 1 without the arm taken"):
        assert as_population(frame) == Counts("table", ("0", "1"), (Count("0", "0", 1.0, 2), Count("1", "1", 0.0)))


def test_columns_and_a_name_can_be_said() -> None:
    frame = pd.DataFrame(ROWS).rename(columns={"chosen": "assigned", "actual": "taken", "reward": "outcome"})
    population = as_population(frame, name="mine", chosen="assigned", actual="taken", reward="outcome")
    assert population == Counts("mine", ("none", "aspirin"), COUNTS)
    with pytest.raises(InputError) as caught:
        as_population(frame)
    assert str(caught.value).startswith(
        "table: missing columns: chosen, actual, reward (found: assigned, taken, outcome)"
    )
    for wrong, message in (
        (pd.concat([pd.DataFrame(ROWS)] * 2, axis=1), "table, header: got 'chosen', expected each column once"),
        (pd.DataFrame(rewards([1, 0, 2, 1])), "table, row 3, column reward: got 2, expected a number from 0 to 1"),
        (
            pl.DataFrame(rewards(["1", "0", "much", "1"])),
            "table, row 3, column reward: got 'much', expected a number",
        ),
        (pl.DataFrame({**ROWS, "n": [1, 2, -1, 3]}), "table, row 3, column n: got -1, expected a whole number"),
        (pd.DataFrame(ROWS).head(0), "table: got 'no rows', expected at least one row"),
        (pd.DataFrame(rewards([None] * 4)), "table: no row has an assigned arm, an arm taken and an outcome"),
    ):
        with pytest.raises(InputError) as caught:
            as_population(wrong)
        assert message in str(caught.value)
    with pytest.raises(InputError, match="chosen: got 'assigned', expected a table"):
        as_population("defiers", chosen="assigned")


@pytest.mark.parametrize("series", [pd.DataFrame(ROWS).groupby(list(ROWS)).size(), pl.Series([1, 2])])
def test_a_series_is_no_table(series: Any) -> None:
    library = type(series).__module__.split(".")[0]
    expected = (
        f"table: got a Series of {library}, expected a frame, with a column for each of chosen, actual and reward"
    )
    for asked in (lambda: as_population(series), lambda: simulate("thompson", series, 20, 4)):
        with pytest.raises(InputError) as caught:
            asked()
        assert str(caught.value).startswith(expected)


def test_a_column_that_is_only_taken_for_counts_is_said() -> None:
    frame = pd.DataFrame({**ROWS, "n": 2})
    with pytest.warns(UserWarning, match=r"^table: column n is taken as a count of patients \(count='n' says so\)$"):
        population = as_population(frame)
    assert isinstance(population, Counts)
    assert population.patients_per_arm() == {"none": 6, "aspirin": 2}
    with warnings.catch_warnings(action="error"):
        as_population(frame, count="n")
    numbered = pd.DataFrame({**ROWS, "n": [1, 2, 3, 4]})
    with pytest.raises(
        InputError, match=r"^table: column n numbers the rows; rename it, or say that it counts patients: "
    ):
        as_population(numbered)
    with warnings.catch_warnings(action="error"):
        as_population(numbered, count="n")


def test_labels_that_differ_in_case_alone_are_one_arm() -> None:
    frame = pd.DataFrame({"chosen": ["Drug", "drug", "none"], "actual": ["Drug", "Drug", "none"], "reward": 1})
    with pytest.warns(UserWarning, match=r"^table: 'drug' \(1 row of column chosen\) is read as 'Drug'$"):
        assert as_population(frame).arms == ("none", "Drug")


def test_a_population_is_short_in_print_and_described_as_the_command_does(tmp_path: Path) -> None:
    frame = FRAMES["pandas"]
    lines = repr(as_population(frame, name="mine")).splitlines()
    assert lines == ["Counts: mine: 2 arms (none, aspirin), rewards 0, 1", "  adhere.describe(population) says more"]
    assert len(repr(as_population("rich-and-poor")).splitlines()) == 2
    path = tmp_path / "t.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert "E[R | chosen, actual]" in adhere.describe(path)
    assert adhere.describe(frame, reward="reward").splitlines()[1] == "read from table"
    assert adhere.describe("rich-and-poor") == adhere.describe(as_population("rich-and-poor"))


def test_simulate_takes_frames() -> None:
    of_file = simulate("thompson", Counts("table", ("none", "aspirin"), COUNTS), n_patients=20, n_runs=4)
    for frame in (FRAMES["pandas"], FRAMES["polars"], [FRAMES["pandas bool"]]):
        result = simulate("thompson", frame, n_patients=20, n_runs=4)
        assert result[0].surplus == of_file[0].surplus
    both = simulate("thompson", [FRAMES["pandas"], FRAMES["polars"]], n_patients=20, n_runs=4)
    assert [one.population for one in both.outcomes] == ["table 1", "table 2"]


def test_a_table_of_records_may_be_a_frame(tmp_path: Path) -> None:
    days = [pd.Timestamp(2026, 3, day) if day else pd.NaT for day in (1, 0, 2, 3)]
    said = {"USUBJID": ["a", "b", "c", "d"], "ARM": [0, 1, 1, 0], "ACTARM": [0, None, 1, 0], "RANDDTM": days}
    frame = pd.DataFrame({**said, "AVAL": pd.array([True, None, False, True], dtype="boolean")})
    store = open_store()
    in_polars = pl.DataFrame(
        {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame}
    )
    for number, given in enumerate((frame, in_polars, frame.set_index("USUBJID"))):
        table = read_table(given)
        assert arms_in(table) == ["0", "1"]
        assert sorted(rewards_in(table)) == [0.0, 1.0]
        assert import_table(table, store, make_design(f"t{number}", "thompson", arms_in(table))) == 8


def test_pandas_is_never_imported() -> None:
    code = (
        "import sys, polars, adhere; frame = polars.DataFrame({'chosen': ['a', 'b'], 'actual': ['a', 'b'], "
        "'reward': [1, 0]}); adhere.as_population(frame); sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
