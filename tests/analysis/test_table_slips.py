"""Slips in tables that would change what is analysed: counts in thousands, one column twice, 1 and 1.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from adhere.analysis.reading.from_table import read_records
from adhere.errors import InputError
from adhere.populations.records import read_records as population_records
from adhere.record_sources import analyse, records_of
from same_records import assert_same_records

ROWS = {"chosen": [0, 1, 0, 1], "actual": [0, 1, None, 0], "reward": [1, 0, 1, 1], "x": [1, 2, 1, 2]}


@pytest.mark.parametrize(
    ("separator", "count"),
    [(";", "1.000"), (";", "1,000"), (",", "1.000"), (",", '"1,000"'), (",", "2.5"), (";", "12.")],
)
def test_a_count_in_thousands_or_with_decimals_is_refused(tmp_path: Path, separator: str, count: str) -> None:
    rows = [["chosen", "actual", "reward", "count"], ["a", "a", "1", "7"], ["b", "b", "1", count]]
    (tmp_path / "t.csv").write_text("\n".join(separator.join(row) for row in rows))
    expected = "a whole number in digits alone, without a decimal mark or a mark between thousands"
    for reader in (read_records, population_records):
        with pytest.raises(InputError) as caught:
            reader(tmp_path / "t.csv")
        count = count.strip('"')
        assert str(caught.value) == f"{tmp_path}/t.csv, line 3, column count: got {count!r}, expected {expected}"


def test_a_count_that_was_a_float_is_a_count(tmp_path: Path) -> None:
    frame = pl.DataFrame({"chosen": ["a", "b"], "actual": ["a", "b"], "reward": [1, 0], "count": [7.0, 1000.0]})
    for separator in ",;":
        frame.write_csv(tmp_path / "t.csv", separator=separator)
        assert read_records(tmp_path / "t.csv").patients.tolist() == [7, 1000]
    assert read_records(frame).patients.tolist() == [7, 1000]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"chosen": "x", "actual": "X"}, "column x: got chosen and actual, expected one role for each column"),
        ({"count": "reward"}, "column reward: got reward and count, expected one role for each column"),
        ({"stratum": "chosen"}, "column chosen: got chosen and stratum, expected one role for each column"),
        ({"chosen": 1}, "chosen: got 1, expected the name of a column, as text"),
        ({"stratum": 0}, "stratum: got 0, expected the name of a column, as text"),
        ({"chossen": "x"}, "column: got 'chossen', expected one of actual, chosen, "),
    ],
)
def test_a_column_that_cannot_be_meant(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        records_of(pl.DataFrame(ROWS), **columns)
    assert message in str(caught.value)


def test_a_column_named_for_one_role_is_not_found_for_another() -> None:
    frame = pl.DataFrame(ROWS).rename({"x": "subject"}).with_columns(n=pl.lit(1))
    assert records_of(frame, reward="n").columns["reward"] == "n"
    assert records_of(frame, reward="n").count is None
    assert "subject" not in records_of(frame, stratum="subject").columns


def test_whole_numbers_name_arms_however_they_are_written(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)  # the missing value makes floats of what was taken
    frame.to_csv(tmp_path / "trial.csv", index=False)
    assert "1,1.0,0" in (tmp_path / "trial.csv").read_text()
    records = read_records(tmp_path / "trial.csv")
    assert (records.arms, records.actual.tolist()) == (("0", "1"), [0, 1, -3, 0])
    assert_same_records(records, read_records(frame))
    assert population_records(tmp_path / "trial.csv").arms == ("0", "1")
    some = "chosen,actual,reward\n1.0,1.0,1\n1.5,took nothing,0\n"
    (tmp_path / "doses.csv").write_text(some)
    assert read_records(tmp_path / "doses.csv").arms == ("1", "1.5")
    (tmp_path / "text.csv").write_text("chosen,actual,reward,PROB_1.0,PROB_2.0\n1.0,1.0,1,.5,.5\n2.0,2.0,0,.5,.5\n")
    assert read_records(tmp_path / "text.csv").arms == ("1.0", "2.0")


def test_the_control_may_be_a_number() -> None:
    frame = pl.DataFrame(ROWS)
    assert analyse(frame, control=1).control == analyse(frame, control=1.0).control == "1"
    assert records_of(frame, control=0).control == 0
    with pytest.raises(InputError, match=r"^control: got \['1'\], expected the name of an arm$"):
        records_of(frame, control=["1"])


@pytest.mark.parametrize("title", ["chosen", "actual", "reward", "x"])
def test_a_column_of_lists_is_refused(title: str) -> None:
    frame = pl.DataFrame(ROWS).with_columns(pl.concat_list(title).alias(title))
    with pytest.raises(InputError) as caught:
        read_records(frame, stratum="x")
    assert str(caught.value) == f"table, column {title}: got List(Int64), expected one value in each row"


def test_a_stratum_has_a_name_that_can_be_printed() -> None:
    with pytest.raises(InputError, match=r"^table, row 2, column x: got 'b\\x1b\[31m', expected a name in printable"):
        read_records(pl.DataFrame(ROWS | {"x": ["a", "b\x1b[31m", "a", "a"]}), stratum="x")
