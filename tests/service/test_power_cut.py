"""A power cut in small: what was not synced is gone. What was acknowledged is not, unless durability is spoiled."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from adhere.store import RecordsLostError, open_store
from store.faulty_disk import FaultyDisk

from .crashing import free_port, new_trial, wait_until_ready
from .hammering import Hammer, hammer_until_killed
from .test_kill import check_all_there

RUN = "from service.crashing import run_service; import sys; run_service(sys.argv[1], int(sys.argv[2]), sys.argv[3])"


def cut_power(folder: Path, synchronous: str, luck: random.Random | None = None) -> None:
    """Run a service on the faulty disk, hammer it, cut the power; fail if something acknowledged is lost."""
    folder.mkdir()
    path = folder / "trials.db"
    hammers = [Hammer(f"c{n}", token) for token in [new_trial(path)] for n in range(8)]
    disk, port = FaultyDisk(folder), free_port()
    environment = {**disk.environment(), "PYTHONPATH": str(Path(__file__).parents[1])}
    service = subprocess.Popen([sys.executable, "-c", RUN, str(path), str(port), synchronous], env=environment)
    try:
        wait_until_ready(port)

        def kill() -> None:
            service.kill()
            service.wait()

        hammer_until_killed(hammers, port, 300, kill)
    finally:
        service.kill()
        service.wait()
    disk.after_power_cut(luck)
    acknowledged = {key: answer for hammer in hammers for key, answer in hammer.acknowledged.items()}
    assert len(acknowledged) >= 300
    store = open_store(path)
    try:
        with store.reading() as view:
            check_all_there(view, acknowledged)
    finally:
        store.close()


@pytest.mark.parametrize("seed", [None, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_what_was_acknowledged_survives_a_power_cut(tmp_path: Path, seed: int | None) -> None:
    cut_power(tmp_path / "disk", "FULL", None if seed is None else random.Random(seed))


def test_without_syncing_it_would_not(tmp_path: Path) -> None:
    """The test above can fail: kill -9 alone never loses what the kernel has, a power cut does."""
    with pytest.raises((AssertionError, RecordsLostError), match="acknowledged"):
        cut_power(tmp_path / "disk", "OFF")
