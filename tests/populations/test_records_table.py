from __future__ import annotations

import csv
import gzip
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adhere.csv_cells import escape
from adhere.errors import InputError
from adhere.populations import Count, Counts
from adhere.populations.records import read_records

from .strategies import counts_populations

GOOD = "chosen,actual,reward,count\nnone,none,1,6\nnone,aspirin,0.5,2\naspirin,aspirin,0,3\n"
READ = Counts(
    "trial",
    ("none", "aspirin"),
    [Count("none", "none", 1.0, 6), Count("none", "aspirin", 0.5, 2), Count("aspirin", "aspirin", 0.0, 3)],
)


def read(text: str | bytes, name: str = "trial.csv", arms: Sequence[str] | None = None) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return read_records(path, arms=arms, control=arms[0] if arms else None).population()


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\n\n"),
        GOOD.replace(",", " , "),
        GOOD.replace("chosen,actual,reward,count", "TRTP,TRTA,AVAL,N"),
        GOOD.replace("chosen,actual,reward,count", "Trtp,trta,Aval,n"),
        GOOD.replace("6", "4") + "none,none,1.0,2.0\n",
        "site,count,reward,ACTUAL,Chosen\nA,6,1,none,none\nB,2,.5,aspirin,none\nC,3,0e0,aspirin,aspirin\n",
        "chosen,actual,reward\n" + "none,none,1\n" * 6 + "none,aspirin,0.5\n" * 2 + "aspirin,aspirin,0\n" * 3,
        GOOD.replace("none,none,1,", "none,none,TRUE,").replace("aspirin,0,", "aspirin,false,"),
        GOOD.replace(",", ";").replace("0.5", "0,5"),
        GOOD.replace(",", "\t"),
        GOOD.replace("count", "n"),
        GOOD.replace("chosen,actual,reward,count", "arm,ACTARM,AVAL,N"),
        # An unrelated N beside our own column names is just another column.
        "chosen,actual,reward,count,N\nnone,none,1,6,x\nnone,aspirin,0.5,2,x\naspirin,aspirin,0,3,x\n",
    ],
)
def test_ways_to_write_the_same_file(text: str) -> None:
    assert read(text) == READ
    assert read(text, "trial.csv.gz") == READ


def test_arms_come_in_order_of_their_names() -> None:
    assert read("chosen,actual,reward\nb,a,1\na,c,1\nc,c,0\n").arms == ("a", "b", "c")


def test_bytes_that_are_not_utf_8_do_not_matter_where_they_are_not_used() -> None:
    assert read(GOOD.replace("\n", ",x\n").encode().replace(b"6,x", b"6,\xf6")) == READ


def test_what_is_missing_stays_missing_and_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "trial.csv"
    rest = "none,none,,2\nnone,none,NA,1\nnone,,1,3\nnone,NA,0,1\nnone,NaN,nan,1\n,none,1,1\naspirin,.,.,1\n"
    path.write_text(GOOD + rest)
    records = read_records(path)
    assert records.population() == READ
    assert records.left_out() == {
        "without an assigned arm": 1,
        "without an outcome": 5,
        "without the arm taken": 4,
    }
    reasons = "1 without an assigned arm, 5 without an outcome, 4 without the arm taken"
    assert records.note() == f"{path}: 10 of 21 patients left out: {reasons}"


@pytest.mark.parametrize("word", ["NA", "n/a", "NaN", "NULL", "."])
def test_a_word_for_missing_is_no_arm(word: str, tmp_path: Path) -> None:
    path = tmp_path / "trial.csv"
    path.write_text(f"{GOOD}{word},{word},1,2\n{word},none,1,1\nnone,{word},1,1\n")  # R writes NA
    records = read_records(path)
    assert records.population() == READ
    assert records.left_out() == {"without an assigned arm": 3, "without the arm taken": 1}
    frame = polars.DataFrame({"chosen": ["a", "b", word], "actual": ["a", word, "b"], "reward": ["1", "0", word]})
    assert read_records(frame).left_out() == {"without an assigned arm": 1, "without the arm taken": 1}
    # An export of adhere's has a column PROB_… for each arm: an arm that was called so is one there.
    path.write_text(f"TRTP,TRTA,AVAL,PROB_none,PROB_{word}\n{word},{word},1,.5,.5\nnone,none,0,.5,.5\n")
    assert read_records(path).population().arms == ("none", word)


def test_who_took_none_of_the_arms_is_said_in_words(tmp_path: Path) -> None:
    path = tmp_path / "trial.csv"
    path.write_text(GOOD + "none,Took nothing,1,4\naspirin,took something else,0,1\n")
    records = read_records(path)
    assert records.population() == READ
    assert records.left_out() == {"that took nothing": 4, "that took something else": 1}
    with pytest.raises(InputError, match=r"expected one of none, aspirin.*, or took nothing or took something else$"):
        read(GOOD + "none,nothing,1,4\n")


def write(population: Counts, header: tuple[str, ...]) -> list[list[str]]:
    return [list(header), *([escape(str(value)) for value in row] for row in population.counts)]


def as_text(rows: list[list[str]]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


HEADERS = st.sampled_from([("chosen", "actual", "reward", "count"), ("TRTP", "TRTA", "AVAL", "N")])


@settings(deadline=None)
@given(counts_populations(), HEADERS)
def test_round_trip(population: Counts, header: tuple[str, ...]) -> None:
    again = read(as_text(write(population, header)), arms=population.arms)
    assert (again.arms, again.counts) == (population.arms, population.counts)


BREAKS = {
    2: ["inf", "-0.5", "1.0001", "yes", "0,5", "0_1"],
    3: ["", "-1", "1.5", "nan", "inf", "many", "1_0", "1e99"],
}


@settings(deadline=None)
@given(counts_populations(), HEADERS, st.data())
def test_a_broken_value_is_named_with_its_line_and_column(
    population: Counts, header: tuple[str, ...], data: st.DataObject
) -> None:
    rows = write(population, header)
    line = data.draw(st.integers(2, len(rows)), label="line")
    column = data.draw(st.sampled_from([2, 3]), label="column")
    value = data.draw(st.sampled_from(BREAKS[column]), label="value")
    rows[line - 1][column] = value
    with pytest.raises(InputError) as caught:
        read(as_text(rows))
    assert f"trial.csv, line {line}, column {header[column]}: got {value!r}, expected" in str(caught.value)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_junk_is_an_input_error(junk: bytes) -> None:
    for name in ("trial.csv", "trial.csv.gz"):
        with pytest.raises(InputError):
            read(junk, name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a header and at least one row, not an empty file"),
        ("chosen,actual,reward\n", "trial.csv: got 'no rows', expected at least one row"),
        ("a,b\n1,2\n", "trial.csv: missing columns: chosen, actual, reward (found: a, b); --chosen, --actual and"),
        ("a;b;c\n1;2;3\n", "(found: a, b, c); --chosen, --actual and --reward (in Python: chosen=…) say which"),
        ("a;b;c\n1;2;3\n", "it was read as separated by semicolons"),
        (
            "chosen,reward\nx,1\n",
            "trial.csv: missing column: actual (found: chosen, reward)",
        ),
        ("TRTP,TRTA\nx,x\n", "missing column: AVAL (found: TRTP, TRTA)"),
        ("chosen,Chosen,actual,reward\nx,x,x,1\n", "header: got 'chosen', expected each column once"),
        (GOOD + "none,none,1\n", "trial.csv, line 5: got 'none,none,1', expected 4 values, one per column"),
        (GOOD + "none,none,1,1,1\n", "trial.csv, line 5: got 'none,none,1,1,1', expected 4 values"),
        (GOOD + '"none,none,1,1\n', "trial.csv, line 5: got 'unexpected end of data'"),
        (
            GOOD + "none,asprin,1,1\n",
            "trial.csv, line 5: arm 'asprin' was taken but never assigned; expected one of none, aspirin (did",
        ),
        (GOOD + "none,none,0_1,1\n", "trial.csv, line 5, column reward: got '0_1', expected a number"),
        (GOOD + "none,none,yes,1\n", "got 'yes', expected a number from 0 to 1, true or false, or nothing (also NA)"),
        (GOOD + "none,none,1,1_0\n", "trial.csv, line 5, column count: got '1_0', expected a number"),
        (
            GOOD + "none,heparin,1,0\n",
            "trial.csv, line 5: arm 'heparin' was taken but never assigned; expected one of none, aspirin",
        ),
        (GOOD + "heparin,none,1,0\n", "trial.csv, counts: got 'heparin', expected at least one patient"),
        ("chosen,actual,reward\nx,x,1\n", "trial.csv, arms: got ('x',), expected at least two arms"),
        (GOOD.encode() + b"n\xf6ne,none,1,1\n", "line 5, column chosen: got b'n\\xf6ne', expected UTF-8 text"),
    ],
)
def test_broken_files(text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert message in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.csv does not exist"):
        read_records(tmp_path / "gone.csv")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_records(tmp_path)
    whole = gzip.compress(GOOD.encode())
    damaged = whole[:10] + b"\xff" * 8 + whole[18:]
    for name, data in (("plain", GOOD.encode()), ("cut", whole[:-12]), ("damaged", damaged)):
        path = tmp_path / f"{name}.csv.gz"
        path.write_bytes(data)
        with pytest.raises(InputError, match=f"{name}.*(cannot be read|a whole gzip file)"):
            read_records(path)
