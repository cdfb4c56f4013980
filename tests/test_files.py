"""Files are written whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from adhere.files import replacing, write_file


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    def write_half() -> None:
        with replacing(tmp_path / "table.csv") as temporary:
            temporary.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_a_file_keeps_its_permissions_and_a_link_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_usual_permissions_and_its_folders_are_made(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_file(tmp_path / "a" / "b" / "new", b"new")
    assert (tmp_path / "a" / "b" / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_pipe_is_written_into_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, b"new")
    reader.join(timeout=10)
    assert read == [b"new"]
    assert pipe.is_fifo()
