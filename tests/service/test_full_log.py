"""A log file that cannot be written: one line on standard error a minute, and the log goes on once there is room."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from adhere.service import logs
from adhere.service.logs import JsonLines, LogFile, Seldom

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full, a device without room")


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.Logger("adhere.test")
    yield logger
    for handler in logger.handlers:
        with suppress(OSError):
            handler.close()


def test_a_full_disk_is_told_once_and_the_log_goes_on(
    tmp_path: Path, logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "adhere.log"
    path.symlink_to("/dev/full")
    handler = LogFile(str(path))
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    for number in range(600):
        logger.info("line %d of the log", number)
    said = capsys.readouterr().err
    assert said == f"log_file {path} cannot be written: No space left on device; lines are lost until it can be\n"
    (new := tmp_path / "new").touch()
    new.replace(path)
    for _ in range(2):  # the first may find out that the old file cannot be closed properly
        logger.info("there is room")
    assert path.read_text().splitlines()[-1].endswith('"message":"there is room"}')
    assert capsys.readouterr().err == ""


def test_a_folder_that_is_gone_stops_nobody(
    tmp_path: Path, logger: logging.Logger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "logs").mkdir()
    logger.addHandler(LogFile(str(folder / "adhere.log")))
    folder.rename(tmp_path / "elsewhere")
    logger.info("lost")
    logger.info("lost too")
    assert capsys.readouterr().err.count("No such file or directory") == 1
    folder.mkdir()
    logger.info("kept")
    assert (folder / "adhere.log").read_text() == "kept\n"
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(logs, "_SECONDS_BETWEEN_COMPLAINTS", 0.0)
    logger.addHandler(LogFile("/dev/full"))
    logger.info("there is nobody to tell")


def test_seldom() -> None:
    now = 100.0
    seldom = Seldom(5.0, lambda: now)
    assert (seldom.may(), seldom.may()) == (True, False)
    now = 106.0
    assert (seldom.may(), seldom.may()) == (True, False)
