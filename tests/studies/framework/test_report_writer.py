"""A report goes into a folder beside what else is there; one that cannot take it is refused before the work."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from adhere.errors import InputError
from adhere.studies.framework import reproduce as module
from adhere.studies.framework.reproduce import reproduce
from studies.small_studies import BOTH, WHOLE, contents, counted


@pytest.fixture
def no_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong must be found before anything is simulated."""
    monkeypatch.delattr(module, "simulate")


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    theirs = {"notes.txt", "data/mine.csv", "data/simulated/mine.parquet", "figures/mine.png", ".hidden"}
    reproduce(tmp_path, BOTH)
    for name in theirs:
        (tmp_path / name).write_text(name)
    reproduce(tmp_path, BOTH[1:], catalogue=BOTH, seed=1, fresh=True)
    found = contents(tmp_path)
    assert set(found) == theirs | {name for name in WHOLE if "simulated" not in name}
    assert all(found[name] == name.encode() for name in theirs)


def test_a_page_of_someone_else_is_not_replaced(tmp_path: Path, no_simulation: None) -> None:
    for name in ("index.html", "run.json"):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(InputError, match=r"out: got '.*expected a folder for the report alone"):
            reproduce(folder, BOTH)
        assert contents(folder) == {name: b"mine"}


def test_a_list_of_files_that_leads_elsewhere_removes_nothing_there(tmp_path: Path) -> None:
    out, precious = tmp_path / "report", tmp_path / "precious"
    precious.write_text("mine")
    reproduce(out, BOTH)
    (out / "mine").write_text("mine")
    run = json.loads((out / "run.json").read_text())
    elsewhere = ["data/../../precious", str(precious), "../precious", "mine", 3]
    (out / "run.json").write_text(json.dumps({**run, "files": elsewhere}))
    reproduce(out, BOTH)
    assert precious.exists()
    assert (out / "mine").exists()


@pytest.mark.parametrize("place", ["", "data", "figures", ".unfinished"])
def test_a_file_where_a_folder_belongs(tmp_path: Path, no_simulation: None, place: str) -> None:
    out = tmp_path / "report"
    (out / place).parent.mkdir(parents=True, exist_ok=True)
    (out / place).write_text("mine")
    with pytest.raises(InputError, match=r"out: got .*is a file"):
        reproduce(out, BOTH)
    assert (out / place).read_text() == "mine"


def test_a_folder_that_may_not_be_written_into(
    tmp_path: Path, no_simulation: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever runs the tests as root may write anywhere, so permissions are only pretended.
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path / "data")
    (tmp_path / "data").mkdir()
    with pytest.raises(InputError, match=r"out: got .*data is not writable"):
        reproduce(tmp_path, BOTH)


def test_figures_of_the_same_name_are_refused(tmp_path: Path) -> None:
    twin = replace(counted(), name="twin")
    with pytest.raises(InputError, match="counted-figure"):
        reproduce(tmp_path, [counted(), twin])
    assert not (tmp_path / "index.html").exists()
