"""A fault run, from the repository's root: python -m benchmarks.soak [--minutes 10] [--seed N] [--only sqlite]."""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass

from benchmarks.soak import faults
from benchmarks.soak.checking import Checked, check
from benchmarks.soak.clients import Nuisance, Prober, Site, Statistician, Tally
from benchmarks.soak.house import House, house

_SITES = 6
_SHOWN = 40  # faults that are printed
_STORES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@dataclass
class Soak:
    """One store's run."""

    store: str
    seconds: float
    faults: Counter[str]
    tally: Tally
    checked: Checked

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost, doubled or wrong, and nothing was answered that must not be."""
        return not (self.tally.problems or self.checked.missing or self.checked.faults)


def main() -> int:
    """Soak, check, print the table."""
    parser = argparse.ArgumentParser(
        prog="make soak", description="Faults for some minutes; then is everything there?"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="in all")
    parser.add_argument("--seed", type=int, default=None, help="of clients and faults (drawn and printed)")
    parser.add_argument("--only", choices=sorted(_STORES), help="one store instead of both")
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("make soak: it mounts small disks in memory to fill them, for which it must be run as root")
        return 2
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    stores = [given.only] if given.only else list(_STORES)
    print(f"seed {seed}", flush=True)
    soaks = [run(store, 60.0 * given.minutes / len(stores), seed) for store in stores]
    print(table(soaks))
    for soak in soaks:
        found = Counter((*soak.tally.problems, *soak.checked.missing, *soak.checked.faults))
        for what, n in found.most_common(_SHOWN):
            print(f"{_STORES[soak.store]}: {what}" + (f" ({n}×)" if n > 1 else ""))
    return 0 if all(soak.is_sound for soak in soaks) else 1


def run(store: str, seconds: float, seed: int) -> Soak:
    """Clients and faults for so long; then the check."""
    rng, tally, stop, happened = random.Random(seed), Tally(), threading.Event(), Counter[str]()
    with house(store == "postgres") as built:
        for number in range(len(built.ports)):
            built.start(number)
        for number in range(len(built.ports)):
            built.wait_until_ready(number)
        sites = [Site(f"site{n}", built, tally, seed + n, stop) for n in range(_SITES)]
        others = [Statistician(built, tally, seed, stop), Prober(built, tally, stop), Nuisance(built, seed, stop)]
        begin = time.monotonic()
        for client in (*sites, *others):
            client.start()
        kinds = (*faults.COMMON, *(faults.ON_POSTGRES if store == "postgres" else ()))
        order: list[faults.Fault] = []
        while time.monotonic() < begin + seconds:
            time.sleep(rng.uniform(1.0, 4.0))
            if not order:  # each kind once before any comes again
                order = rng.sample(kinds, len(kinds))
            fault = order.pop()
            name = fault.__name__.replace("_", " ")
            print(f"{time.monotonic() - begin:6.0f} s  {_STORES[store]}: {name}", flush=True)
            try:
                fault(built, rng)
            except Exception as error:
                tally.problem(f"{name}: {type(error).__name__}: {error}")
                if isinstance(error, TimeoutError):
                    break
            happened[name] += 1
        stop.set()
        for client in (*sites, *others):
            client.join(150.0)
        seconds = time.monotonic() - begin
        for number in range(len(built.ports)):
            if code := built.end(number, signal.SIGTERM):
                tally.problem(f"the service ended with {code}")
        checked = check(built, dict(tally.acknowledged), seed)
        _keep_errors(built)
    return Soak(store, seconds, happened, tally, checked)


def table(soaks: list[Soak]) -> str:
    """The closing table, in Markdown."""
    lines = [f"| | {' | '.join(_STORES[soak.store] for soak in soaks)} |", f"|---|{'---|' * len(soaks)}"]

    def row(name: str, values: list[str]) -> None:
        lines.append(f"| {name} | {' | '.join(values)} |")

    row("minutes", [f"{soak.seconds / 60.0:.1f}" for soak in soaks])
    for name in sorted({name for soak in soaks for name in soak.faults}):
        row(name, [f"{soak.faults[name]}×" if soak.faults[name] else "–" for soak in soaks])
    row("requests answered", [f"{_answered(soak.tally):,}" for soak in soaks])
    row("of them 503, 429 or 408 and sent again", [f"{_again(soak.tally):,}" for soak in soaks])
    broken = ("refused", "broken")
    row("connections refused or broken", [f"{sum(soak.tally.statuses[s] for s in broken):,}" for soak in soaks])
    row("answers 500", [f"{soak.tally.statuses['500']:,}" for soak in soaks])
    row("writes acknowledged", [f"{len(soak.tally.acknowledged):,}" for soak in soaks])
    row("of them not in the log", [f"{len(soak.checked.missing):,}" for soak in soaks])
    row("records", [f"{soak.checked.records:,}" for soak in soaks])
    for kind in ("corrected", "imputed", "conflicted"):
        row(f"of them {kind}", [f"{soak.checked.events.get(kind, 0):,}" for soak in soaks])
    row("exports and results", [f"{soak.tally.exports:,}" for soak in soaks])
    row("probabilities worked out again", [f"{soak.checked.probabilities:,}" for soak in soaks])
    row("longest wait for an answer", [f"{soak.tally.longest:.1f} s" for soak in soaks])
    for path in ("/healthz", "/readyz"):
        row(f"`{path}`: 99 % within", [_p99(soak.tally.health[path]) for soak in soaks])
    row("faults found", ["none" if soak.is_sound else "see below" for soak in soaks])
    return "\n".join(lines)


def _answered(tally: Tally) -> int:
    return sum(n for status, n in tally.statuses.items() if status.isdigit())


def _again(tally: Tally) -> int:
    return sum(tally.statuses[status] for status in ("408", "429", "503"))


def _p99(times: list[float]) -> str:
    return f"{1e3 * statistics.quantiles(times, n=100)[98]:.0f} ms" if len(times) > 1 else "–"


def _keep_errors(built: House) -> None:
    """What the service wrote, for who wants to look."""
    target = built.folder.parent / f"adhere-soak-{'postgres' if built.postgres else 'sqlite'}.stderr"
    target.write_bytes(built.errors.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
