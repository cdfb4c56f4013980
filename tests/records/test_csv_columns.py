"""Polars reads a file as the row-by-row reader does, or leaves it to that."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adhere.errors import InputError
from adhere.records.file_columns import _plain, _row_by_row, csv_columns, line_of

TITLES = ["a", "b", "c"]
CELLS = st.sampled_from(["", " ", "x", " y ", "1.5", 'q"q', "n,n", "l\nl", "'=1", "é", "\t", "NA"])
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5)


def written(rows: list[list[str]], quoting: int, end: str) -> str:
    file = io.StringIO()
    csv.writer(file, quoting=quoting, lineterminator=end).writerows([TITLES, *rows])  # type: ignore[arg-type]
    return file.getvalue()


TEXTS = st.builds(
    written, ROWS, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.sampled_from(["\n", "\r\n", "\r", "\n\n"])
)


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.sets(st.sampled_from(TITLES), min_size=1), st.sampled_from(["", "\n\n", '"', "x", ",,\n"]))
@example("a,b,c\n1,2,3\nSource: me\n", {"b"}, "")
@example("a,b,c\n1,2,3\n,,\n4,5,6\n", {"b"}, "")
@example("a,b,c\n1,2,\n3,4\n", {"a", "b"}, "")
def test_both_readers_agree(text: str, wanted: set[str], end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes((text + end).encode())
        quick = _plain(path, TITLES, sorted(wanted), ",")
        try:
            careful = _row_by_row(path, TITLES, sorted(wanted))
        except InputError:
            assert quick is None
            return
    assert quick is None or {title: column.to_list() for title, column in quick.items()} == {
        title: column.to_list() for title, column in careful.items()
    }


def test_a_plain_file_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,"b",c\n1,"x, y",\n2, z ,"3"\n\n')
    columns = _plain(path, TITLES, ["c", "b"], ",")
    assert columns is not None
    assert {title: column.to_list() for title, column in columns.items()} == {"b": ["x, y", "z"], "c": [None, "3"]}
    path.write_text("a,b,c\n\n1,'=1,'x\n\n\n2,,3\n")
    assert csv_columns(path, TITLES, ["b"], ",")["b"].to_list() == ["=1", None]
    assert [line_of(path, row) for row in (0, 1)] == [3, 6]


def test_a_short_row_is_never_filled_up(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,3\n1,2\n")
    with pytest.raises(InputError, match="line 3: got '1,2', expected 3 values, one per column"):
        csv_columns(path, TITLES, ["a"], ",")
