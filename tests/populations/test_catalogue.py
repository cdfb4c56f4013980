from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adhere.errors import InputError
from adhere.populations import as_population, built_in_populations, defiers, stroke_aspirin

NAMES = [
    "stroke-aspirin",
    "stroke-heparin",
    "defiers",
    "rich-and-poor",
    "corrective",
    "homogeneous",
    "uniform-other",
    "uniform-any",
    "uniform-corrective",
]


def test_the_built_ins() -> None:
    descriptions = built_in_populations()
    assert list(descriptions) == NAMES
    for name, description in descriptions.items():
        assert as_population(name).name == name
        assert as_population(f"  {name.upper()} ") == as_population(name)
        assert description
        assert "\n" not in description


def test_an_object_is_returned_as_it_is() -> None:
    mine = defiers()
    assert as_population(mine) is mine


def test_files(tmp_path: Path) -> None:
    table = tmp_path / "Trial.CSV"
    table.write_text("chosen,actual,reward\na,a,1\nb,a,0\n", encoding="utf-8")
    assert as_population(table).arms == as_population(str(table)).arms == ("a", "b")
    types = tmp_path / "mine.toml"
    types.write_text(
        'arms = ["a", "b"]\n[[compliance_type]]\nname = "defier"\nprobability = 1\nreward = { a = 0, b = 1 }\n',
        encoding="utf-8",
    )
    assert as_population(types).name == as_population(f" {types} ").name == "mine"


def test_the_published_stroke_file(tmp_path: Path) -> None:
    path = tmp_path / "ist.csv"
    path.write_text("RXASP,RXHEP,CMPLASP,CMPLHEP,ID14\nY,N,Y,Y,0\nN,L,N,N,1\nN,M,Y,Y,0\n", encoding="utf-8")
    aspirin = as_population(f"Stroke-Aspirin:{path}")
    assert aspirin == stroke_aspirin(path)
    assert aspirin != stroke_aspirin()
    assert as_population(f"stroke-heparin: {path}").n_arms == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "defier",
            "population: got 'defier', expected a file ending in .toml, .csv, .csv.gz, .tsv, .parquet, or one of",
        ),
        ("defier", "(did you mean 'defiers'?)"),
        ("stroke-aspirin:", "population: got 'stroke-aspirin:'"),
        ("", "population: got ''"),
        ("trial.xlsx", "a file ending in .toml, .csv, .csv.gz, .tsv, .parquet"),
        ("gone.csv", "gone.csv does not exist"),
        ("gone.toml", "gone.toml does not exist"),
        ("stroke-heparin:gone.csv", "gone.csv does not exist"),
        (3, "population: got 3, expected a population, the name of one, a frame, or the path"),
    ],
)
def test_unknown(given: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        as_population(given)
    assert message in str(caught.value)
