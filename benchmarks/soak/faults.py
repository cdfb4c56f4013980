"""The faults of a soak. Each returns when what it did is undone and the service says that it is ready."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from benchmarks.soak.house import DESCRIPTORS, House

Fault = Callable[[House, random.Random], None]
_DAY = 86400.0


def kill_service(house: House, rng: random.Random) -> None:
    """SIGKILL, then a new process."""
    _restart(house, rng, signal.SIGKILL)


def end_service(house: House, rng: random.Random) -> None:
    """SIGTERM or SIGHUP: open requests are answered, the exit code is 0."""
    code = _restart(house, rng, rng.choice((signal.SIGTERM, signal.SIGHUP)))
    if code:
        raise AssertionError(f"the service ended with {code}")


def use_up_descriptors(house: House, rng: random.Random) -> None:
    """More silent connections than the service can open, for some seconds; half the time right after a kill."""
    if rng.random() < 0.5:
        _restart(house, rng, signal.SIGKILL, wait=False)
        time.sleep(0.5)
    with ExitStack() as stack:
        for _ in range(DESCRIPTORS + 64):
            with suppress(OSError):
                stack.enter_context(socket.create_connection(("127.0.0.1", house.ports[0]), timeout=0.5))
        time.sleep(rng.uniform(1.0, 4.0))
    house.wait_until_ready(0)


def fill_database_disk(house: House, rng: random.Random) -> None:
    """No room for the database (for PostgreSQL: data and write-ahead log)."""
    with house.full("database"):
        time.sleep(rng.uniform(1.0, 4.0))
    if house.postgres is not None and not house.postgres.is_running:
        house.postgres.start()
    _wait_for_all(house)


def fill_cache_disk(house: House, rng: random.Random) -> None:
    """A cold start with nowhere to keep compiled code."""
    cache = house.folder / "cache"
    for path in cache.iterdir():
        shutil.rmtree(path, ignore_errors=True)
    with house.full("cache"):
        _restart(house, rng, signal.SIGKILL)
        time.sleep(1.0)


def fill_temporary_disk(house: House, rng: random.Random) -> None:
    """No room for exports."""
    with house.full("temp"):
        time.sleep(rng.uniform(1.0, 4.0))


def move_clock(house: House, rng: random.Random) -> None:
    """The service's clock jumps by up to two days, forth or back, a few times, and returns."""
    for _ in range(3):
        _set_clock(house.clock, rng.uniform(-2 * _DAY, 2 * _DAY))
        time.sleep(1.0)
    _set_clock(house.clock, 0.0)


def freeze_postgres(house: House, rng: random.Random) -> None:
    """All of PostgreSQL's processes stand still; within two seconds and a bit readiness says so."""
    assert house.postgres is not None
    processes = _with_children(house.postgres.pid)
    begin = time.monotonic()
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    try:
        while house.status(0, "/readyz") == 200 and time.monotonic() < begin + 3.0:
            time.sleep(0.05)
        if house.status(0, "/readyz") == 200:
            raise AssertionError("ready 3 s after PostgreSQL froze")
        time.sleep(rng.choice((1.0, 13.0)))
    finally:
        for pid in processes:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    _wait_for_all(house)


def kill_postgres(house: House, rng: random.Random) -> None:
    """PostgreSQL ends at once and comes back after its recovery."""
    assert house.postgres is not None
    house.postgres.crash()
    time.sleep(rng.uniform(0.0, 2.0))
    house.postgres.start()
    _wait_for_all(house)


COMMON: tuple[Fault, ...] = (
    kill_service,
    end_service,
    use_up_descriptors,
    fill_database_disk,
    fill_cache_disk,
    fill_temporary_disk,
    move_clock,
)
ON_POSTGRES: tuple[Fault, ...] = (freeze_postgres, kill_postgres)


def _restart(house: House, rng: random.Random, how: signal.Signals, *, wait: bool = True) -> int:
    number = rng.randrange(len(house.ports))
    code = house.end(number, how)
    time.sleep(rng.uniform(0.0, 0.5))
    house.start(number)
    if wait:
        house.wait_until_ready(number)
    return code


def _with_children(parent: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    return [parent, *map(int, children)]


def _wait_for_all(house: House) -> None:
    for number in range(len(house.ports)):
        house.wait_until_ready(number)


def _set_clock(path: Path, seconds: float) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(str(seconds), encoding="utf-8")
    beside.replace(path)
