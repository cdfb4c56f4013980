"""Finished studies on disk: found again whole and with the same settings, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars
import pytest
from polars.testing import assert_frame_equal

from adhere.simulation.execution import identity
from adhere.simulation.execution.identity import sources_digest
from adhere.studies.framework.study_cache import MADE_WITH, Settings, load, save

SETTINGS = Settings(seed=3, quick=False, version="1.0", sources="abc")
TABLES = {
    "final": polars.DataFrame({"policy": ["α, β", 'a "b"'], "surplus": [0.1 + 0.2, -1e-17]}),
    "empty": polars.DataFrame({"t": []}, schema={"t": polars.Int64}),
}


def test_tables_come_back_to_the_bit(tmp_path: Path) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    found = load(tmp_path, "study", SETTINGS)
    assert found is not None
    assert set(found.tables) == set(TABLES)
    for name, table in TABLES.items():
        assert_frame_equal(found.tables[name], table, check_exact=True)
    assert sorted(found.files) == sorted(path.name for path in (tmp_path / "study").iterdir())
    assert list(tmp_path.iterdir()) == [tmp_path / "study"]


def test_csv_says_the_same_as_parquet(tmp_path: Path) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    read = polars.read_csv(tmp_path / "study" / "final.csv")
    assert_frame_equal(read, TABLES["final"], check_exact=True)


@pytest.mark.parametrize("change", [{"seed": 4}, {"quick": True}, {"version": "1.1"}, {"sources": "abd"}])
def test_other_settings_are_another_study(tmp_path: Path, change: dict[str, object]) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    assert load(tmp_path, "study", replace(SETTINGS, **change)) is None  # type: ignore[arg-type]


def test_a_folder_under_another_name_is_not_that_study(tmp_path: Path) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    (tmp_path / "study").rename(tmp_path / "other")
    assert load(tmp_path, "other", SETTINGS) is None
    assert load(tmp_path, "study", SETTINGS) is None


@pytest.mark.parametrize("name", ["final.parquet", "final.csv", "empty.parquet"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "emptied"])
def test_a_damaged_study_is_not_finished(tmp_path: Path, name: str, damage: str) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    path = tmp_path / "study" / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        # One bit in the middle: Parquet itself would not notice every such change.
        changed = bytearray(content)
        changed[len(content) // 2] ^= 1
        path.write_bytes({"cut": content[:-1], "changed": bytes(changed), "emptied": b""}[damage])
    assert load(tmp_path, "study", SETTINGS) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"files": []}', "\xff\xfe"])
def test_a_damaged_note_is_not_a_finished_study(tmp_path: Path, text: str) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    (tmp_path / "study" / MADE_WITH).write_text(text, encoding="latin-1")
    assert load(tmp_path, "study", SETTINGS) is None


def test_a_file_of_someone_else_is_no_table(tmp_path: Path) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    (tmp_path / "study" / "mine.parquet").write_bytes(b"not Parquet")
    found = load(tmp_path, "study", SETTINGS)
    assert found is not None
    assert set(found.tables) == set(TABLES)
    assert "mine.parquet" not in found.files


def test_saving_again_replaces_what_was_there(tmp_path: Path) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    save(tmp_path, "study", replace(SETTINGS, seed=4), {"other": TABLES["final"]})
    assert sorted(path.name for path in (tmp_path / "study").iterdir()) == [MADE_WITH, "other.csv", "other.parquet"]


@pytest.mark.parametrize("n_written", range(5))
def test_stopped_while_writing_nothing_is_taken_for_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    left, write_bytes = [n_written], Path.write_bytes

    def stop_later(path: Path, content: bytes) -> int:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return write_bytes(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", stop_later)
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path, "study", SETTINGS, TABLES)
    assert load(tmp_path, "study", SETTINGS) is None
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_loses_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bytes = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", lambda path, content: write_bytes(path, content[:-1]))
    with pytest.raises(OSError, match="study"):
        save(tmp_path, "study", SETTINGS, TABLES)


def test_settings_of_this_adhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Settings.now(5, True) == Settings(5, True, Settings.now(0, False).version, sources_digest())
    # Other code is other sources, wherever in the package it is.
    package = tmp_path / "adhere"
    (package / "policies").mkdir(parents=True)
    (package / "policies" / "thompson.py").write_text("a = 1\n")
    monkeypatch.setattr(identity, "files", lambda name: tmp_path / name)
    digests = []
    for change in ("a = 1\n", "a = 2\n", "a = 1\n"):
        (package / "policies" / "thompson.py").write_text(change)
        sources_digest.cache_clear()
        digests.append(sources_digest())
    (package / "policies" / "thompson.py").rename(package / "thompson.py")
    sources_digest.cache_clear()
    digests.append(sources_digest())
    monkeypatch.undo()
    sources_digest.cache_clear()
    assert digests[0] == digests[2]
    assert len(set(digests)) == 3


def test_what_a_study_was_made_with_can_be_read(tmp_path: Path) -> None:
    save(tmp_path, "study", SETTINGS, TABLES)
    said = json.loads((tmp_path / "study" / MADE_WITH).read_text())
    assert (said["study"], said["seed"], said["quick"], said["version"]) == ("study", 3, False, "1.0")
