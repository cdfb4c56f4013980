"""A saved result comes back to the bit, and a failed save leaves what was there before."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import polars
import pytest

from adhere import InputError, SimulationResult, simulate

from .test_same_numbers import same


@pytest.fixture(scope="module")
def result() -> SimulationResult:
    return simulate(["thompson", "hierarchical(exp3)"], ["stroke-heparin", "defiers"], 60, 200, seed=1, grid=[10, 60])


@pytest.fixture(scope="module")
def earlier() -> SimulationResult:
    return simulate(["thompson"], ["stroke-heparin"], 30, 20, seed=2, grid=[30])


def equal(one: SimulationResult, other: SimulationResult) -> bool:
    return (
        one.config == other.config
        and len(one.outcomes) == len(other.outcomes)
        and all(map(same, one.outcomes, other.outcomes))
        and [(o.policy, o.arms, o.components, o.grid, o.moments.n) for o in one.outcomes]
        == [(o.policy, o.arms, o.components, o.grid, o.moments.n) for o in other.outcomes]
    )


def test_round_trip_to_the_bit(result: SimulationResult, tmp_path: Path) -> None:
    result.save(tmp_path / "new" / "folder")
    loaded = SimulationResult.load(tmp_path / "new" / "folder")
    assert equal(loaded, result)
    assert loaded.to_json() == result.to_json()
    assert loaded.summary() == result.summary()
    assert loaded.to_polars().equals(result.to_polars())
    assert loaded["defiers", "thompson"].quantile(0.3) == result["defiers", "thompson"].quantile(0.3)


def test_seeds_are_text_in_json_and_numbers_of_earlier_files_are_read(tmp_path: Path) -> None:
    """JavaScript, among others, holds whole numbers up to 2**53 only."""
    seed = 2**64 - 1
    result = simulate("thompson", "defiers", 20, 3, seed=seed)
    assert result.to_json()[0]["seed"] == str(seed)
    result.save(tmp_path)
    document = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert document["config"]["seed"] == str(seed)
    assert SimulationResult.load(tmp_path) == result
    document["config"]["seed"] = seed
    (tmp_path / "result.json").write_text(json.dumps(document), encoding="utf-8")
    assert SimulationResult.load(tmp_path) == result


def test_one_run_round_trip(tmp_path: Path) -> None:
    one = simulate("thompson", "defiers", 20, 1)
    one.save(tmp_path)
    loaded = SimulationResult.load(tmp_path)
    assert equal(loaded, one)
    assert loaded[0].surplus.se is None


def test_saving_again_replaces_and_leaves_nothing_else(
    result: SimulationResult, earlier: SimulationResult, tmp_path: Path
) -> None:
    earlier.save(tmp_path)
    result.save(tmp_path)
    assert equal(SimulationResult.load(tmp_path), result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json", "result.parquet"]


def test_a_failed_write_leaves_the_earlier_result(
    result: SimulationResult, earlier: SimulationResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier.save(tmp_path)

    def full_disk(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="no space"):
        result.save(tmp_path)
    monkeypatch.undo()
    assert equal(SimulationResult.load(tmp_path), earlier)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json", "result.parquet"]


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_save_that_stops_halfway_is_all_or_nothing(
    fails_at: int,
    result: SimulationResult,
    earlier: SimulationResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Numbers of one result with the description of another would be read back without a word."""
    earlier.save(tmp_path)
    moved, replace = [], os.replace

    def interrupted(source: str, target: str) -> None:
        moved.append(target)
        if len(moved) >= fails_at:
            raise OSError("interrupted")
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with contextlib.suppress(OSError):
        result.save(tmp_path)
    monkeypatch.undo()
    assert len(moved) >= min(fails_at, 2)
    try:
        loaded = SimulationResult.load(tmp_path)
    except InputError:
        return  # better than a mixture of two
    assert equal(loaded, earlier) or equal(loaded, result)
    result.save(tmp_path)
    assert equal(SimulationResult.load(tmp_path), result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json", "result.parquet"]


def test_a_folder_without_a_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^folder: .*result\.json"):
        SimulationResult.load(tmp_path)


def test_a_format_of_the_future(result: SimulationResult, tmp_path: Path) -> None:
    result.save(tmp_path)
    text = (tmp_path / "result.json").read_text(encoding="utf-8")
    (tmp_path / "result.json").write_text(text.replace('"format": 1', '"format": 99'), encoding="utf-8")
    with pytest.raises(InputError, match=r"^format: got 99"):
        SimulationResult.load(tmp_path)


@pytest.mark.parametrize("name", ["result.json", "result.parquet"])
def test_a_damaged_file(name: str, result: SimulationResult, tmp_path: Path) -> None:
    result.save(tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=name):
        SimulationResult.load(tmp_path)


def test_the_long_table(result: SimulationResult) -> None:
    table = result.to_polars()
    assert table.columns == ["population", "policy", "measure", "t", "mean", "se", "low", "high"]
    assert table.height == 4 * 8 * 2  # outcomes × measures and differences × points of the grid
    last = table.filter(
        (polars.col("population") == "defiers") & (polars.col("policy") == "thompson"),
        (polars.col("measure") == "surplus") & (polars.col("t") == 60),
    )
    assert last["mean"].item() == result["defiers", "thompson"].surplus.mean


def test_the_interval_along_the_trial_ends_in_the_final_one(result: SimulationResult) -> None:
    for outcome in result.outcomes:
        along, final = outcome.trajectory(), outcome.surplus
        assert (along.low[-1], along.high[-1]) == pytest.approx((final.low, final.high), rel=1e-9)
