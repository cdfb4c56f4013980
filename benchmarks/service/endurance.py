"""One long trial: the service's memory while it comes about, then how long restart, replay and verify take."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
import uuid
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.cpu.measuring import Narrator, timed
from benchmarks.service.load import Generator
from benchmarks.service.measuring import ServerError, free_port, stop
from benchmarks.service.subjects import THOMPSON, Driven, adhere_command, prepare, serving_adhere

from adhere.store import open_store
from adhere.trial.domain.commands import Recommend
from adhere.trial.writing.processor import CommandProcessor

SAMPLE_EVERY = 25_000  # pairs
SETTLED = 100_000  # requests after which caches are full
_PATIENCE = 120.0


@dataclass(frozen=True)
class Endurance:
    """Megabytes of memory by requests answered, and seconds with the trial these requests made."""

    megabytes: dict[int, float]
    seconds: float  # that the requests took
    records: int
    restarts: list[float]  # the whole command until its first recommendation
    in_process: list[float]  # the store and the first recommendation alone
    replay: float
    verify: float

    @property
    def slope(self) -> float | None:
        """Bytes a request by which memory grows once caches are full, by least squares; None if there are few."""
        later = [sample for sample in self.megabytes.items() if sample[0] >= SETTLED]
        if len(later) < 3:
            return None
        requests, megabytes = zip(*later, strict=True)
        return float(1e6 * np.polyfit(requests, megabytes, 1)[0])


def measure(folder: Path, generator: Generator, n_pairs: int, n_restarts: int, narrator: Narrator) -> Endurance:
    """The trial is made through HTTP with every commit on the disk, as any trial is."""
    file = folder / "long.db"
    token = prepare(file, {"trial": THOMPSON})
    megabytes, begin = {}, time.perf_counter()
    with serving_adhere(file) as server, narrator.steps(n_pairs // SAMPLE_EVERY) as step:
        megabytes[0] = server.rss / 1e6
        driven = Driven(generator, server, token)
        for done in range(0, n_pairs, SAMPLE_EVERY):
            step(f"{2 * done:,} requests answered")
            driven.load(["trial"], pairs=SAMPLE_EVERY)
            megabytes[2 * (done + SAMPLE_EVERY)] = server.rss / 1e6
    took = time.perf_counter() - begin
    narrator.note(f"{2 * n_pairs:,} requests in {took:.0f} s; now restart, replay, verify")
    restarts = [_restart(file, token) for _ in range(n_restarts)]
    in_process = [_first_recommendation(file) for _ in range(n_restarts)]
    with closing(open_store(file, read_only=True)) as store, store.reading() as view:
        records = view.head(view.trials()["trial"]).position
    replay, verify = (_command("trial", what, str(file)) for what in ("replay", "verify"))
    return Endurance(megabytes, took, records, restarts, in_process, replay, verify)


def _forget_cached(file: Path) -> None:
    """Have the system read the file from the disk again."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _restart(file: Path, token: str) -> float:
    _forget_cached(file)
    port = free_port()
    begin = time.perf_counter()
    process = subprocess.Popen(adhere_command(file, port), stdout=subprocess.DEVNULL)
    try:
        while not _recommended(port, token):
            if process.poll() is not None or time.perf_counter() - begin > _PATIENCE:
                raise ServerError("the service did not recommend anything after a restart")
            time.sleep(0.01)
        return time.perf_counter() - begin
    finally:
        stop(process)


def _recommended(port: int, token: str) -> bool:
    name = uuid.uuid4().hex
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": name, "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)) as connection:
        try:
            connection.request("POST", "/trials/trial/recommendations", json.dumps({"subject": name}), headers)
            return connection.getresponse().status in (200, 201)
        except ConnectionRefusedError:
            return False


def _first_recommendation(file: Path) -> float:
    _forget_cached(file)
    name = uuid.uuid4().hex

    def work() -> None:
        with closing(open_store(file)) as store:
            CommandProcessor(store).execute([Recommend(trial="trial", request_id=name, subject=name, site="bench")])

    return timed(work)


def _command(*arguments: str) -> float:
    command = [sys.executable, "-m", "adhere", *arguments]
    return timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
