"""Tables into records: what each column says, what is missing, and what is refused, with its place."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from adhere.analysis.reading.from_table import read_records
from adhere.analysis.records import NOT_KNOWN, TOOK_NOTHING, TOOK_OTHER, Records
from adhere.errors import InputError
from same_records import assert_same_records

GOOD = "chosen,actual,reward\nnone,none,1\naspirin,none,0.5\naspirin,aspirin,0\nnone,,NA\n"
ADAPTIVE = (
    "subject,time,chosen,actual,reward,propensity_none,propensity_aspirin,stratum\n"
    "b,2,aspirin,none,0.5,0.25,0.75,old\n"
    "a,1,none,none,1,0.5,0.5,young\n"
    "c,10,aspirin,took nothing,0,0.125,0.875,\n"
)


def read(tmp_path: Path, text: str | bytes, name: str = "trial.csv", **columns: Any) -> Records:
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return read_records(path, **columns)


def test_a_plain_table_in_every_form(tmp_path: Path) -> None:
    records = read(tmp_path, GOOD)
    assert (records.name, records.arms, records.control) == ("trial", ("aspirin", "none"), 1)
    assert records.chosen.tolist() == [1, 0, 0, 1]
    assert records.actual.tolist() == [1, 1, 0, NOT_KNOWN]
    np.testing.assert_array_equal(records.reward, [1.0, 0.5, 0.0, np.nan])
    assert records.columns == {"chosen": "chosen", "actual": "actual", "reward": "reward"}
    assert (records.count, records.probabilities, records.seen, records.stratum) == (None, None, None, None)
    frame = pl.read_csv(tmp_path / "trial.csv", null_values="NA")
    frame.write_parquet(tmp_path / "trial.parquet")
    cdisc = frame.rename({"chosen": "ARM", "actual": "ACTARM", "reward": "AVAL"})
    others = [
        read(tmp_path, GOOD, "trial.csv.gz"),
        read(tmp_path, GOOD.replace(",", "\t"), "trial.tsv"),
        read(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n") + "\r\n\r\n"),
        read(tmp_path, GOOD.replace("\n", "\n\n")),
        read(tmp_path, GOOD.replace("\n", "\r")),
        read(tmp_path, GOOD.replace(",", ";").replace("0.5", "0,5")),
        read(tmp_path, GOOD.replace("aspirin", '"aspirin"').replace(",none", ', "none"').replace(' "', '"')),
        read_records(tmp_path / "trial.parquet"),
        read_records(frame),
        read_records(frame.lazy()),
        read_records(cdisc),
        read_records(cdisc.rename({"ARM": "TRTP", "ACTARM": "TRTA"})),
        read_records(cdisc.rename({"ARM": "TRT01P", "ACTARM": "TRT01A"})),
        read_records(frame.with_columns(pl.col("chosen").cast(pl.Categorical))),
        read_records(pd.DataFrame(frame.to_dicts())),
        read_records(frame.rename({"chosen": "a", "actual": "b", "reward": "c"}), chosen="a", actual="b", reward="C"),
    ]
    for other in others:
        assert_same_records(records, other)
    assert records.digest != read(tmp_path, GOOD.replace("0.5", "0.25")).digest


def test_order_probabilities_strata_and_took_nothing(tmp_path: Path) -> None:
    records = read(tmp_path, ADAPTIVE)
    assert records.arms == ("none", "aspirin")
    assert records.chosen.tolist() == [0, 1, 1]
    assert records.actual.tolist() == [0, 0, TOOK_NOTHING]
    assert records.probabilities is not None
    assert records.probabilities.tolist() == [[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]]
    assert records.strata == ("(missing)", "old", "young")
    assert records.stratum is not None
    assert records.stratum.tolist() == [2, 1, 0]
    assert records.warnings == ()
    by_day = ADAPTIVE.replace("b,2,", "b,2026-03-02,").replace("a,1,", "a,2026-03-01T09:00:00Z,")
    assert_same_records(records, read(tmp_path, by_day.replace("c,10,", "c,2026-11-01,")))
    assert_same_records(
        records, read(tmp_path, ADAPTIVE.replace("propensity_", "P_").replace("time", "when"), time="when")
    )
    assert_same_records(
        records, read(tmp_path, ADAPTIVE.replace("propensity_", "chance of "), propensity="chance of ")
    )
    # With two arms, the probability of the arm chosen is enough.
    chosen = "time,chosen,actual,reward,PROPENS\n2,aspirin,none,0.5,0.75\n1,none,none,1,0.5\n"
    assert read(tmp_path, chosen).probabilities.tolist() == [[0.5, 0.5], [0.75, 0.25]]  # type: ignore[union-attr]
    one = read(tmp_path, "chosen,actual,reward,p_b\na,a,1,0.75\nb,b,0,0.5\n")
    assert one.probabilities.tolist() == [[0.25, 0.75], [0.5, 0.5]]  # type: ignore[union-attr]
    more = read(tmp_path, chosen + "3,tea,tea,1,0.25\n")
    assert np.isnan(more.probabilities).tolist() == [[True, False, True], [False, True, True], [True, True, False]]  # type: ignore[arg-type]
    assert not more.has_all_probabilities
    assert "PROPENS has the probability of the arm chosen alone" in more.warnings[0]
    some = read(tmp_path, ADAPTIVE.replace("0.25,0.75", ",NA"))
    assert some.lacks_probabilities.sum() == 1
    assert some.warnings[0].startswith("probabilities are missing in 1 row, first in line 2: ")


def test_counts_of_patients(tmp_path: Path) -> None:
    records = read(tmp_path, "chosen,actual,reward,n\na,a,1,5\nb,b,0,3.0\n,a,1,4\nc,c,1,0\n")
    assert records.arms == ("a", "b", "c")  # c has no patients, but is an arm
    assert records.patients.tolist() == [5, 3]
    assert records.left_out == {"without an assigned arm": 4}
    assert records.warnings == ("column n is taken as a count of patients (count='n' says so)",)
    nobody = read(tmp_path, "chosen,actual,reward,count\na,a,1,0\nb,b,0,0\n")
    assert (len(nobody), nobody.arms) == (0, ("a", "b"))
    assert nobody.warnings == ("the counts add up to no patients",)
    assert read(tmp_path, "chosen,actual,reward,k\na,a,1,5\nb,b,0,3\n", count="k").n_patients == 8


def test_what_was_taken_but_never_assigned_is_something_else(tmp_path: Path) -> None:
    records = read(tmp_path, GOOD + "none,asprin,1\nnone,Took something else,1\nnone,Took nothing,1\n")
    assert records.actual.tolist()[-3:] == [TOOK_OTHER, TOOK_OTHER, TOOK_NOTHING]
    said = "1 patient took 'asprin', which was never assigned: counted as took something else; is it 'aspirin'?"
    assert records.warnings == (said,)
    listed = read(tmp_path, "chosen,actual,reward,PROB_a,PROB_b,PROB_c\na,c,1,.5,.5,0\nb,b,0,.5,.5,0\n")
    assert (listed.arms, listed.actual.tolist()) == (("a", "b", "c"), [2, 1])


@pytest.mark.parametrize(
    ("arms", "control", "expected"),
    [
        (("x", "y", "z"), None, "x"),
        (("drug", "Placebo"), None, "Placebo"),
        (("10", "9", "b"), None, "9"),
        (("drug", "sugar"), "Sugar", "sugar"),
    ],
)
def test_the_control(arms: Any, control: str | None, expected: str) -> None:
    records = read_records(pl.DataFrame({"chosen": arms, "actual": arms, "reward": 1}), control=control)
    assert records.arms[records.control] == expected
    with pytest.raises(InputError, match="control: got 'sugr', expected one of"):
        read_records(pl.DataFrame({"chosen": arms, "actual": arms, "reward": 1}), control="sugr")


def test_subjects_that_come_again(tmp_path: Path) -> None:
    several = GOOD.replace("chosen", "subject,chosen").replace("none,none", "s,none,none")
    several = several.replace("aspirin,none", "s,aspirin,none").replace("aspirin,aspirin", "t,aspirin,aspirin")
    records = read(tmp_path, several.replace("none,,", ",none,,"))
    (warning,) = records.warnings
    assert warning.startswith("1 subject has several rows (3 rows of 2 subjects; first 's' in line 2 and line 3)")
    twice = "subject,chosen,actual,reward\ns,a,a,1\nt,b,b,0\ns,a,a,1\n"
    with pytest.raises(InputError) as caught:
        read(tmp_path, twice)
    assert str(caught.value) == (
        f"{tmp_path}/trial.csv, column subject: the rows of 's' in line 2 and line 4 say the same; expected each"
        " subject once, or a column of times that tells its rows apart"
    )
    assert read(tmp_path, twice.replace("s,", "NA,")).warnings == ()
    timed = "subject,chosen,actual,reward,time\ns,a,a,1,1\nt,b,b,0,2\ns,a,a,1,3\n"
    assert len(read(tmp_path, timed).warnings) == 1


def test_rows_that_tell_little_are_records_too() -> None:
    nothing = pl.DataFrame(schema={"chosen": pl.String, "actual": pl.String, "reward": pl.Float64})
    with pytest.raises(InputError, match=r"^table: no arm was assigned; two can be compared$"):
        read_records(nothing)
    listed = read_records(nothing.with_columns(PROB_a=pl.lit(0.5), PROB_b=pl.lit(0.5)))
    assert (len(listed), listed.arms) == (0, ("a", "b"))
    unknown = read_records(pl.DataFrame({"chosen": ["a", "b"], "actual": [None, None], "reward": [None, None]}))
    assert not unknown.has_reward.any()
    assert unknown.actual.tolist() == [NOT_KNOWN, NOT_KNOWN]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "none,none,7\n", "line 6, column reward: got '7', expected a number from 0 to 1; rescale it: "),
        (
            GOOD + "none,none,2026-03-01\n",
            "line 6, column reward: got '2026-03-01', expected a number from 0 to 1, n",
        ),
        (
            GOOD + "none,none,01/03/2026\n",
            "line 6, column reward: got '01/03/2026', expected a number from 0 to 1, n",
        ),
        (GOOD + "no\0ne,none,1\n", "line 6, column chosen: got 'no\\x00ne', expected a name in printable text"),
        (
            "chosen,actual,reward,p_b\na,a,1,1\nb,b,0,0.5\n",
            "line 2, column p_b: got '1', expected a probability below 1, since the other arm was chosen",
        ),
        (
            GOOD + "none,none,much\n",
            "line 6, column reward: got 'much', expected a number from 0 to 1, true or false",
        ),
        (GOOD + "none,none\n", "line 6: got 'none,none', expected 3 values, one per column"),
        ("chosen,actual,reward\na,b,1\n", "trial.csv: only one arm was assigned: 'a'; two can be compared"),
        ("chosen,reward\na,1\n", "missing column: actual (found: chosen, reward); --chosen"),
        (
            "chosen,actual,reward,count\nb,a,1,1\na,a,1,1.5\n",
            "line 3, column count: got '1.5', expected a whole number",
        ),
        (
            "chosen,actual,reward,count\nb,a,1,1\na,a,1,-2\n",
            "line 3, column count: got '-2', expected a whole number",
        ),
        ("chosen,actual,reward,n\na,a,1,1\nb,a,1,2\na,b,1,3\n", "column n numbers the rows; rename it, or say"),
        (
            ADAPTIVE.replace("0.25,0.75", "0.25,0.7"),
            "line 2, columns propensity_none, propensity_aspirin: got [0.25, 0.7], expected probabilities that sum to"
            " one, not to 0.95",
        ),
        (ADAPTIVE.replace("0.25,0.75", "-0.25,1.25"), "line 2, column propensity_none: got '-0.25', expected a prob"),
        (
            ADAPTIVE.replace("0.25,0.75", "1,0"),
            "line 2, column propensity_aspirin: got '0', expected a probability above 0, since this arm was chosen",
        ),
        (ADAPTIVE.replace("a,1,", "a,soon,"), "line 3, column time: got 'soon', expected a number or a time, e.g. "),
        (
            ADAPTIVE.replace("aspirin,none", "tea,none"),
            "line 2, column chosen: got 'tea', expected an arm with a col",
        ),
        (
            ADAPTIVE.replace("stratum", "count").replace("old", "1").replace("young", "1").replace("875,", "875,1"),
            "column count: got 'a count of patients', expected a row for each patient where there are probabilities",
        ),
        (
            "TRTP,TRTA,AVAL,RECOMMENDATION_ID\na,a,1,7\nb,b,1,8\nb,a,1,7\n",
            "column RECOMMENDATION_ID: '7' is there twice, in line 2 and line 4; expected each recommendation once",
        ),
        (
            "TRTP,TRTA,AVAL,RECPOS,SEENPOS,TRTAPOS,AVALPOS\na,a,1,2,1,3,\nb,b,1,4,1,5,5\n",
            "line 2, column AVALPOS: got None, expected the number of a record of the log",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"chosen": ["a", "b"], "actual": ["a", "b"], "reward": [1, 0]}).write_parquet(path)
    whole = path.read_bytes()
    for damaged in (whole[:-20], whole[:4] + b"\xff" * 60 + whole[64:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="expected a table in Parquet that can be read"):
            read_records(path)


def test_a_time_that_cannot_be_read_is_said_where_order_does_not_matter(tmp_path: Path) -> None:
    records = read(tmp_path, "time,chosen,actual,reward\n2,a,a,1\nNA,b,b,0\n")
    assert records.chosen.tolist() == [0, 1]
    assert records.warnings[0].endswith("rows stay in the order of the table")


@pytest.mark.parametrize("values", [[1, "0", True, None], ["1", 0.0, True, pd.NaT]])
def test_mixed_types(values: list[Any]) -> None:
    arms = [1, "b", 1.0, "b"]
    frame = pd.DataFrame({"chosen": arms, "actual": arms, "reward": values}, dtype=object)
    records = read_records(frame)
    assert (records.arms, records.chosen.tolist()) == (("1", "b"), [0, 1, 0, 1])
    np.testing.assert_array_equal(records.reward, [1.0, 0.0, 1.0, np.nan])
    frame.loc[3, "reward"] = pd.Timestamp("2026-03-01")
    with pytest.raises(
        InputError, match=r"^table, row 4, column reward: got '2026-03-01 00:00:00', expected a number"
    ):
        read_records(frame)


def test_words_of_cdisc_for_no_arm_and_no_treatment_are_no_arms(tmp_path: Path) -> None:
    text = "ARM,ACTARM,AVAL\nDrug,Drug,1\nPlacebo,Not Treated,0\nScreen Failure,Screen Failure,\nNot Assigned,,\n"
    records = read(tmp_path, text + "Unplanned Treatment,Drug,1\nscreen failure,,\n")
    assert records.arms == ("Drug", "Placebo")
    assert records.actual.tolist() == [0, TOOK_NOTHING]
    assert records.left_out == {"without an assigned arm": 4}
    assert "'Screen Failure' is no arm: 2 patients were left out, as without an assigned arm" in records.warnings
    listed = "ARM,ACTARM,AVAL,PROB_Not Assigned,PROB_Not Treated\nNot Assigned,Not Treated,1,0.5,0.5\n"
    arms = read(tmp_path, listed + "Not Treated,Not Treated,0,0.5,0.5\n")
    assert (arms.arms, arms.actual.tolist()) == (("Not Assigned", "Not Treated"), [1, 1])
    assert not arms.left_out


@pytest.mark.parametrize(
    "data", [GOOD.encode("utf-16"), GOOD.encode("utf-16-le"), b"PK\x03\x04\x14\x00", b"\x89PNG\r\n\x1a"]
)
def test_what_is_not_text_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError, match=r"trial\.csv(\.gz)? is not text in UTF-8$"):
        read(tmp_path, data)
    with pytest.raises(InputError, match=r"is not text in UTF-8$"):
        read(tmp_path, data, "trial.csv.gz")
