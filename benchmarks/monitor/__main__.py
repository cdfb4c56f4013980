"""Measure the monitor of a long trial, from the repository's root: python -m benchmarks.monitor (some minutes)."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cpu.measuring import Spread
from benchmarks.monitor.blinding import aucs
from benchmarks.monitor.fifty import Fifty, fifty_monitors
from benchmarks.monitor.first_paint import Visits, visit
from benchmarks.monitor.listening import listeners, signed_in
from benchmarks.monitor.long_trial import TRIAL, make_long_trial
from benchmarks.monitor.site import Site
from benchmarks.pages import Bar, table_of_bars, times
from benchmarks.service.subjects import serving_adhere

from adhere.studies.framework.report_writer import machine

_RESULTS = Path(__file__).parents[1] / "results"
PATIENTS, VISITS, PAIRS, SECONDS, LISTENERS, REQUESTS = 100_000, 7, 9, 4.0, 10, 4000
_PAUSE = 0.02  # seconds between two recommendations: a busy site, not a flood


def main() -> int:
    """Measure, then write what was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.monitor", description=__doc__)
    parser.add_argument("--out", type=Path, default=_RESULTS, help="folder for the results (benchmarks/results)")
    parser.add_argument("--fifty", action="store_true", help="only the fifty who watch; nothing is written")
    given = parser.parse_args()
    out: Path = given.out
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="adhere-bench-monitor-") as folder:
        fifty = fifty_monitors(Path(folder))
        if given.fifty:
            print(table_of_bars(fifty.bars()))
            print(f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after")
            return 0
        file = Path(folder) / "trials.db"
        tokens = make_long_trial(file, PATIENTS)
        print(f"a trial of {PATIENTS:,} patients is made", flush=True)
        with serving_adhere(file) as server:
            visits = visit(f"http://127.0.0.1:{server.port}", tokens["statistician"], TRIAL, VISITS)
            print(f"visits: {visits}", flush=True)
            pairs = _pairs(server.port, tokens)
        found, of_trials = aucs(Path(folder), REQUESTS)
    bars = _bars(visits, pairs, fifty, found, of_trials)
    header = f"{datetime.date.today().isoformat()}. {machine()}."
    load = f"the machine's load was {before:.1f} before and {os.getloadavg()[0]:.1f} after"
    note = f"Written by `python -m benchmarks.monitor`; the trial has {PATIENTS:,} patients, {load}."
    text = "\n\n".join(["# Monitor", header, note, table_of_bars(bars)]) + "\n"
    out.mkdir(parents=True, exist_ok=True)
    (out / "monitor.md").write_text(text, encoding="utf-8")
    data: dict[str, Any] = {
        "machine": machine(),
        "visits": asdict(visits),
        "pairs": pairs,
        "fifty": asdict(fifty),
        "aucs": found,
        "aucs_of_trials": of_trials,
    }
    (out / "monitor.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(text)
    return 0


def _pairs(port: int, tokens: dict[str, str]) -> list[tuple[float, float]]:
    """The median milliseconds of a recommendation with nobody watching and with ten, in alternating order."""
    cookie, site, found = signed_in(port, tokens["statistician"]), Site(port, tokens["site"]), []
    _median(site)
    for pair in range(PAIRS):
        both = {}
        for n in (0, LISTENERS) if pair % 2 else (LISTENERS, 0):
            with listeners(port, [cookie] * n, TRIAL):
                both[n] = _median(site)
        found.append((both[0], both[LISTENERS]))
        print(
            f"pair {pair + 1}: {both[0]:.2f} ms alone, {both[LISTENERS]:.2f} ms with {LISTENERS} watching", flush=True
        )
    return found


def _median(site: Site) -> float:
    taken, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        taken.append(site.recommend(TRIAL)[0])
        time.sleep(_PAUSE)
    return median(taken)


def _bars(
    visits: Visits,
    pairs: list[tuple[float, float]],
    fifty: Fifty,
    found: dict[str, float],
    of_trials: dict[str, float],
) -> list[Bar]:
    charts, paints = ([getattr(one, name) for one in visits.later] for name in ("chart", "paint"))
    weight, sent = (max(getattr(one, name) for one in visits.later) / 1e6 for name in ("loaded", "sent"))
    ratio = Spread.of([watched / alone for alone, watched in pairs])
    worst = max(found.values(), key=lambda one: abs(one - 0.5))
    kinds, places = (", ".join(f"{kind} {one:.3f}" for kind, one in said.items()) for said in (found, of_trials))
    return [
        Bar(
            "first paint with all numbers and a chart: ≤ 1 s",
            f"{_seconds(charts)}, first paint {_seconds(paints)}; the first visit after a start {visits.first:.1f} s",
            median(charts) <= 1.0,
        ),
        Bar("page with all it loads: ≤ 1.5 MB", f"{weight:.2f} MB, sent as {sent:.2f} MB", weight <= 1.5),
        Bar(f"recommend p50 with {LISTENERS} watching: ≤ 1.2×", times(ratio), ratio.median <= 1.2),
        *fifty.bars(),
        Bar(
            f"AUC of the arm from latency, {REQUESTS:,} requests of a kind: 0.5 ± 0.03",
            f"{kinds} (of the trial, whichever its arm: {places})",
            abs(worst - 0.5) <= 0.03,
        ),
    ]


def _seconds(values: list[float]) -> str:
    return f"{median(values):.2f} s [{min(values):.2f}–{max(values):.2f}]"


if __name__ == "__main__":
    raise SystemExit(main())
