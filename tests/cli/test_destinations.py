"""Files are written whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from adhere.cli.destinations import check_file, write_files
from adhere.errors import InputError


def nothing() -> None:
    pass


def test_nothing_is_left_when_a_later_step_fails(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("old")

    def fail() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        write_files({old: b"new", tmp_path / "another.png": b"new"}, before=fail)
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text() == "old"


def test_nothing_is_left_when_another_file_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent"):
        write_files({tmp_path / "out.json": b"new", tmp_path / "absent" / "out.png": b"new"}, before=nothing)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_written_into_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    check_file("--json", pipe)
    write_files({pipe: b"new"}, before=nothing)
    reader.join(timeout=10)
    assert read == [b"new"]
    assert pipe.is_fifo()
