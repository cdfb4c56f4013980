"""Fifty people watch a growing trial: how much longer a recommendation takes, and how often the monitor is made."""

from __future__ import annotations

import re
import time
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.cpu.measuring import Spread
from benchmarks.monitor.listening import listeners, signed_in
from benchmarks.monitor.long_trial import TRIAL, make_long_trial
from benchmarks.monitor.site import Site
from benchmarks.pages import Bar, times
from benchmarks.service.subjects import serving_adhere

from adhere.access.tokens import Tokens
from adhere.store import open_store

PATIENTS, WATCHERS, PAIRS, SECONDS = 20_000, 50, 9, 8.0
_PAUSE = 0.01  # seconds between two recommendations
_METRIC = re.compile(r"^adhere_monitor_seconds_(count|sum) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Fifty:
    """The p99 in milliseconds alone and with all watching, for each pair; the monitors computed meanwhile."""

    pairs: list[tuple[float, float]]
    n_computations: int
    seconds_computing: float
    seconds_watched: float

    def bars(self) -> list[Bar]:
        """What was asked of it."""
        ratio = Spread.of([watched / alone for alone, watched in self.pairs])
        alone, watched = (sorted(one)[len(one) // 2] for one in zip(*self.pairs, strict=True))
        busy = self.seconds_computing / self.seconds_watched
        return [
            Bar(
                f"recommend p99 with {WATCHERS} watching {PATIENTS:,} patients: ≤ 1.5×",
                f"{times(ratio)}: {alone:.1f} ms alone, {watched:.1f} ms with them",
                ratio.median <= 1.5,
            ),
            Bar(
                f"computations with {WATCHERS} watching: one at a time",
                f"{self.n_computations} in {self.seconds_watched:.0f} s, which took {100 * busy:.0f}% of that time",
                busy <= 1.0,
            ),
        ]


def fifty_monitors(folder: Path) -> Fifty:
    """Measure alternating pairs."""
    file = folder / "fifty.db"
    tokens = make_long_trial(file, PATIENTS)
    with closing(open_store(file)) as store:
        made = Tokens(store)
        watchers = [made.make("statistician", f"watcher {number}")[1] for number in range(WATCHERS)]
        metrics = made.make("metrics", "bench")[1]
    pairs, n_computations, seconds_computing, seconds_watched = [], 0, 0.0, 0.0
    with serving_adhere(file) as server:
        cookies = [signed_in(server.port, token) for token in watchers]
        site = Site(server.port, tokens["site"])
        with listeners(server.port, cookies, TRIAL):
            _p99(site, 2.0)
        for pair in range(PAIRS):
            both = {}
            for watched in (False, True) if pair % 2 else (True, False):
                with listeners(server.port, cookies if watched else [], TRIAL):
                    before, begun = _computed(server.port, metrics), time.perf_counter()
                    both[watched] = _p99(site, SECONDS)
                    if watched:
                        after = _computed(server.port, metrics)
                        n_computations += int(after[0] - before[0])
                        seconds_computing += after[1] - before[1]
                        seconds_watched += time.perf_counter() - begun
            pairs.append((both[False], both[True]))
            print(f"pair {pair + 1}: p99 {both[False]:.2f} ms alone, {both[True]:.2f} ms with {WATCHERS} watching")
    return Fifty(pairs, n_computations, seconds_computing, seconds_watched)


def _p99(site: Site, seconds: float) -> float:
    taken, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        taken.append(site.recommend(TRIAL)[0])
        time.sleep(_PAUSE)
    return float(np.quantile(taken, 0.99))


def _computed(port: int, token: str) -> tuple[float, float]:
    """How many monitors were computed so far, and the seconds that took."""
    headers = {"Authorization": f"Bearer {token}"}
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    found = dict(_METRIC.findall(urllib.request.urlopen(asked, timeout=60).read().decode()))
    return float(found["count"]), float(found["sum"])
