"""`adhere data stroke`: the shipped counts, and the check of them against the published file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from adhere.populations.stroke import StrokeCount, shipped_counts

from .running import Finished, in_a_process, in_this_process

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "ist.csv.gz"
STROKE = ("data", "stroke")
SAME, NOT_THE_SAME = "\nthe same as the shipped counts\n", "\nnot the same as the shipped counts"
HEADER = "RXASP,RXHEP,CMPLASP,CMPLHEP,ID14"
CODES = {"none": "N", "aspirin": "Y", "low": "L", "medium": "M"}


def patients() -> list[str]:
    """A row for each patient of a file with the shipped counts; which allocations meet does not matter to them."""
    columns: dict[str, list[tuple[str, str]]] = {}
    for dead in (False, True):
        for row in shipped_counts():
            cells = (CODES[row.allocated], "Y" if row.taken == row.allocated else "N")
            columns.setdefault(f"{row.trial} {dead}", []).extend([cells] * _how_many(row, dead))
    rows = []
    for dead in (False, True):
        pairs = zip(columns[f"aspirin {dead}"], columns[f"heparin {dead}"], strict=True)
        rows += [f"{rx_asp},{rx_hep},{asp},{hep},{dead:d}" for (rx_asp, asp), (rx_hep, hep) in pairs]
    return rows


def _how_many(row: StrokeCount, dead: bool) -> int:
    return row.died if dead else row.survived


@pytest.fixture(scope="module")
def whole() -> list[str]:
    return patients()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, rows: list[str]) -> None:
    text = "\n".join([HEADER, *rows]).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def from_file(capsys: pytest.CaptureFixture[str], name: str) -> Finished:
    return in_this_process(capsys, *STROKE, "--from", name)


def test_the_shipped_counts(capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, *STROKE)
    assert (shown.status, shown.err) == (0, "")
    cells = [line.split() for line in shown.out.splitlines()]
    for row in shipped_counts():
        numbers = (row.survived, row.died, row.survived + row.died)
        assert [row.trial, row.allocated, row.taken, *(f"{number:,}" for number in numbers)] in cells
    assert cells.count(["heparin", "all", "all", "17,642", "1,780", "19,422"]) == 1
    assert ["heparin", "medium", "4,853", "4,242", "87.4%", "[86.4,", "88.3]"] in cells
    assert "shipped with adhere" in shown.out
    assert "Sandercock, Niewada, Członkowska (2011)" in shown.out
    assert "ODC-By" in shown.out
    assert SAME not in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["ist.csv", "ist.csv.gz"])
def test_a_file_with_the_same_counts(
    folder: Path, capsys: pytest.CaptureFixture[str], whole: list[str], name: str
) -> None:
    write(folder / name, [*whole, "Y,L,,,1"])  # unknown compliance is left out
    shown = from_file(capsys, name)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.endswith(SAME)
    assert f"derived from {name}" in shown.out
    assert ["heparin", "all", "all", "17,642", "1,780", "19,422"] in [line.split() for line in shown.out.splitlines()]


def test_a_file_without_one_patient(folder: Path, capsys: pytest.CaptureFixture[str], whole: list[str]) -> None:
    assert whole[0] == "N,N,Y,Y,0"
    write(folder / "fewer.csv", whole[1:])
    shown = from_file(capsys, "fewer.csv")
    assert (shown.status, shown.err) == (1, "")
    _, said = shown.out.split(NOT_THE_SAME)
    assert [line.split() for line in said.splitlines()[2:]] == [
        ["aspirin", "none", "none", "8,665", "8,666", "901", "901"],
        ["heparin", "none", "none", "8,765", "8,766", "901", "901"],
    ]


def test_a_file_with_a_few_patients(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "few.csv", ["Y,N,N,Y,0", "N,L,Y,Y,1"])
    shown = from_file(capsys, "few.csv")
    assert shown.status == 1
    assert ["heparin", "medium", "0", "0", "nobody"] in [line.split() for line in shown.out.splitlines()]
    assert shown.out.count("8,666") == 1


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("absent.csv", None, "does not exist"),
        (".", None, "Is a directory"),
        ("empty.csv", b"", "not an empty file"),
        ("header.csv", HEADER.encode(), "at least one patient"),
        ("unknown.csv", f"{HEADER}\nY,L,,,1\n".encode(), "at least one patient"),
        ("other.csv", b"chosen,actual\n1,2\n", "missing columns: RXASP, CMPLASP, RXHEP, CMPLHEP, ID14"),
        ("cut.csv.gz", gzip.compress(HEADER.encode(), mtime=0)[:-12], "a whole gzip file"),
        ("plain.csv.gz", HEADER.encode(), "Not a gzipped file"),
        ("code.csv", f"{HEADER}\nY,X,Y,Y,1\n".encode(), "code.csv, line 2, column RXHEP: got 'X'"),
    ],
)
def test_a_file_that_cannot_be_used(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, says: str
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    shown = from_file(capsys, name)
    assert (shown.status, shown.out) == (2, "")
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1
    assert name in shown.err
    assert says in shown.err


def test_where(capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, *STROKE, "--where")
    assert shown.status == 0
    for said in ("10.7488/ds/104", "Edinburgh DataShare", "12:101", "ODC-By", "IST_corrected.csv", "--from"):
        assert said in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_where_and_from_together(capsys: pytest.CaptureFixture[str]) -> None:
    shown = in_this_process(capsys, *STROKE, "--where", "--from", "ist.csv")
    assert (shown.status, shown.out) == (2, "")
    assert shown.err == "error: --from: got 'ist.csv', expected no file together with --where\n"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert "adhere data stroke --from IST_corrected.csv" in in_this_process(capsys, *STROKE, "--help").out
    for arguments in (("data",), ("data", "--help")):
        shown = in_this_process(capsys, *arguments)
        assert (shown.status, shown.err) == (0, "")
        assert "stroke" in shown.out
    assert "stroke" in in_this_process(capsys, "data", "strok").err


def test_the_exit_status_of_a_process(folder: Path, whole: list[str]) -> None:
    write(folder / "fewer.csv", whole[1:])
    shown = in_a_process(*STROKE, "--from", "fewer.csv", cwd=folder)
    assert (shown.status, shown.err) == (1, "")
    assert NOT_THE_SAME in shown.out


def test_the_published_file(capsys: pytest.CaptureFixture[str]) -> None:
    if not PUBLISHED.exists():
        pytest.skip("the full International Stroke Trial file is not beside the repository (shared/data)")
    shown = from_file(capsys, str(PUBLISHED))
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.endswith(SAME)
