"""Tables that are computed once and kept on disk, whatever befalls the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import typeof

from adhere import InputError
from adhere.policies.tables import table_cache
from adhere.policies.tables.table_cache import KeptTable, announcing, postponing
from compilation.processes import finish, start

SQUARES = np.arange(1000, dtype=np.int64) ** 2


class Counting:
    """Makes the table, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Any:
        self.times += 1
        return SQUARES.copy()


def squares(compute: Callable[[], Any], version: int = 1, working_bytes: int = 8000) -> KeptTable:
    return KeptTable("squares", (1000, 0.5), version, "some squares", (1000,), np.int64, working_bytes, compute)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADHERE_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels" / "tables"


def test_it_is_computed_once_then_read(cache: Path) -> None:
    compute, said = Counting(), list[str]()
    with announcing(said.append):
        one = squares(compute).array()
        assert squares(compute).array() is one  # as long as somebody holds it
        del one
        again = squares(compute).array()
    assert (again == SQUARES).all()
    assert not again.flags.writeable
    assert type(again) is np.ndarray
    assert (compute.times, said) == (1, ["computing some squares (once; then kept on disk)…"])
    assert [path.name for path in cache.glob("*.npy")] == ["squares-1000-0.5-v1.npy"]
    squares(compute, version=2).array()
    assert compute.times == 2


@pytest.mark.parametrize("damage", ["cut", "empty", "bit", "shape"])
def test_a_damaged_file_is_computed_again(cache: Path, damage: str) -> None:
    compute = Counting()
    squares(compute).array()
    (file,) = cache.glob("*.npy")
    content = bytearray(file.read_bytes())
    content[5000] ^= 1 if damage == "bit" else 0
    file.write_bytes(content[: {"cut": 4000, "empty": 0}.get(damage)])
    if damage == "shape":
        table_cache._save(file, SQUARES[:10])
    assert (squares(compute).array() == SQUARES).all()
    assert compute.times == 2
    assert (squares(compute).array() == SQUARES).all()
    assert compute.times == 2


def test_a_folder_that_cannot_be_written_costs_a_computation(cache: Path) -> None:
    cache.parent.write_text("a file in its place")
    compute = Counting()
    for times in (1, 2):
        with pytest.warns(UserWarning, match=r"^some squares are computed anew each time: no cache folder"):
            assert (squares(compute).array() == SQUARES).all()
        assert compute.times == times


def test_a_full_disk_costs_no_second_computation(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table_cache, "_save", full)
    compute = Counting()
    with pytest.warns(UserWarning, match="No space left on device"):
        assert (squares(compute).array() == SQUARES).all()
    assert compute.times == 1


def test_too_little_memory_is_said_before_it_starts(cache: Path) -> None:
    compute = Counting()
    greedy = squares(compute, working_bytes=10**15)
    expected = r"^computing some squares takes 1,000\.0 TB of memory, and .* are available$"
    with pytest.raises(InputError, match=expected):
        greedy.array()
    with pytest.raises(InputError, match=expected), postponing():
        greedy.array()
    squares(compute).array()  # elsewhere, say
    assert (greedy.array() == SQUARES).all()
    assert compute.times == 1


def test_postponed_it_is_empty_but_of_the_same_type(cache: Path) -> None:
    compute = Counting()
    with postponing() as later:
        empty = squares(compute).array()
    assert (compute.times, later, empty.shape) == (0, ["some squares"], (0,))
    full = squares(compute).array()
    assert typeof(full) == typeof(empty)


def test_tables_longest_unused_make_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_cache, "_MAX_KEPT_BYTES", 20_000)
    for version in (1, 2, 3):
        squares(Counting(), version).array()
    assert sorted(path.name for path in cache.glob("*.npy")) == [f"squares-1000-0.5-v{one}.npy" for one in (2, 3)]


IN_A_PROCESS = """
import resource, sys, time
from pathlib import Path
import numpy as np
from adhere.policies.tables.table_cache import KeptTable
noted, n = Path({noted!r}), 5_000_000

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def compute():
    with noted.open("a") as file:
        file.write("computed ")
    time.sleep(0.5)
    numbers = np.arange(n)
    print("more than", peak(), end=" ")
    return numbers

table = KeptTable("many", (), 1, "many numbers", (n,), np.int64, 8 * n, compute).array()
print(peak(), table[-1])
"""


@pytest.mark.slow
def test_of_two_processes_one_computes(cache: Path, tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    script = IN_A_PROCESS.format(noted=str(noted))
    processes = [start(script, cache.parent) for _ in range(2)]
    said = [finish(process)[0].split() for process in processes]
    assert [words[-1] for words in said] == ["4999999", "4999999"]
    assert noted.read_text() == "computed "
    # Keeping it takes no more memory than computing it: not the 40 MB of the table once more.
    ((computing, keeping),) = [words[2:4] for words in said if "more" in words]
    assert int(keeping) - int(computing) < 20_000_000
