from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from adhere.errors import InputError
from adhere.populations import stroke_aspirin, stroke_heparin
from adhere.populations.stroke import StrokeCount, counts_from_published, shipped_counts

# The table that came with the data, copied by hand.
TABLE = [
    ("aspirin", "none", "none", 8666, 901),
    ("aspirin", "none", "aspirin", 135, 8),
    ("aspirin", "aspirin", "none", 678, 106),
    ("aspirin", "aspirin", "aspirin", 8163, 765),
    ("heparin", "none", "none", 8766, 901),
    ("heparin", "none", "low", 41, 3),
    ("heparin", "low", "none", 365, 43),
    ("heparin", "low", "low", 4069, 381),
    ("heparin", "medium", "none", 550, 61),
    ("heparin", "medium", "medium", 3851, 391),
]
HEADER = "HOSPNUM,RXASP,RXHEP,CMPLASP,CMPLHEP,ID14"
# One patient for each allocation and compliance that the rules tell apart, and one of unknown compliance.
PATIENTS = [
    "1,Y,N,Y,Y,0",
    "2,Y,L,N,N,1",
    "3,N,M,N,N,0",
    "4,N,H,Y,Y,1",
    "5,N,N,Y,N,0",
    "6,Y,L,,,1",
    "7,Y,L,Y,Y,0",
]


@pytest.fixture(scope="module")
def published() -> Path:
    path = Path(__file__).parents[3] / "shared" / "data" / "ist.csv.gz"
    if not path.exists():
        pytest.skip("the full International Stroke Trial file is not beside the repository (shared/data)")
    return path


def test_shipped_counts() -> None:
    counts = shipped_counts()
    assert counts == tuple(StrokeCount(*row) for row in TABLE)
    for trial in ("aspirin", "heparin"):
        assert sum(row.survived + row.died for row in counts if row.trial == trial) == 19_422


def test_the_published_file_gives_the_shipped_counts(published: Path) -> None:
    assert counts_from_published(published) == shipped_counts()
    assert stroke_aspirin(published) == stroke_aspirin()


def test_aspirin_by_hand() -> None:
    population = stroke_aspirin()
    assert population.arms == ("none", "aspirin")
    assert population.patients_per_arm() == {"none": 9710, "aspirin": 9712}
    np.testing.assert_allclose(population.mean_given_chosen(), [(8666 + 135) / 9710, (678 + 8163) / 9712], rtol=1e-14)
    np.testing.assert_allclose(
        population.compliance(), [[9567 / 9710, 143 / 9710], [784 / 9712, 8928 / 9712]], rtol=1e-14
    )
    np.testing.assert_allclose(
        population.mean_given_both(), [[8666 / 9567, 135 / 143], [678 / 784, 8163 / 8928]], rtol=1e-14
    )


def test_heparin_by_hand() -> None:
    population = stroke_heparin()
    assert population.arms == ("none", "low", "medium")
    np.testing.assert_allclose(
        population.mean_given_chosen(),
        [(8766 + 41) / 9711, (365 + 4069) / 4858, (550 + 3851) / 4853],
        rtol=1e-14,
    )
    assert population.tables(0, 0, 1).cumulative.shape == (1, 3, 4)
    np.testing.assert_array_equal(population.compliance() == 0, [[0, 0, 1], [0, 0, 1], [0, 1, 0]])


def test_the_source_is_credited() -> None:
    for population in (stroke_aspirin(), stroke_heparin()):
        assert "Sandercock, Niewada, Członkowska (2011)" in population.source
        assert "10.7488/ds/104" in population.source


def test_the_rules_on_a_small_file(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_bytes("\n".join([HEADER, *PATIENTS]).encode() + b"\n\xf6,Y,N,Y,Y,0\n")
    survivors = {row[:3]: row.survived for row in counts_from_published(path) if row.survived}
    dead = {row[:3]: row.died for row in counts_from_published(path) if row.died}
    assert survivors == {
        ("aspirin", "aspirin", "aspirin"): 3,
        ("aspirin", "none", "aspirin"): 1,
        ("aspirin", "none", "none"): 1,
        ("heparin", "none", "none"): 2,
        ("heparin", "medium", "none"): 1,
        ("heparin", "none", "low"): 1,
        ("heparin", "low", "low"): 1,
    }
    assert dead == {
        ("aspirin", "aspirin", "none"): 1,
        ("aspirin", "none", "none"): 1,
        ("heparin", "low", "none"): 1,
        ("heparin", "medium", "medium"): 1,
    }
    zipped = tmp_path / "small.csv.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert counts_from_published(zipped) == counts_from_published(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "3,N,M,N,N,0",
            "3,N,X,N,N,0",
            "small.csv, line 4, column RXHEP: got 'X', expected one of N, L, M, H",
        ),
        ("3,N,M,N,N,0", "3,N,M,N,N,", "small.csv, line 4, column ID14: got '', expected one of 0, 1"),
        ("3,N,M,N,N,0", "3,N,M,U,N,0", "line 4, column CMPLASP: got 'U', expected one of Y, N, blank"),
        (
            "RXASP,RXHEP",
            "ASP,HEP",
            "missing columns: RXASP, RXHEP (found: HOSPNUM, ASP, HEP, CMPLASP, CMPLHEP, ID14)",
        ),
        ("RXASP,RXHEP", "ASP,HEP", "columns: RXASP, RXHEP"),
        ("4,N,H,Y,Y,1", "4,N,H,Y", "line 5: got '4,N,H,Y', expected 6 values, one per column"),
    ],
)
def test_broken_published_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "small.csv"
    path.write_text("\n".join([HEADER, *PATIENTS]).replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        stroke_heparin(path)
    assert message in str(caught.value)
